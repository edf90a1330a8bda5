"""Starting a server program and waiting for it, whoever started it."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

LOG_BYTES = 10_000_000  # of one log of a service; one older part is kept

_children: dict[int, "subprocess.Popen[bytes]"] = {}  # kept until they end, so that they are reaped


class ServiceFailed(RuntimeError):
    """An embedded service did not start or stop; the text says which, why and where its log is."""


def find_free_port(wanted: int | None = None) -> int:
    """Return a free TCP port of 127.0.0.1: `wanted` if possible, else any."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except OSError:
            return find_free_port()
        return int(probe.getsockname()[1])


def start_server(command: Sequence[str], *, log: Path) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, so that Ctrl-C in a terminal reaches us and not the database first."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    _children[child.pid] = child
    return child


def rotate_log(log: Path) -> None:
    """Move a log that is longer than LOG_BYTES to `….1`. Its server writes on in the emptied file, which it opened to append."""
    with suppress(OSError):  # no log yet, or a full disk
        if log.stat().st_size > LOG_BYTES:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)


def is_server_alive(pid: int | None, folder: Path) -> bool:
    """Tell whether the process is this folder's server, not a later one with its number; a zombie is dead.

    A server works in the folder of its data. One that has not changed there yet is recognised as our child.
    """
    if pid is None:
        return False
    if pid in _children:
        return _children[pid].poll() is None
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == folder.resolve()
    except psutil.AccessDenied:
        return True  # another user's, not readable: better no restart than two servers on one folder
    except psutil.NoSuchProcess:
        return False


def end_process(pid: int, number: signal.Signals, *, timeout_s: float) -> bool:
    """End a server by a signal, even a stopped one; False when it still runs after `timeout_s` seconds."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)
    return wait_for_exit(pid, timeout_s=timeout_s)


def wait_until(ready: Callable[[], bool], *, timeout_s: float, interval_s: float = 0.05) -> bool:
    """Ask `ready` until it says yes; False when `timeout_s` seconds went by."""
    deadline = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > deadline:
            return False
        time.sleep(interval_s)
    return True


def wait_for_exit(pid: int, *, timeout_s: float) -> bool:
    """Wait for a process to end, ours or not; False when it still runs after `timeout_s` seconds."""
    try:
        if pid in _children:
            _children.pop(pid).wait(timeout_s)
        else:
            psutil.Process(pid).wait(timeout_s)
    except psutil.NoSuchProcess:
        return True
    except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
        return bool(psutil.pid_exists(pid) and psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return True


def read_log_tail(log: Path, lines: int = 5) -> str:
    """Return the last lines of a log, for error texts."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""
