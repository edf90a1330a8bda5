"""Limit the memory of the process behind a connection: PostgreSQL has no such limit, Linux has.

This works only for a server on this machine under the same account, such as the embedded one. For others the
statement's form, the planner's estimates and the server's own limits apply.
"""

import os
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

OWN_BYTES = 384 * 1024 * 1024  # plus 128 MB of shared buffers makes the 512 MB of a query


def bound_memory(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Limit the process's further allocations; beyond it PostgreSQL ends the statement with `out_of_memory`.

    Returns whether it is limited: not on another machine, container or account.
    """
    process_id = connection.info.backend_pid
    if sys.platform != "linux" or not is_behind(connection, process_id):
        return False
    with suppress(PermissionError, ProcessLookupError):
        resource.prlimit(process_id, resource.RLIMIT_DATA, (OWN_BYTES, OWN_BYTES))
        return True
    return False


def is_behind(connection: psycopg.AsyncConnection[Any], process_id: int) -> bool:
    """Return whether the local process with this id is the connection's: its title names account, database and port."""
    title = Path(f"/proc/{process_id}/cmdline")
    with socket.socket(fileno=os.dup(connection.fileno())) as ours:
        if ours.family == socket.AF_UNIX:
            return False
        host, port = ours.getsockname()[:2]
    try:
        process_name = title.read_bytes().rstrip(b"\0").decode(errors="replace")
    except OSError:  # no such process, or no longer
        return False
    info = connection.info
    return process_name.startswith("postgres: ") and f" {info.user} {info.dbname} {host}({port})" in process_name
