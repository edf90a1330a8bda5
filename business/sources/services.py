"""Data sources for people: opening them under one's rights, and changing them."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from business.connections.postgres_session import connect_to_source
from business.dialects import DialectAccess, run_translated
from business.execute import Access, StatementResult, run_sql
from business.guard.policy import TablePolicy
from business.introspect import Progress, Unread, draft_layer, ignore_progress
from business.linking.index import LayerIndex
from business.linking.linker import Linker
from business.linking.vectors import build_nearest_search, fill_vectors_on_commit, find_nearest_sources
from business.logical_query.catalog import Catalog
from business.models import DataSource, SourceEngine, SourceGrant
from business.mysql import build_access as mysql_access
from business.mysql import draft_layer as draft_views
from business.mysql import find_faults as mysql_faults
from business.parsing.reader.items import items_of
from business.parsing.reader.lexicon import Lexicon
from business.results.shown_query import TableReach
from business.results.visibility import Queried
from business.semantic_layer.model import SemanticLayer, SemanticModel
from business.semantic_layer.rights import is_in_allowed_schema, may_read_table, policy_of, require_allowed_schemas
from business.semantic_layer.yaml_io import read_layer
from business.sources.checks import record_failures
from business.sources.data_scope import ALL_DATA, DataScope
from business.sources.grants import require_manager
from business.spreadsheets.sources import access_to, draft_spreadsheet_layer
from business.table_faults import find_table_faults
from copilot_site.lib.errors import Conflict, CopilotError, InvalidInput, NotFound

log = structlog.get_logger(__name__)
T = TypeVar("T")
Tables = frozenset[str] | None
"""Names in a layer; None for all of them."""
MAX_SHEETS = 20  # per question: each has words of its own to read
_NAMED = re.compile(r"^(?P<question>.+?)\s*[(（](?P<source>[^()（）]+)[)）]\W*$", re.DOTALL)


@dataclass(frozen=True)
class OpenSource:
    """A source as one person may use it now. layer, lexicon: only the tables this person may ask about."""

    source: DataSource
    layer: SemanticLayer
    access: Access | DialectAccess

    @property
    def title(self) -> str:
        """Return the name that answers cite."""
        return self.source.document.title if self.source.document else self.source.name

    @property
    def called(self) -> str:
        """Return what people call it in brackets behind a question; two may be called alike."""
        return self.source.name if re.search("[()（）]", self.title) else self.title

    @property
    def is_kept(self) -> bool:
        """Return whether somebody keeps it and says what its tables mean: a database, and no spreadsheet."""
        return self.source.document_id is None

    async def run(self, text: str, *, execute: bool) -> StatementResult:
        """Check a statement under the person's rights, and run it unless told not to. Raises what its engine raises."""
        if isinstance(self.access, DialectAccess):
            return await run_translated(self.access, text, execute=execute)
        return await run_sql(self.access, text, execute=execute)

    @property
    def time_zone(self) -> ZoneInfo:
        return ZoneInfo(self.layer.time_zone)

    @property
    def today(self) -> date:
        """Return the company's day."""
        return datetime.now(self.time_zone).date()

    @property
    def catalog(self) -> Catalog:
        """Return those tables by their names; built once for each saved layer and set of tables."""
        return _build_catalog(_Saved.of(self.source), self._tables)

    @property
    def lexicon(self) -> Lexicon:
        """Return the words of those tables; built once, too."""
        return _build_lexicon(_Saved.of(self.source), self._tables)

    @property
    def _tables(self) -> tuple[str, ...]:
        return tuple(model.name for model in self.layer.semantic_models)

    @property
    def linker(self) -> Linker:
        """Return a linker of questions to those tables only."""
        index = _build_index(_Saved.of(self.source))
        return Linker(self.layer, index, build_nearest_search(self.source.pk, index))


@dataclass(frozen=True)
class _Saved:
    """A layer as it was saved: rows of one source and time hold the same. It says what tables mean, never who may read them."""

    source_id: UUID
    changed_at: datetime
    source: DataSource = field(compare=False, repr=False)

    @classmethod
    def of(cls, source: DataSource) -> "_Saved":
        return cls(source.pk, source.changed_at, source)


