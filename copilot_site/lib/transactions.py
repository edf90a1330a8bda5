"""Transactions of a special kind."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def read_only() -> Iterator[None]:
    """A transaction in which the database itself refuses to write; nothing of it stays.

    Raises InternalError out of the statement that tries to write.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        yield
        transaction.set_rollback(True)  # within a longer transaction the mode would outlive this block
