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
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.text import slugify

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from business.connections.postgres_session import FetchedRows
from business.dialects import DialectAccess
from business.guard.policy import TablePolicy
from business.guard.rewrite import quote_identifier
from business.inference.catalog import SAMPLED_ROWS, Column, copy_to_temporary_table, open_scratch_connection
from business.inference.catalog import Table as Catalogued
from business.introspect import infer_layer
from business.limits import StatementLimits
from business.linking.vectors import fill_vectors_on_commit
from business.models import DataSource
from business.parsing.reader.units import build_lookup_key
from business.semantic_layer.model import SemanticLayer, SemanticModel, UnitRule, Words
from business.spreadsheets.queries import LoadedTable, SheetLimits, load_tables, load_tables_in_scope, run_in_child
from copilot_site.lib.database import hold_process_lock
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.load.queues import send_on_commit
from knowledge.models import Document
from knowledge.retrieval.search import Scope
from knowledge.text.language import detect_language
from knowledge.tool_selectors import SPREADSHEETS, Spreadsheet, load_sheets

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


def name_tables_for_layer(tables: Sequence[LoadedTable]) -> list[LoadedTable]:
    """Return the tables as a layer names them: by their sheet, else by their file; columns by their headers, all as plain names."""
    names = _build_unique_names(table.sheet or PurePath(table.document.filename).stem for table in tables)
    return [
        LoadedTable(name, table.source, table.sheet, (tuple(_build_unique_names(table.rows[0])), *table.rows[1:]))
        for name, table in zip(names, tables, strict=True)
    ]


def draft_sheets(name: str, tables: Sequence[LoadedTable]) -> SemanticLayer:
    """Return what the columns of these tables show. Whoever reads the document reads all of it. Raises SqlRefused."""
    with open_scratch_connection() as connection:
        copies = [_copy_first_rows(connection, table) for table in name_tables_for_layer(tables)]
        layer = infer_layer(connection, name, copies, [], time_zone=settings.TIME_ZONE, sensitive=None)
    models = zip(layer.semantic_models, tables, strict=True)
    return layer.model_copy(
        update={"semantic_models": tuple(_open_to_everyone(model, table) for model, table in models)}
    )


def _build_unique_names(found: Iterable[str]) -> list[str]:
    """Return texts as names that need no quotes and are all different."""
    names: list[str] = []
    for place, text in enumerate(found, 1):
        plain = re.sub(r"\W+", "_", text).strip("_").lower().encode()[:56].decode(errors="ignore")
        plain = plain if plain and not plain[0].isdigit() else f"c_{plain or place}"
        names.append(plain if plain not in names else f"{plain}_{place}")
    return names


def _copy_first_rows(connection: psycopg.Connection, table: LoadedTable) -> Catalogued:
    """Return the first rows of a table, with DuckDB's types."""
    limits = SheetLimits(rows=SAMPLED_ROWS)
    found = async_to_sync(run_in_child)([table], sql=f"SELECT * FROM {quote_identifier(table.name)}", limits=limits)  # noqa: S608  # our name
    kinds = [_TYPES.get(kind.partition("(")[0], ("text", "S")) for kind in found["types"]]
    columns = [Column(name, *kind, "") for name, kind in zip(found["columns"], kinds, strict=True)]
    return copy_to_temporary_table(connection, table.name, columns, found["rows"])


def _open_to_everyone(model: SemanticModel, table: LoadedTable) -> SemanticModel:
    headers = dict(zip(_build_unique_names(table.rows[0]), table.rows[0], strict=True))
    dimensions = tuple(
        item.model_copy(update={"label": _build_words(headers.get(item.name, ""))}) for item in model.dimensions
    )
    rights = UnitRule(shared_with="everyone")
    table_spec = {
        "table_schema": SCHEMA,
        "org_unit": rights,
        "dimensions": dimensions,
        "label": _build_words(table.sheet),
    }
    return _remove_conflicting_words(model.model_copy(update=table_spec))


def _remove_conflicting_words(model: SemanticModel) -> SemanticModel:
    """Return the model under words of its own: a file or a sheet that is named like one of its columns is no other word for its rows."""
    columns = {build_lookup_key(word) for dimension in model.dimensions for word in dimension.words()}
    if not any(build_lookup_key(word) in columns for word in model.words()):
        return model
    name = f"{model.name}表" if detect_language(model.name) == "zh" else f"{model.name}_file"
    kept = tuple(word for word in model.synonyms if build_lookup_key(word) not in columns)
    return model.model_copy(update={"name": name, "label": Words(), "synonyms": kept})


def _build_words(text: str) -> Words:
    return Words(zh=text) if detect_language(text) == "zh" else Words(en=text)