@lru_cache(maxsize=32)
def _load_layer(saved: _Saved) -> SemanticLayer:
    return saved.source.semantic_layer


@lru_cache(maxsize=32)
def _build_lexicon(saved: _Saved, tables: tuple[str, ...]) -> Lexicon:
    return Lexicon.of(_build_catalog(saved, tables))


@lru_cache(maxsize=32)
def _build_catalog(saved: _Saved, tables: tuple[str, ...]) -> Catalog:
    return Catalog.of(_restrict_to_tables(_load_layer(saved), tables))


@lru_cache(maxsize=32)
def _build_index(saved: _Saved) -> LayerIndex:
    return LayerIndex.of(_load_layer(saved))


def _restrict_to_tables(layer: SemanticLayer, tables: Collection[str]) -> SemanticLayer:
    return layer.model_copy(update={"semantic_models": tuple(m for m in layer.semantic_models if m.name in tables)})


def open_source(principal: Principal, name: str, scope: DataScope = ALL_DATA) -> OpenSource:
    """Return the source of this name under today's rights, within the scope. Raises NotFound, the same for missing, not
    theirs and outside.
    """
    for which, tables in ((scope.whole(principal), None), (scope.in_part(principal), scope.tables_of(name))):
        source = _list_visible_sources(principal).filter(which, name=name).first()
        if source is not None:
            return _open_under_rights(principal, source, tables)
    raise NotFound(_("There is no data source %(name)s you can query.") % {"name": name})


def open_sources(principal: Principal, question: str = "", scope: DataScope = ALL_DATA) -> list[OpenSource]:
    """Return every source this person may ask within the scope, by name, but those that cannot be read: the doctor names them.

    Of spreadsheets that the scope does not name at most MAX_SHEETS (`_choose_sheets`).
    """
    whole = list(_list_visible_sources(principal).filter(scope.whole(principal)))
    rows = dict.fromkeys([source for source in whole if source.document is None] + _choose_sheets(whole, question))
    parts = _list_visible_sources(principal).filter(scope.in_part(principal)) if scope.tables else ()
    wanted = {**{part: scope.tables_of(part.name) for part in parts}, **rows}
    ordered = sorted(wanted, key=lambda entry: entry.name)
    found = (_read_or_none(_open_under_rights, principal, entry, wanted[entry]) for entry in ordered)
    return [opened for opened in found if opened is not None]


def _choose_sheets(sources: Iterable[DataSource], question: str) -> list[DataSource]:
    """Return the spreadsheets that the question names, and those with the nearest columns, MAX_SHEETS in all."""
    sheets = sorted((one for one in sources if one.document), key=lambda one: one.changed_at, reverse=True)
    if len(sheets) <= MAX_SHEETS:
        return sheets
    _text, name = _split_source_name(question)
    by_id = {one.pk: one for one in sheets}
    called = [one.pk for one in sheets if name in one.names]
    nearest = find_nearest_sources(list(by_id), question, MAX_SHEETS)
    return [by_id[pk] for pk in dict.fromkeys([*called, *nearest, *by_id])][:MAX_SHEETS]


def has_open_source(principal: Principal, scope: DataScope) -> bool:
    """Return whether there is a source that this person may ask within the scope."""
    return _list_visible_sources(principal).filter(scope.whole(principal) | scope.in_part(principal)).exists()


def _list_visible_sources(principal: Principal) -> QuerySet[DataSource]:
    """Return the sources without their layers, which are cached by version."""
    return DataSource.objects.visible_to(principal).select_related("document").defer("layer")


def select_named_source(question: str, sources: list[OpenSource]) -> tuple[str, list[OpenSource]]:
    """Return a question without the source that is named in brackets behind it, and that source; else all of them.

    A title that is also a time, a number or a value names none, for it may be a condition; a source's own name is unlike all others.
    """
    text, name = _split_source_name(question)
    own = [opened for opened in sources if name == opened.source.name.lower()]
    chosen = own or (
        [] if is_known_to_sources(name, sources) else [opened for opened in sources if name in opened.source.names]
    )
    return (text, chosen) if chosen else (question, sources)


