"""Data sources as people meet them: what one may ask, changing them, and rights on them."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TypeVar
from uuid import UUID

import structlog
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils.translation import gettext as _

from agent.business.ask.words.lexicon import Lexicon
from agent.business.execute import Access
from agent.business.guard.policy import Policy
from agent.business.introspect import draft_layer
from agent.business.layer.model import SemanticLayer, SemanticModel
from agent.business.layer.rights import is_within, may_read, policy_of, require_schemas
from agent.business.layer.yaml_io import read_layer
from agent.business.models import DataSource, SourceGrant
from agent.query_results.result import TableReach
from agent.query_results.sources import Queried
from audit.actions import Action, Outcome
from audit.record import record
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound, PermissionDenied

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class OpenSource:
    """A source as one person may use it now. layer, lexicon: only the tables this person may ask about."""

    source: DataSource
    layer: SemanticLayer
    access: Access

    @property
    def lexicon(self) -> Lexicon:
        """The words of those tables; built once for each saved layer and set of tables."""
        return _lexicon_of(_Saved.of(self.source), tuple(model.name for model in self.layer.semantic_models))


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
def _layer_of(saved: _Saved) -> SemanticLayer:
    return saved.source.semantic_layer


@lru_cache(maxsize=32)
def _lexicon_of(saved: _Saved, tables: tuple[str, ...]) -> Lexicon:
    return Lexicon.of(_narrowed(_layer_of(saved), tables))


def _narrowed(layer: SemanticLayer, tables: Collection[str]) -> SemanticLayer:
    return layer.model_copy(update={"semantic_models": tuple(m for m in layer.semantic_models if m.name in tables)})


def open_source(principal: Principal, name: str) -> OpenSource:
    """The source of this name under today's rights. Raises NotFound, the same for missing and not theirs."""
    source = DataSource.objects.visible_to(principal).filter(name=name).first()
    if source is None:
        raise NotFound(_("There is no data source %(name)s that you may ask.") % {"name": name})
    return _opened(principal, source)


def open_sources(principal: Principal) -> list[OpenSource]:
    """Every source this person may ask, by name, but those that cannot be read: the doctor names them."""
    found = (_if_readable(_opened, principal, source) for source in DataSource.objects.visible_to(principal))
    return [opened for opened in found if opened is not None]


