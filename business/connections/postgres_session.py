"""Run one statement: read only, limited in time and size, and cancellable.

The statement becomes a cursor (`DECLARE … CURSOR FOR`), where PostgreSQL accepts only a single query: no second
statement or command, whatever the text is. Each statement has its own connection; nothing is left for the next.
"""

import asyncio
import os
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import structlog
from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from psycopg import sql
from psycopg.types.string import TextLoader

from business.connections.address import Address, has_setting
from business.connections.identity import SourceRefused, require_foreign_server, require_foreign_server_async
from business.guard.guard import GuardedSql
from business.guard.refusal import (
    RefusalKind,
    SqlRefused,
    build_database_refusal,
    build_long_row_refusal,
    build_timeout_refusal,
)
from business.limits import StatementLimits
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.outgoing.addresses import AddressRefused

log = structlog.get_logger(__name__)

MAX_BYTES = 1_000_000  # of one answer, as text
PAGE = 11  # rows per batch: one more than the usual ten, to see the end
_NEXT_PAGE = f"FETCH FORWARD {PAGE} FROM answer".encode()
GENERIC_PLANS_SINCE = 160_000  # server_version
WRONG_NAME = "42"  # class of SQLSTATE: syntax, unknown names, types that do not fit
INSUFFICIENT_RESOURCES = "53"  # class of SQLSTATE: temporary files, memory or disk exhausted
LIMITS = {
    "lock_timeout": "200",
    "idle_in_transaction_session_timeout": "10000",
    "work_mem": "16MB",
    "max_parallel_workers_per_gather": "0",
    "cursor_tuple_fraction": "1",  # expect all rows of a cursor to be read
    "standard_conforming_strings": "on",
    "TimeZone": "UTC",
}
DEFAULTS = StatementLimits()


class SourceUnavailable(CopilotError):
    """The database did not answer; the text says which settings to check."""


