"""Holding the process behind a connection to an amount of memory: PostgreSQL has no such limit, Linux has.

Only for a server on this machine that runs as the same account, such as the embedded one. For every other the statement's
form and the planner's estimates are what holds, and whatever its operator gives the whole server.
"""

import os
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

OWN_BYTES = 384 * 1024 * 1024  # with the embedded server's 128 MB of shared buffers the 512 MB that one query may hold


def bound_memory(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Limit what the process may allocate from now on; beyond it PostgreSQL ends the statement with `out_of_memory`.

    Returns whether it is limited: not for a process of another machine, container or account.
    """
    process_id = connection.info.backend_pid
    if sys.platform != "linux" or not is_behind(connection, process_id):
        return False
    with suppress(PermissionError, ProcessLookupError):
        resource.prlimit(process_id, resource.RLIMIT_DATA, (OWN_BYTES, OWN_BYTES))
        return True
    return False


def is_behind(connection: psycopg.AsyncConnection[Any], process_id: int) -> bool:
    """Return whether the process of this number here is the connection's: its title names account, database and our own port."""
    title = Path(f"/proc/{process_id}/cmdline")
    with socket.socket(fileno=os.dup(connection.fileno())) as ours:
        if ours.family == socket.AF_UNIX:
            return False
        host, port = ours.getsockname()[:2]
    try:
        told = title.read_bytes().rstrip(b"\0").decode(errors="replace")
    except OSError:  # no such process here, or it has ended meanwhile
        return False
    info = connection.info
    return told.startswith("postgres: ") and f" {info.user} {info.dbname} {host}({port})" in told
