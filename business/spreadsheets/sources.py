"""A spreadsheet of a knowledge base as a data source: described when a version is published, read under its document's rights."""

import re
import time
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import PurePath
from typing import Any
from uuid import UUID

import psycopg
import structlog
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.text import slugify

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from business.connections.postgres_session import Rows
from business.dialects import DialectAccess
from business.guard.policy import Policy
from business.guard.rewrite import quoted
from business.inference.catalog import SAMPLED_ROWS, Column, copied, scratch
from business.inference.catalog import Table as Catalogued
from business.introspect import layer_of
from business.limits import Limits
from business.linking.vectors import fill_on_commit
from business.models import DataSource
from business.parsing.reader.units import key_of
from business.semantic_layer.model import OrgUnit, SemanticLayer, SemanticModel, Words
from business.spreadsheets.queries import LoadedTable, SheetLimits, in_child, tables_in, tables_of
from copilot_site.lib.database import sole_process
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.load.queues import send_on_commit
from knowledge.models import Document
from knowledge.retrieval.search import Scope
from knowledge.text.language import language_of
from knowledge.tool_selectors import SPREADSHEETS, Spreadsheet, sheets_of

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


log = structlog.get_logger(__name__)


def access_to(principal: Principal, source: DataSource, policy: Policy) -> DialectAccess:
    """Return a spreadsheet as this person may ask it: whether they may read it is asked again when its rows are read."""
    assert source.document_id is not None
    fetch = partial(_fetch, principal, source.document_id, source.limits)
    return DialectAccess(policy, "duckdb", fetch, limits=source.limits)


async def _fetch(
    principal: Principal, document_id: UUID, limits: Limits, statement: str, uncapped: str | None
) -> tuple[Rows, int | None]:
    """Run a statement. Raises NotFound, InvalidInput, SqlRefused."""
    began = time.perf_counter()
    tables = await sync_to_async(tables_of)(principal, Scope(), [document_id])
    found = await in_child(named(tables), sql=uncapped or statement, limits=SheetLimits(rows=limits.rows))
    rows = tuple(tuple(map(_value, row, found["types"])) for row in found["rows"])
    elapsed_ms = int((time.perf_counter() - began) * 1000)
    return Rows(tuple(found["columns"]), rows, False, elapsed_ms), found["total"]


def _value(value: Any, kind: str) -> Any:
    """Return a cell as Python has it; the child writes what JSON has no word for as text."""
    if not isinstance(value, str):
        return value
    if kind == "DATE":
        return date.fromisoformat(value)
    if kind == "TIMESTAMP":
        return datetime.fromisoformat(value)
    if kind.startswith("DECIMAL"):
        number = Decimal(value)
        return number.quantize(Decimal(1)) if number == number.to_integral_value() else number.normalize()
    return value


def describe_on_commit(document_id: UUID) -> None:
    """Have a worker describe what was published; what is lost on the way is tended later."""
    send_on_commit("business.describe_spreadsheet", document_id, queue="maintenance")


def undescribed() -> list[UUID]:
    """Return spreadsheets whose published version has no layer yet."""
    ended = Q(*(Q(filename__iendswith=suffix) for suffix in SPREADSHEETS), _connector=Q.OR)
    done = DataSource.unscoped.filter(document=OuterRef("pk"), drafted_version=OuterRef("current_version_id"))
    rows = Document.unscoped.filter(ended, ~Exists(done), current_version__isnull=False)
    return list(rows.values_list("pk", flat=True))


def describe(document_id: UUID) -> None:
    """Draft the layer of a spreadsheet, once for each version; one whose tables cannot be read is not asked."""
    with sole_process(f"spreadsheet:{document_id}") as is_alone:
        row = Document.unscoped.select_related("current_version").filter(pk=document_id).first()
        if not is_alone or row is None or row.current_version is None:
            return
        source = DataSource.unscoped.filter(document=row).first() or DataSource(
            name=_name_of(row), document=row, schemas=[SCHEMA]
        )
        if row.filename.lower().endswith(SPREADSHEETS) and source.drafted_version != row.current_version_id:
            _describe(row, source)


def _describe(row: Document, source: DataSource) -> None:
    try:
        layer = described(source)
    except CopilotError as error:
        log.warning("spreadsheet.undescribed", document=str(row.pk), why=str(error))
        layer = SemanticLayer(name=source.name)
    source.layer = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    source.is_active = bool(layer.semantic_models)
    source.drafted_version = row.current_version_id
    with transaction.atomic():
        source.save()
        record(None, Action.SETTING_CHANGED, source, detail={"tables": len(layer.semantic_models)})
        fill_on_commit(source.pk)


def described(source: DataSource) -> SemanticLayer:
    """Return the layer as the columns show it; what people wrote about a table stays while its columns are there.

    Raises InvalidInput where the document holds no table, or too much, and SqlRefused.
    """
    row = source.document
    assert row is not None and row.current_version is not None  # noqa: PT018  # of a spreadsheet that answers
    draft = draft_sheets(source.name, tables_in(Spreadsheet(row, None, sheets_of(row.current_version))))
    known = {model.table: model for model in source.semantic_layer.semantic_models}
    models = tuple(_kept(known.get(model.table), model) for model in draft.semantic_models)
    return source.semantic_layer.model_copy(update={"semantic_models": models})


def _kept(known: SemanticModel | None, drafted: SemanticModel) -> SemanticModel:
    return known if known is not None and set(known.columns) <= set(drafted.columns) else drafted


def _name_of(row: Document) -> str:
    """Return a name from file name and id, so that it reveals no namesake; for a file of a conversation from the id
    alone, since the audit log names sources.
    """
    plain = "" if row.is_attached else slugify(PurePath(row.filename).stem)[:40].strip("-_")
    named = plain if plain[:1].isalpha() else f"sheet-{plain}".rstrip("-")
    return f"{named}-{row.pk.hex[:8]}"
