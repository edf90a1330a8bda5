"""A parser that does what its file says; only tests load it, and the parse server of those tests."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from knowledge.parsers.base import MIB, ParseLimits, parsers
from knowledge.parsers.blocks import ParsedDocument, build_block


def spin() -> str:
    while True:
        pass


def wait() -> str:
    threading.Event().wait()
    return "never"


def allocate() -> str:
    return str(len(b"x" * (600 * MIB)))


def crash() -> str:
    os.abort()


def crash_once() -> str:
    """Die once by SIGKILL, as on a machine short of memory."""
    mark = Path(os.environ.get("TMPDIR", "/tmp")) / f"crashed-{os.getppid()}"
    if mark.exists():
        mark.unlink()
        return "read"
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def leave() -> str:
    sys.exit("left")


def connect() -> str:
    return refusal(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1))


def look_up() -> str:
    return refusal(lambda: socket.getaddrinfo("example.com", 80))


def start_program() -> str:
    return refusal(lambda: subprocess.run(["true"], check=True))


def write() -> str:
    folder = Path(os.environ.get("TMPDIR", "/tmp"))
    file = folder / f"hostile-{os.getpid()}"
    try:
        return refusal(lambda: file.write_bytes(b"x" * (20 * MIB)))
    finally:
        file.unlink(missing_ok=True)


def say() -> str:
    print("noise on stdout", flush=True)
    os.write(1, b"more noise")
    return "said"


def environment() -> str:
    return " ".join(sorted(os.environ))


def talk() -> str:
    return "word " * (2 * MIB)


def refusal(action: "object") -> str:
    try:
        action()  # type: ignore[operator]
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "allowed"


ACTIONS = {
    f.__name__: f
    for f in (
        spin,
        wait,
        allocate,
        crash,
        crash_once,
        leave,
        connect,
        look_up,
        start_program,
        write,
        say,
        environment,
        talk,
    )
}


class HostileParser:
    name = "hostile"
    mime_types = ("application/x-hostile",)
    extensions = (".hostile",)
    preload: tuple[str, ...] = ()

    def recognises(self, path: Path) -> bool:
        return True

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        return ParsedDocument(blocks=tuple(build_block("paragraph", ACTIONS[path.read_text()]())))


PARSER = HostileParser()
parsers.add(PARSER.name, PARSER)