def vouched(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Those of the results whose source this person may ask now, with every table, column and org unit that they stand on."""
    names = {one.source for one in queried}
    found = DataSource.objects.visible_to(principal).filter(name__in=names)
    readable = ((source.name, _if_readable(_readable, principal, source)) for source in found)
    reaches = {name: reach_of(tables[1]) for name, tables in readable if tables is not None}
    return {
        one
        for one in queried
        if one.source in reaches and all(any(now.covers(was) for now in reaches[one.source]) for was in one.reach)
    }


def reach_of(policy: Policy, tables: Collection[str] | None = None) -> tuple[TableReach, ...]:
    """What a policy lets read; of these tables (`schema.name`) only, in the policy's order, where they are given."""
    return tuple(
        TableReach(table=table.full_name, columns=table.columns, units=table.units if table.org_column else None)
        for table in policy.tables
        if tables is None or table.full_name in tables
    )


def _if_readable(read: Callable[[Principal, DataSource], T], principal: Principal, source: DataSource) -> T | None:
    """None where the password, the host or the layer of a source cannot be read: that must not cost anybody the others."""
    try:
        return read(principal, source)
    except InvalidInput as error:
        log.warning("data_source.unreadable", source=source.name, why=str(error))
        return None


def _opened(principal: Principal, source: DataSource) -> OpenSource:
    models, policy = _readable(principal, source)
    layer = _layer_of(_Saved.of(source))
    access = Access(source.address, policy, time_zone=layer.time_zone, is_dedicated=source.is_dedicated)
    return OpenSource(source, _narrowed(layer, {model.name for model in models}), access)


def _readable(principal: Principal, source: DataSource) -> tuple[tuple[SemanticModel, ...], Policy]:
    """The tables this person may ask about, and the policy that the walls are made from."""
    grants = SourceGrant.held_by(principal, Right.VIEW).filter(source=source).values_list("table", flat=True)
    granted = set(grants)
    whole = "" in granted
    layer = _layer_of(_Saved.of(source))
    within = tuple(m for m in layer.semantic_models if is_within(m, source.schemas))
    models = tuple(m for m in within if may_read(m, granted=granted, source_granted=whole))
    layer = layer.model_copy(update={"semantic_models": within})
    return models, policy_of(layer, principal.org_units, granted=granted, source_granted=whole)


@transaction.atomic
def save_layer(by: Principal | None, source: DataSource, layer: SemanticLayer) -> None:
    """Give a source its semantic layer. Raises InvalidInput when the layer names another source, or a table out of its schemas."""
    require_manage(by, source)
    if layer.name != source.name:
        raise InvalidInput(
            _("The file describes the source %(other)s, not %(name)s.") % {"other": layer.name, "name": source.name}
        )
    require_schemas(layer, source.schemas)
    source.layer = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    source.save(update_fields=["layer", "changed_at"])
    source.__dict__.pop("semantic_layer", None)
    record(by, Action.SETTING_CHANGED, source, detail={"tables": len(layer.semantic_models)})


def import_layer(by: Principal | None, source: DataSource, text: str) -> SemanticLayer:
    """The layer of a YAML text, saved. Raises InvalidInput with the line."""
    with failure_recorded(by, source.name):
        layer = read_layer(text)
        save_layer(by, source, layer)
    return layer


def draft(by: Principal | None, source: DataSource) -> SemanticLayer:
    """Read the database and describe it anew; what people wrote about tables that are still there is kept. Not saved."""
    require_manage(by, source)
    known = {(m.table_schema, m.table): m for m in source.semantic_layer.semantic_models}
    with failure_recorded(by, source.name):
        fresh = draft_layer(
            source.address, source.name, time_zone=source.semantic_layer.time_zone, schemas=source.schemas
        )
    models: list[SemanticModel] = [known.get((m.table_schema, m.table), m) for m in fresh.semantic_models]
    return source.semantic_layer.model_copy(update={"semantic_models": tuple(models)})


@contextmanager
def failure_recorded(by: Principal | None, name: str) -> Iterator[None]:
    """Record what keeps a source from being described; name: of the source, or of the file that was to describe one."""
    try:
        yield
    except CopilotError as error:
        record(by, Action.SETTING_CHANGED, outcome=Outcome.ERROR, reason=type(error).__name__, target_name=name)
        raise


@transaction.atomic
def grant(
    by: Principal | None,
    source: DataSource,
    *,
    to: User | Group,
    table: str = "",
    right: Right = Right.VIEW,
    expires_at: datetime | None = None,
) -> None:
    """Give a right on a source or one of its tables. Raises InvalidInput for a table that the layer does not have."""
    require_manage(by, source)
    if table and table not in {m.name for m in source.semantic_layer.semantic_models}:
        raise InvalidInput(_("The source has no table %(table)s.") % {"table": table})
    holder = {"user": to} if isinstance(to, User) else {"group": to}
    SourceGrant.objects.update_or_create(
        source=source, table=table, right=right.value, **holder, defaults={"expires_at": expires_at}
    )
    record(by, Action.GRANT_GIVEN, source, detail=_detail(right, to, table))


@transaction.atomic
def withdraw(
    by: Principal | None, source: DataSource, *, of: User | Group, table: str = "", right: Right = Right.VIEW
) -> None:
    """Take a right back; one that is not held is not recorded."""
    require_manage(by, source)
    holder = {"user": of} if isinstance(of, User) else {"group": of}
    if SourceGrant.objects.filter(source=source, table=table, right=right.value, **holder).delete()[0]:
        record(by, Action.GRANT_REVOKED, source, detail=_detail(right, of, table))


def require_manage(by: Principal | None, source: DataSource) -> None:
    """Raises PermissionDenied unless `by` manages the source; None is a command of the operator, a superuser governs all."""
    if by is None or by.is_superuser:
        return
    if not SourceGrant.held_by(by, Right.MANAGE).filter(source=source, table="").exists():
        raise PermissionDenied(_("You do not manage the data source %(name)s.") % {"name": source.name})


def managed_sources(principal: Principal) -> set[str]:
    """Names of the sources that this person may ask and manages: whose answers they may correct."""
    asked = DataSource.objects.visible_to(principal)
    if not principal.is_superuser:
        asked = asked.filter(pk__in=SourceGrant.held_by(principal, Right.MANAGE).filter(table="").values("source_id"))
    return set(asked.values_list("name", flat=True))


def _detail(right: Right, holder: User | Group, table: str) -> dict[str, object]:
    kind = "group" if isinstance(holder, Group) else "user"
    return {"right": right.value, kind: holder.pk, "table": table}