def _split_source_name(question: str) -> tuple[str, str]:
    """Return a question without the name in brackets behind it, and that name in lower case, "" for none."""
    named = _NAMED.match(question)
    return (named["question"], named["source"].strip().lower()) if named else (question, "")


def is_known_to_sources(text: str, sources: Iterable[OpenSource]) -> bool:
    """Return whether all of a text is times, numbers and values of one of these sources."""
    for opened in sources:
        items = items_of(text, opened.lexicon, opened.today)
        kinds = [{ref.kind for ref in item.refs} for item in items]
        if items and all(
            "value" in entry or item.time is not None or item.number is not None
            for item, entry in zip(items, kinds, strict=True)
        ):
            return True
    return False


def find_still_visible(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Return the results whose source, tables, columns and org units this person may still query."""
    names = {one.source for one in queried}
    found = _list_visible_sources(principal).filter(name__in=names)
    readable = ((source.name, _read_or_none(_find_readable_tables, principal, source)) for source in found)
    reaches = {name: list_table_reach(tables[1]) for name, tables in readable if tables is not None}
    return {
        one
        for one in queried
        if one.source in reaches and all(any(now.covers(was) for now in reaches[one.source]) for was in one.reach)
    }


def list_table_reach(policy: TablePolicy, tables: Collection[str] | None = None) -> tuple[TableReach, ...]:
    """Return what a policy lets read; of these tables (`schema.name`) only, in the policy's order, where they are given."""
    return tuple(
        TableReach(table=table.full_name, columns=table.columns, units=table.units if table.org_column else None)
        for table in policy.tables
        if tables is None or table.full_name in tables
    )


def _read_or_none(
    read: Callable[[Principal, DataSource, Tables], T], principal: Principal, source: DataSource, tables: Tables = None
) -> T | None:
    """Return None where a source's password, host or layer cannot be read, so that the others still work."""
    try:
        return read(principal, source, tables)
    except InvalidInput as error:
        log.warning("data_source.unreadable", source=source.name, why=str(error))
        return None


def _open_under_rights(principal: Principal, source: DataSource, tables: Tables) -> OpenSource:
    layer, policy = _find_readable_tables(principal, source, tables)
    if source.document_id is not None:
        return OpenSource(source, layer, access_to(principal, source, policy))
    if source.engine == SourceEngine.MYSQL:
        return OpenSource(source, layer, mysql_access(source.address, policy, layer, source.limits))
    access = Access(source.address, policy, layer.time_zone, source.is_dedicated, source.limits)
    return OpenSource(source, layer, access)


def _find_readable_tables(
    principal: Principal, source: DataSource, tables: Tables
) -> tuple[SemanticLayer, TablePolicy]:
    """Return the tables (of these, if given) that this person may ask about by current grants, and the policy for guard
    and sandbox.
    """
    grants: Iterable[str] = ("",)  # readers of its document see the whole spreadsheet
    if source.document_id is None:
        grants = SourceGrant.held_by(principal, Right.VIEW).filter(source=source).values_list("table", flat=True)
    of_person = frozenset(grants), frozenset(principal.org_units)
    return _compute_readable_tables(_Saved.of(source), tuple(source.schemas), *of_person, tables)


@lru_cache(maxsize=64)
def _compute_readable_tables(
    saved: _Saved, schemas: tuple[str, ...], granted: frozenset[str], units: frozenset[str], tables: Tables
) -> tuple[SemanticLayer, TablePolicy]:
    """Return readable tables and policy for a saved layer and the given rights; the cache holds results, not rights."""
    whole = "" in granted
    layer = _load_layer(saved)
    within = tuple(
        m for m in layer.semantic_models if is_in_allowed_schema(m, schemas) and (tables is None or m.name in tables)
    )
    layer = layer.model_copy(update={"semantic_models": within})
    policy = policy_of(layer, units, granted=granted, source_granted=whole)
    return _restrict_to_tables(
        layer, {m.name for m in within if may_read_table(m, granted=granted, source_granted=whole)}
    ), policy


@transaction.atomic
def save_layer(by: Principal | None, source: DataSource, layer: SemanticLayer) -> bool:
    """Give a source its semantic layer. False where its database did not answer, so that nobody knows whether its tables are there.

    Raises InvalidInput when the layer names another source, a table out of its schemas, or one that is missing, not readable, or
    leads elsewhere: one such table would close the whole source.
    """
    require_manager(by, source)
    if layer.name != source.name:
        raise InvalidInput(
            _("The file describes the source %(other)s, not %(name)s.") % {"other": layer.name, "name": source.name}
        )
    require_allowed_schemas(layer, source.schemas)
    is_known = _require_askable_tables(source, layer)
    source.layer = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    source.save(update_fields=["layer", "changed_at"])
    source.__dict__.pop("semantic_layer", None)
    record_action(by, Action.SETTING_CHANGED, source, detail={"tables": len(layer.semantic_models)})
    fill_vectors_on_commit(source.pk)
    return is_known


def _require_askable_tables(source: DataSource, layer: SemanticLayer) -> bool:
    """Raise InvalidInput for the first table that cannot be asked; False where the database does not answer."""
    tables = [model.place for model in layer.semantic_models]
    if not tables or source.document_id is not None:
        return True
    try:
        if source.engine == SourceEngine.MYSQL:
            fault = next(mysql_faults(source.address, [table for _schema, table in tables]), None)
        else:
            with connect_to_source(source.address) as connection:
                fault = next(find_table_faults(connection, tables), None)
    except (CopilotError, psycopg.Error) as error:
        log.warning("data_source.layer_unchecked", source=source.name, why=str(error))
        return False
    if fault is not None:
        raise InvalidInput(str(fault))
    return True


def import_layer(
    by: Principal | None, source: DataSource, text: str, *, version: str = ""
) -> tuple[SemanticLayer, bool]:
    """Return the layer of a YAML text, saved, and whether its tables are known to be there.

    version: when the source was last changed, as far as the writer knows; "" for whenever. Raises InvalidInput with the line, and
    Conflict where somebody has saved the source since that version.
    """
    with record_failures(by, source.name):
        layer = read_layer(text)
        with transaction.atomic():
            now = DataSource.unscoped.select_for_update().values_list("changed_at", flat=True).get(pk=source.pk)
            if version and version != now.isoformat():
                raise Conflict(
                    _(
                        "Someone has saved the data source %(name)s since you opened it. Open it again and add your changes."
                    )
                    % {"name": source.name}
                )
            return layer, save_layer(by, source, layer)


def saved_layer(source: DataSource) -> SemanticLayer:
    """Return the layer of a row, read once for each time that it was saved."""
    return _load_layer(_Saved.of(source))


def redraft_layer(
    by: Principal | None, source: DataSource, *, progress: Progress = ignore_progress, unread: Unread | None = None
) -> SemanticLayer:
    """Read the database and describe it anew; what people wrote about tables that are still there is kept. Not saved.

    progress: told of each table of PostgreSQL, twice; unread: of each that fails, while the rest is kept.
    """
    require_manager(by, source)
    known = {m.place: m for m in source.semantic_layer.semantic_models}
    with record_failures(by, source.name):
        if source.document_id is not None:
            return draft_spreadsheet_layer(source)
        time_zone = source.semantic_layer.time_zone
        if source.engine == SourceEngine.MYSQL:
            fresh = draft_views(source.address, source.name, time_zone=time_zone, unread=unread)
        else:
            fresh = draft_layer(
                source.address,
                source.name,
                time_zone=time_zone,
                schemas=source.schemas,
                progress=progress,
                unread=unread,
            )
    models: list[SemanticModel] = [known.get(m.place, m) for m in fresh.semantic_models]
    return source.semantic_layer.model_copy(update={"semantic_models": tuple(models)})
