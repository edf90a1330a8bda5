"""Statements that are planned once in a connection, for those few that run many times in every request."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor
from psycopg.pq import Format


def prepared_cursor(connection: BaseDatabaseWrapper, *, binary: bool = False) -> CursorWrapper:
    """A cursor that binds on the server, where statements can be prepared; Django's own, which shows them with their values,
    where somebody logs statements.

    binary: values are sent as the server holds them, bytes in half the size; the rows that come out are the same.
    """
    if connection.queries_logged:
        return connection.cursor()
    connection.ensure_connection()
    cursor: Any = Cursor(connection.connection)
    cursor.format = Format.BINARY if binary else Format.TEXT
    return connection.make_cursor(cursor)
