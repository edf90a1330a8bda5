"""Prepared statements, planned once in a connection, for those few that run many times in every request; and transactions that cannot
write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor
from psycopg.pq import Format


def open_prepared_cursor(connection: BaseDatabaseWrapper, *, binary: bool = False) -> CursorWrapper:
    """Return a cursor that binds on the server, if statements can be prepared; else, and where statements are logged, Django's
    own, which shows their values.

    binary: values are sent as the server holds them, bytes in half the size; the rows that come out are the same.
    """
    if connection.queries_logged:
        return connection.cursor()
    connection.ensure_connection()
    cursor: Any = Cursor(connection.connection)
    cursor.format = Format.BINARY if binary else Format.TEXT
    return connection.make_cursor(cursor)


@contextmanager
def open_read_only_transaction() -> Iterator[None]:
    """Open a transaction in which the database itself refuses to write; it is rolled back.

    A statement that tries to write raises InternalError.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        yield
        transaction.set_rollback(True)  # within a longer transaction the mode would outlive this block


@contextmanager
def hold_process_lock(name: str) -> Iterator[bool]:
    """Yield whether this process got the lock of this name; it ends with the block, or with its connection.

    The lock is a transaction's, on a connection of its own: behind a pooler each transaction may have another session, and a
    session's lock would be released by nobody.
    """
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
            row = cursor.fetchone()
        yield bool(row and row[0])
    finally:
        own.close()
