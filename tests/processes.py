"""Processes of their own on the database of a test, to be killed in the middle of their work."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def running(
    module: str, *words: str, env: Mapping[str, str] | None = None, handed_on: Sequence[socket.socket] = ()
) -> Iterator["subprocess.Popen[str]"]:
    """`python -m module words`; its stdin and stdout are pipes, and it is dead afterwards. handed_on: sockets that are its own then."""
    found = connection.settings_dict
    url = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    with subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env={**os.environ, "DATABASE_URL": url, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        pass_fds=[item.fileno() for item in handed_on],
    ) as process:
        for item in handed_on:
            item.close()
        try:
            yield process
        finally:
            process.kill()
