"""Advisory locks of PostgreSQL that somebody else holds."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection


@contextmanager
def held_elsewhere(name: str) -> Iterator[None]:
    """A session of its own holds the lock of this name as long as the block lasts."""
    given = connection.get_connection_params()
    chosen = {key: given[key] for key in ("host", "port", "user", "password", "dbname") if key in given}
    with psycopg.connect(**chosen, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
        yield
        other.execute(
            "SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name]
        )  # the end of a session is told later
