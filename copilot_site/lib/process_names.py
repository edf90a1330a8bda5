"""Names of processes that hold work, by which others on the machine see at once that one has ended."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def find_process_name(pid: int) -> str:
    """Return a process's name, kept for the first asker: machine, number, and when it started, since numbers are used again."""
    return _build_name(pid)


def has_process_ended(name: str) -> bool:
    """Tell whether the name is of a process of this machine that has ended; of another machine nobody here knows."""
    machine, _space, rest = name.partition(" ")
    pid = rest.partition(" ")[0]
    if machine != _build_machine_name() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # it lives, as another user
    return _build_name(int(pid)) != name


def _build_name(pid: int) -> str:
    return f"{_build_machine_name()} {pid} {_read_start_time(pid)}"


def _read_start_time(pid: int) -> str:
    with suppress(OSError, IndexError):  # without /proc the number has to do
        state, *others = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "ended" if state in "ZX" else others[18]
    return "?"


@cache
def _build_machine_name() -> str:
    """Return a name that no machine of the same host name has, nor a container with process numbers of its own."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname()
