"""Tables and columns from PostgreSQL's catalog, and temporary ones made of rows of other engines."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.connections.postgres_session import connect_to_source

SAMPLED_ROWS = 200_000
_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, t.typname, t.typcategory, obj_description(c.oid, 'pg_class'),
       col_description(c.oid, a.attnum),
       EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1
              AND i.indkey[0] = a.attnum),
       c.relkind IN ('v', 'm')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE (c.relkind IN ('r', 'p', 'v') OR c.relkind = 'm' AND c.relispopulated) AND NOT c.relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
  AND n.nspname !~ '^(pg_|information_schema$|copilot_wall)'
  AND (%(schemas)s::text[] IS NULL OR n.nspname = ANY(%(schemas)s))
ORDER BY n.nspname, c.relname, a.attnum
"""
_FOREIGN_KEYS = """
SELECT n.nspname, c.relname, a.attname, fn.nspname, f.relname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
WHERE k.contype = 'f' AND cardinality(k.conkey) = 1
"""


@dataclass(frozen=True)
class Column:
    """A column. category: pg_type.typcategory (N number, D date, S text, B boolean)."""

    name: str
    type: str
    category: str
    comment: str


@dataclass(frozen=True)
class Table:
    """A table. key: the column of a single-column primary key, or "". is_declared: by the database itself.

    is_view: materialised or not.
    """

    schema: str
    name: str
    comment: str
    columns: tuple[Column, ...]
    key: str = ""
    is_declared: bool = False
    is_view: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.schema, self.name


@dataclass(frozen=True)
class Reference:
    """A foreign key, declared or inferred; tables by schema and name."""

    table: tuple[str, str]
    column: str
    to: tuple[str, str]


def tables_of(connection: psycopg.Connection, schemas: Sequence[str] | None = None) -> list[Table]:
    """Return every table and view of these schemas, or of the whole database, by schema and name.

    A partitioned table counts once. Extensions' tables and unpopulated materialised views are left out.
    """
    columns: dict[tuple[str, str], list[Column]] = {}
    comments: dict[tuple[str, str], str] = {}
    keys: dict[tuple[str, str], str] = {}
    views = set()
    for schema, table, name, kind, category, about, comment, is_key, is_view in connection.execute(
        _COLUMNS, {"schemas": None if schemas is None else list(schemas)}
    ):
        columns.setdefault((schema, table), []).append(Column(name, kind, category, comment or ""))
        comments[schema, table] = about or ""
        if is_key:
            keys[schema, table] = name
        if is_view:
            views.add((schema, table))
    return [
        Table(*place, comments[place], tuple(found), keys.get(place, ""), place in keys, place in views)
        for place, found in columns.items()
    ]


def query_column_rows(
    connection: psycopg.Connection, question: LiteralString, table: Table, column: Column, **named: sql.Composable
) -> bool:
    """Return the result of a query on the rows: {c} the column, {t} its table, {n} the sampled rows, and others."""
    query = sql.SQL(question).format(
        c=sql.Identifier(column.name),
        t=sql.Identifier(*table.place),
        n=sql.Literal(SAMPLED_ROWS),
        **named,
    )
    row = connection.execute(query).fetchone()
    return bool(row and row[0])


def list_foreign_keys(connection: psycopg.Connection) -> list[Reference]:
    """Return the foreign keys of one column."""
    return [
        Reference((schema, table), column, (to_schema, to))
        for schema, table, column, to_schema, to in connection.execute(_FOREIGN_KEYS)
    ]


_SCHEMA = "pg_temp"


@contextmanager
def open_scratch_connection() -> Iterator[psycopg.Connection]:
    """Open a connection whose temporary tables are dropped afterwards."""
    with connect_to_source(Address.of_django()) as connection:
        yield connection
        connection.rollback()


def copy_to_temporary_table(
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
