"""Copy rows of other engines into temporary tables of the product's server, to draft a layer from."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.connections.postgres_session import connected
from business.inference.catalog import Column, Table

_SCHEMA = "pg_temp"


@contextmanager
def scratch() -> Iterator[psycopg.Connection]:
    """Open a connection whose temporary tables are dropped afterwards."""
    with connected(Address.of_django()) as connection:
        yield connection
        connection.rollback()


def copied(
    connection: psycopg.Connection, name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]
) -> Table:
    """Return these rows as a temporary table; column types are PostgreSQL's names."""
    place = sql.Identifier(_SCHEMA, name)
    found = [sql.SQL("{} {}").format(sql.Identifier(column.name), sql.Identifier(column.type)) for column in columns]
    connection.execute(sql.SQL("CREATE TEMPORARY TABLE {} ({})").format(place, sql.SQL(", ").join(found)))
    with connection.cursor() as cursor, cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy:
        for row in rows:
            copy.write_row(row)
    return Table(_SCHEMA, name, "", tuple(columns))
