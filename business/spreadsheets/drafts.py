"""The layer of a spreadsheet, drafted from its columns as that of a database is: from a copy in temporary tables."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import psycopg
from asgiref.sync import async_to_sync
from django.conf import settings

from business.guard.rewrite import quoted
from business.inference.catalog import SAMPLED_ROWS, Column
from business.inference.catalog import Table as Catalogued
from business.inference.temporary_tables import copied, scratch
from business.introspect import layer_of
from business.parsing.reader.units import key_of
from business.semantic_layer.model import OrgUnit, SemanticLayer, SemanticModel, Words
from business.spreadsheets.queries import LoadedTable, SheetLimits, in_child
from knowledge.text.language import language_of

SCHEMA = "main"  # of every table in DuckDB
# DuckDB's type → PostgreSQL's, with its category; what is not here is text.
_TYPES = {
    "BIGINT": ("int8", "N"),
    "HUGEINT": ("numeric", "N"),
    "DECIMAL": ("numeric", "N"),
    "DOUBLE": ("float8", "N"),
    "BOOLEAN": ("bool", "B"),
    "DATE": ("date", "D"),
    "TIMESTAMP": ("timestamp", "D"),
}


def named(tables: Sequence[LoadedTable]) -> list[LoadedTable]:
    """Return the tables as a layer names them: by their sheet, else by their file; columns by their headers, all as plain names."""
    names = _names(table.sheet or PurePath(table.document.filename).stem for table in tables)
    return [
        LoadedTable(name, table.source, table.sheet, (tuple(_names(table.rows[0])), *table.rows[1:]))
        for name, table in zip(names, tables, strict=True)
    ]


def draft_sheets(name: str, tables: Sequence[LoadedTable]) -> SemanticLayer:
    """Return what the columns of these tables show. Whoever reads the document reads all of it. Raises SqlRefused."""
    with scratch() as connection:
        copies = [_copied(connection, table) for table in named(tables)]
        layer = layer_of(connection, name, copies, [], time_zone=settings.TIME_ZONE, sensitive=None)
    models = zip(layer.semantic_models, tables, strict=True)
    return layer.model_copy(update={"semantic_models": tuple(_opened(model, table) for model, table in models)})


def _names(found: Iterable[str]) -> list[str]:
    """Return texts as names that need no quotes and are all different."""
    names: list[str] = []
    for place, text in enumerate(found, 1):
        plain = re.sub(r"\W+", "_", text).strip("_").lower().encode()[:56].decode(errors="ignore")
        plain = plain if plain and not plain[0].isdigit() else f"c_{plain or place}"
        names.append(plain if plain not in names else f"{plain}_{place}")
    return names


def _copied(connection: psycopg.Connection, table: LoadedTable) -> Catalogued:
    """Return the first rows of a table, with DuckDB's types."""
    limits = SheetLimits(rows=SAMPLED_ROWS)
    found = async_to_sync(in_child)([table], sql=f"SELECT * FROM {quoted(table.name)}", limits=limits)  # noqa: S608  # our name
    kinds = [_TYPES.get(kind.partition("(")[0], ("text", "S")) for kind in found["types"]]
    columns = [Column(name, *kind, "") for name, kind in zip(found["columns"], kinds, strict=True)]
    return copied(connection, table.name, columns, found["rows"])


def _opened(model: SemanticModel, table: LoadedTable) -> SemanticModel:
    headers = dict(zip(_names(table.rows[0]), table.rows[0], strict=True))
    dimensions = tuple(
        item.model_copy(update={"label": _words(headers.get(item.name, ""))}) for item in model.dimensions
    )
    rights = OrgUnit(shared_with="everyone")
    table_spec = {"table_schema": SCHEMA, "org_unit": rights, "dimensions": dimensions, "label": _words(table.sheet)}
    return _with_columns(model.model_copy(update=table_spec))


def _with_columns(model: SemanticModel) -> SemanticModel:
    """Return the model under words of its own: a file or a sheet that is named like one of its columns is no other word for its rows."""
    columns = {key_of(word) for dimension in model.dimensions for word in dimension.words()}
    if not any(key_of(word) in columns for word in model.words()):
        return model
    name = f"{model.name}表" if language_of(model.name) == "zh" else f"{model.name}_file"
    kept = tuple(word for word in model.synonyms if key_of(word) not in columns)
    return model.model_copy(update={"name": name, "label": Words(), "synonyms": kept})


def _words(text: str) -> Words:
    return Words(zh=text) if language_of(text) == "zh" else Words(en=text)