log = structlog.get_logger(__name__)


def access_to(principal: Principal, source: DataSource, policy: TablePolicy) -> DialectAccess:
    """Return a spreadsheet as this person may ask it: whether they may read it is asked again when its rows are read."""
    assert source.document_id is not None
    fetch = partial(_run_statement, principal, source.document_id, source.limits)
    return DialectAccess(policy, "duckdb", fetch, limits=source.limits)


async def _run_statement(
    principal: Principal, document_id: UUID, limits: StatementLimits, statement: str, uncapped: str | None
) -> tuple[FetchedRows, int | None]:
    """Run a statement. Raises NotFound, InvalidInput, SqlRefused."""
    began = time.perf_counter()
    tables = await sync_to_async(load_tables_in_scope)(principal, Scope(), [document_id])
    found = await run_in_child(
        name_tables_for_layer(tables), sql=uncapped or statement, limits=SheetLimits(rows=limits.rows)
    )
    rows = tuple(tuple(map(_convert_value, row, found["types"])) for row in found["rows"])
    elapsed_ms = int((time.perf_counter() - began) * 1000)
    return FetchedRows(tuple(found["columns"]), rows, False, elapsed_ms), found["total"]


def _convert_value(value: Any, kind: str) -> Any:
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
    """Have a worker describe a spreadsheet that was published; what is lost on the way is tended later."""
    if _find_undescribed_spreadsheets().filter(pk=document_id).exists():
        send_on_commit("business.describe_spreadsheet", document_id, queue="maintenance")


def list_undescribed_spreadsheets() -> list[UUID]:
    """Return spreadsheets whose published version has no layer yet."""
    return list(_find_undescribed_spreadsheets().values_list("pk", flat=True))


def _find_undescribed_spreadsheets() -> QuerySet[Document]:
    ended = Q(*(Q(filename__iendswith=suffix) for suffix in SPREADSHEETS), _connector=Q.OR)
    done = DataSource.unscoped.filter(document=OuterRef("pk"), drafted_version=OuterRef("current_version_id"))
    return Document.unscoped.filter(ended, ~Exists(done), current_version__isnull=False)


def describe_published_version(document_id: UUID) -> None:
    """Draft the layer of a spreadsheet, once for each version; one whose tables cannot be read is not asked."""
    with hold_process_lock(f"spreadsheet:{document_id}") as is_alone:
        row = Document.unscoped.select_related("current_version").filter(pk=document_id).first()
        if not is_alone or row is None or row.current_version is None:
            return
        source = DataSource.unscoped.filter(document=row).first() or DataSource(
            name=_build_source_name(row), document=row, schemas=[SCHEMA]
        )
        if row.filename.lower().endswith(SPREADSHEETS) and source.drafted_version != row.current_version_id:
            _store_drafted_layer(row, source)


def _store_drafted_layer(row: Document, source: DataSource) -> None:
    try:
        layer = draft_spreadsheet_layer(source)
    except CopilotError as error:
        log.warning("spreadsheet.undescribed", document=str(row.pk), why=str(error))
        layer = SemanticLayer(name=source.name)
    source.layer = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    source.is_active = bool(layer.semantic_models)
    source.drafted_version = row.current_version_id
    with transaction.atomic():
        source.save()
        record_action(None, Action.SETTING_CHANGED, source, detail={"tables": len(layer.semantic_models)})
        fill_vectors_on_commit(source.pk)


def draft_spreadsheet_layer(source: DataSource) -> SemanticLayer:
    """Return the layer as the columns show it; what people wrote about a table stays while its columns are there.

    Raises InvalidInput where the document holds no table, or too much, and SqlRefused.
    """
    row = source.document
    assert row is not None and row.current_version is not None  # noqa: PT018  # of a spreadsheet that answers
    draft = draft_sheets(source.name, load_tables(Spreadsheet(row, None, load_sheets(row.current_version))))
    known = {model.table: model for model in source.semantic_layer.semantic_models}
    models = tuple(_keep_known_table(known.get(model.table), model) for model in draft.semantic_models)
    return source.semantic_layer.model_copy(update={"semantic_models": models})


def _keep_known_table(known: SemanticModel | None, drafted: SemanticModel) -> SemanticModel:
    return known if known is not None and set(known.columns) <= set(drafted.columns) else drafted


def _build_source_name(row: Document) -> str:
    """Return a name from file name and id, so that it reveals no namesake; for a file of a conversation from the id
    alone, since the audit log names sources.
    """
    plain = "" if row.is_attached else slugify(PurePath(row.filename).stem)[:40].strip("-_")
    named = plain if plain[:1].isalpha() else f"sheet-{plain}".rstrip("-")
    return f"{named}-{row.pk.hex[:8]}"