@dataclass(frozen=True)
class FetchedRows:
    """An answer: names of columns, rows as Python values, and whether rows or bytes were left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_truncated: bool
    elapsed_ms: int


@asynccontextmanager
async def open_read_only(
    address: Address, *, time_zone: str = "UTC", limits: StatementLimits = DEFAULTS
) -> AsyncIterator[psycopg.AsyncConnection]:
    """Open a connection inside a read-only transaction under the limits, rolled back at the end.

    Raises SourceUnavailable when the database does not answer, SourceRefused for the product's own server, SqlRefused
    for errors of the database.
    """
    try:
        keywords = await sync_to_async(address.keywords, thread_sensitive=False)()  # resolves the host's name
        connection = await psycopg.AsyncConnection.connect(**keywords, autocommit=True)
    except (psycopg.OperationalError, AddressRefused) as error:
        raise build_unavailable_error(address, error) from error
    began = time.monotonic()
    try:
        if not address.is_own:
            await require_foreign_server_async(connection)
        connection.adapters.register_loader("record", TextLoader)  # a whole row as PostgreSQL writes it
        if has_setting(connection, "transaction_timeout"):
            await connection.execute(sql.SQL("SET transaction_timeout = {}").format(limits.ms))
        await connection.execute(_build_begin_statement(time_zone, limits))
        limit_process_memory(connection)
        yield connection
    except psycopg.Error as error:
        is_ended = error.sqlstate is None and (time.monotonic() - began) * 1000 >= limits.ms  # between two statements
        raise build_timeout_refusal(limits.seconds) if is_ended else _convert_database_error(error, limits) from error
    except (UnicodeError, OverflowError) as error:  # a lone surrogate in the statement, a year past 9999 in the result
        raise SqlRefused(
            RefusalKind.DATABASE, _("The text or a value in the answer cannot be written here.")
        ) from error
    except asyncio.CancelledError:  # cancel it on the server, too
        if not connection.closed:  # still open: it did not end in time
            await connection.cancel_safe(timeout=2.0)
        raise
    finally:
        await connection.close()


def connect_to_source(address: Address) -> psycopg.Connection:
    """Return a connection for building and describing, as the source's own account. Raises SourceUnavailable, SourceRefused.

    Sets standard_conforming_strings: views contain names of org units as literals.
    """
    try:
        connection = psycopg.connect(**address.keywords())
    except (psycopg.OperationalError, AddressRefused) as error:
        raise build_unavailable_error(address, error) from error
    if not address.is_own:
        try:
            require_foreign_server(connection)
        except SourceRefused:
            connection.close()
            raise
        connection.rollback()
    connection.execute("SET standard_conforming_strings = on")
    connection.commit()
    return connection


async def require_affordable_aggregates(
    connection: psycopg.AsyncConnection, checked: GuardedSql, limits: StatementLimits
) -> None:
    """Raise SqlRefused when the plan aggregates too many bytes into one value: no time limit interrupts that."""
    if checked.gathering is None:
        return
    plan = await _fetch_generic_plan(connection, checked)
    if _estimate_aggregated_bytes(plan, checked.gathering.row_bytes) * checked.gathering.times > limits.gathered_bytes:
        raise SqlRefused(
            RefusalKind.COST, _("This would read too much: add a time window or a filter, or ask for fewer tables.")
        )


async def _fetch_generic_plan(connection: psycopg.AsyncConnection, checked: GuardedSql) -> dict[str, Any]:
    """Return the generic plan, so that a refusal reveals no value frequencies. Older servers plan with the values."""
    if connection.info.server_version >= GENERIC_PLANS_SINCE:
        for text in checked.unseen:
            with suppress(psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError):
                async with connection.transaction():
                    return await explain_statement(connection, text, generic=True)
    plan = await explain_statement(connection, checked.sql)  # reports the statement's error
    if connection.info.server_version >= GENERIC_PLANS_SINCE:
        raise SqlRefused(RefusalKind.COST, _("Nobody can tell what this would read: give its values their types."))
    return plan


async def explain_statement(
    connection: psycopg.AsyncConnection, statement: str, *, generic: bool = False
) -> dict[str, Any]:
    """Return the plan of a guarded statement, as PostgreSQL writes it in JSON. generic: for unknown values."""
    how = "EXPLAIN (GENERIC_PLAN, FORMAT JSON) " if generic else "EXPLAIN (FORMAT JSON) "
    row = await (await connection.execute(sql.SQL(how) + sql.SQL(statement), prepare=not generic)).fetchone()
    plan: dict[str, Any] = row[0][0]["Plan"] if row else {}
    return plan


def _estimate_aggregated_bytes(plan: dict[str, Any], row_bytes: int) -> float:
    """Return the bytes that enter a plan's aggregates and subqueries, by the planner's rows and widths."""

    def size(part: dict[str, Any]) -> float:
        return float(part["Plan Rows"] * (part["Plan Width"] + row_bytes))

    below: list[dict[str, Any]] = plan.get("Plans", [])
    own = sum(map(size, below)) if "Agg" in plan.get("Node Type", "") else 0.0
    queries = sum(size(part) for part in below if part.get("Parent Relationship") in ("InitPlan", "SubPlan"))
    return own + queries + sum(_estimate_aggregated_bytes(part, row_bytes) for part in below)


async def fetch_rows(connection: psycopg.AsyncConnection, statement: str, limits: StatementLimits) -> FetchedRows:
    """Return the first rows of a query, within the limits and MAX_BYTES of text, whatever the statement says.

    Raises SqlRefused where the first row alone is longer, instead of an empty answer.
    """
    return (await _fetch_through_cursor(connection, statement, limits))[0]


async def fetch_and_count_rows(
    connection: psycopg.AsyncConnection, statement: str, limits: StatementLimits
) -> tuple[FetchedRows, int | None]:
    """Return what `fetch_rows` does, and the number of rows if some were left out; None where there is no time to count."""
    rows, read = await _fetch_through_cursor(connection, statement, limits)
    if not rows.is_truncated or len(rows.rows) < limits.rows:
        return rows, None
    try:
        passed = await connection.execute("MOVE FORWARD ALL IN answer")
    except (
        psycopg.errors.QueryCanceled,
        psycopg.errors.TransactionTimeout,
    ):  # the rows are read
        return rows, None
    return replace(rows, is_truncated=False), read + passed.rowcount


async def _fetch_through_cursor(
    connection: psycopg.AsyncConnection, statement: str, limits: StatementLimits
) -> tuple[FetchedRows, int]:
    """Return the rows within the limits, and the number that the cursor returned."""
    began = time.perf_counter()
    declare = sql.SQL("DECLARE answer NO SCROLL CURSOR FOR ") + sql.SQL(statement)
    await connection.execute(declare, prepare=True)
    rows: list[tuple[Any, ...]] = []
    size_bytes, read, is_truncated, is_end = 0, 0, False, False
    while not is_end and not is_truncated:
        cursor = await connection.execute(_NEXT_PAGE)
        columns = tuple(column.name for column in cursor.description or ())
        page = await cursor.fetchall()
        read, is_end = read + len(page), len(page) < PAGE
        for row in page:
            size_bytes += sum(len(str(value)) for value in row)
            if len(rows) == limits.rows or size_bytes > MAX_BYTES:
                if not rows:
                    raise build_long_row_refusal()
                is_truncated = True
                break
            rows.append(row)
    return FetchedRows(columns, tuple(rows), is_truncated, int((time.perf_counter() - began) * 1000)), read


async def count_rows(connection: psycopg.AsyncConnection, statement: str) -> int:
    """Return the number of rows of a guarded statement without its outer limit, counted by the database."""
    query = sql.SQL("SELECT count(*) FROM (") + sql.SQL(statement) + sql.SQL(") AS answer")
    row = await (await connection.execute(query, prepare=True)).fetchone()
    return int(row[0]) if row else 0


def build_unavailable_error(address: Address, error: psycopg.OperationalError | AddressRefused) -> SourceUnavailable:
    """Return the reason in one sentence, without the password and without the driver's multi-line text."""
    text = str(error)
    if isinstance(error, AddressRefused):
        return SourceUnavailable(text)
    return build_unavailable_error_from(
        address, str(next((message for part, message in _REASONS if part in text), UNREACHABLE))
    )


