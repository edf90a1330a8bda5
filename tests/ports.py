"""Ports for programs that must be given a number, and addresses where nobody listens."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import TextIO

# Below those that the kernel gives out by itself (32768 on Linux), so that no connection of somebody else takes one.
FIRST, LAST = 20_000, 32_000
_locks: list[TextIO] = []  # held as long as this process lives
_closed: list[socket.socket] = []


def own_port() -> int:
    """A port of 127.0.0.1 that no other test of this machine is given as long as this process lives, and where nobody listens."""
    folder = Path(tempfile.gettempdir()) / f"copilot-test-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for port in random.SystemRandom().sample(range(FIRST, LAST), LAST - FIRST):
        lock = (folder / str(port)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _probe(port)
        except OSError:
            lock.close()
            continue
        _locks.append(lock)
        return port
    raise RuntimeError(f"every port from {FIRST} to {LAST} is taken")


def closed_port() -> int:
    """A port that refuses connections, and that nobody can take: bound here, and never listened on."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    _closed.append(bound)
    return int(bound.getsockname()[1])


def _probe(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
