"""Indexes that a source's large tables lack: for the keys they are joined by, their times, and the org units of every question."""

from collections.abc import Iterable, Iterator

import psycopg
from psycopg import sql

from business.semantic_layer.model import SemanticModel

LARGE = 100_000  # rows, as the planner knows them; a smaller table is read in milliseconds
_LED = """
SELECT c.reltuples, array(
    SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL),
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'm')
"""


def missing_indexes(connection: psycopg.Connection, models: Iterable[SemanticModel]) -> Iterator[str]:
    """A statement for each, for the owner to run; of views and tables in partitions nothing is said."""
    for model in models:
        row = connection.execute(_LED, [model.table_schema, model.table]).fetchone()
        rows, led, columns = row or (0, [], [])
        if rows < LARGE:
            continue
        for column in dict.fromkeys(_asked_by(model)):
            if column in columns and column not in led:
                table = sql.Identifier(model.table_schema, model.table)
                yield sql.SQL("CREATE INDEX ON {} ({});").format(table, sql.Identifier(column)).as_string(connection)


def _asked_by(model: SemanticModel) -> Iterator[str]:
    yield from (entity.expr for entity in model.entities)
    yield from (dimension.expr for dimension in model.dimensions if dimension.type == "time")
    if model.org_unit and model.org_unit.column:
        yield model.org_unit.column
