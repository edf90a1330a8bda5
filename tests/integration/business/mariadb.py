"""A MariaDB of Debian's packages in a folder of its own, and the account of a data source there as the how-to makes it."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from copilot_site.embedded.process import wait_until
from tests.ports import own_port
from tests.programs import which

SERVER = which("mariadbd") or ""
INSTALLER = which("mariadb-install-db") or ""
PASSWORD = "a long one of your own"


@dataclass(frozen=True)
class MariaDb:
    port: int
    socket: Path

    def run(self, statements: str) -> list[Any]:
        """As the administrator; what the last one gives."""
        rows: list[Any] = []
        with (
            pymysql.connect(
                unix_socket=str(self.socket), user="root", autocommit=True, charset="utf8mb4"
            ) as connection,
            connection.cursor() as cursor,
        ):
            for statement in filter(str.strip, statements.split(";\n")):
                cursor.execute(statement)
                rows = list(cursor.fetchall())
        return rows


@contextmanager
def running(folder: Path) -> Iterator[MariaDb]:
    """A server while the context lasts."""
    who = ["--user=root"] if os.getuid() == 0 else []
    data, path, port = folder / "data", folder / "socket", own_port()
    plain = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run([INSTALLER, f"--datadir={data}", *plain, *who], check=True, capture_output=True)
    given = [f"--datadir={data}", f"--socket={path}", f"--port={port}", "--bind-address=127.0.0.1", "--skip-log-bin"]
    with (folder / "log").open("w") as log:
        child = subprocess.Popen([SERVER, "--no-defaults", *given, *who], stderr=log, stdout=log)
    try:
        assert wait_until(lambda: _answers(path), timeout_s=60), (folder / "log").read_text()
        yield MariaDb(port, path)
    finally:
        child.terminate()
        child.wait(30)


def _answers(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as there:
            there.connect(str(path))
    except OSError:
        return False
    return True