def build_unavailable_error_from(address: Address, message: str) -> SourceUnavailable:
    """Return the error. message: the reason, with placeholders for parts of the address."""
    named = {"host": address.host, "port": address.port, "database": address.database, "user": address.user}
    log.warning("data_source.unreachable", why=message % named)
    return SourceUnavailable(message % named)


WRONG_PASSWORD = gettext_lazy("The database refuses the account %(user)s: check its password.")
NO_DATABASE = gettext_lazy("The server has no database %(database)s or no account %(user)s.")
UNREACHABLE = gettext_lazy("The database server %(host)s:%(port)d does not answer: check address and network.")
# Part of libpq's text → meaning; the first match counts.
_REASONS = (
    (
        "does not support SSL",
        gettext_lazy("The database server %(host)s does not encrypt: switch TLS on there; nothing was sent."),
    ),
    (
        "certificate",
        gettext_lazy(
            "The database server %(host)s does not prove its name: name the file of its certificate authority in "
            "COPILOT_DATABASE_CA."
        ),
    ),
    (
        "authentication method requirement",
        gettext_lazy(
            "The database server %(host)s does not ask for the password by scram-sha-256, which gives it to nobody: set "
            "that there; nothing was sent."
        ),
    ),
    ("password authentication failed", WRONG_PASSWORD),
    ("no password supplied", WRONG_PASSWORD),
    ("does not exist", NO_DATABASE),
)


def _build_begin_statement(time_zone: str, limits: StatementLimits) -> sql.Composed:
    statements: list[sql.Composable] = [sql.SQL("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")]
    statements += [
        sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in (LIMITS | {"TimeZone": time_zone, "statement_timeout": str(limits.ms)}).items()
    ]
    return sql.SQL("; ").join([*statements, sql.SQL("SAVEPOINT begun")])


async def restart_transaction(connection: psycopg.AsyncConnection) -> None:
    """Roll back after an error to an empty transaction; its time limit goes on."""
    await connection.execute("ROLLBACK TO SAVEPOINT begun")


def _convert_database_error(error: psycopg.Error, limits: StatementLimits) -> SqlRefused:
    is_late = isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.TransactionTimeout)
    if is_late or (error.sqlstate or "").startswith(INSUFFICIENT_RESOURCES):
        return build_timeout_refusal(limits.seconds)
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return SqlRefused(
            RefusalKind.DATABASE, _("A table this question needs is being changed. Ask again in a moment.")
        )
    return build_database_refusal(
        error.diag.message_primary or type(error).__name__, is_about_names=(error.sqlstate or "").startswith(WRONG_NAME)
    )


# PostgreSQL has no limit of the memory of one process, Linux has, for a server on this machine under the same account.
OWN_BYTES = 384 * 1024 * 1024  # plus 128 MB of shared buffers makes the 512 MB of a query


def limit_process_memory(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Limit the process's further allocations; beyond it PostgreSQL ends the statement with `out_of_memory`.

    Returns whether it is limited: not on another machine, container or account.
    """
    process_id = connection.info.backend_pid
    if sys.platform != "linux" or not is_process_of_connection(connection, process_id):
        return False
    with suppress(PermissionError, ProcessLookupError):
        resource.prlimit(process_id, resource.RLIMIT_DATA, (OWN_BYTES, OWN_BYTES))
        return True
    return False


def is_process_of_connection(connection: psycopg.AsyncConnection[Any], process_id: int) -> bool:
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
