"""Saved questions: kept under a name, opened under the reader's own rights, shared with all who may ask the source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible, make_not_found
from business.explore.fields import is_expressible_in_form
from business.logical_query.catalog import Catalog
from business.logical_query.query import LogicalQuery
from business.models import SavedQuery
from business.sources.services import OpenSource, open_source
from copilot_site.lib.errors import Conflict, InvalidInput, PermissionDenied

MAX_SAVED = 200  # per person and source
NAME_CHARACTERS = 100


@dataclass(frozen=True)
class Saved:
    """A saved question. query: None where it does not fit the form or names something missing or not allowed."""

    row: SavedQuery
    query: LogicalQuery | None
    is_own: bool


def saved_queries(principal: Principal, opened: OpenSource) -> list[Saved]:
    """Return a source's saved questions that this person may open, their own first; of others' those they may ask."""
    rows = SavedQuery.objects.visible_to(principal).filter(source=opened.source).select_related("owner")
    found = (_restore_saved_query(principal, row, opened) for row in rows)
    return sorted((item for item in found if item.is_own or item.query), key=lambda item: not item.is_own)


def saved_query(principal: Principal, saved_id: UUID) -> tuple[OpenSource, Saved]:
    """Return a saved question with its source. Raises NotFound, the same for missing, private and hidden names."""
    row = get_visible(SavedQuery, principal, pk=saved_id)
    opened = open_source(principal, row.source.name)
    saved = _restore_saved_query(principal, row, opened)
    if saved.query is None:
        raise make_not_found(SavedQuery)
    return opened, saved


@transaction.atomic
def save_query(principal: Principal, opened: OpenSource, *, name: str, query: LogicalQuery) -> SavedQuery:
    """Save a question. Raises InvalidInput without a name or with too many saved, Conflict for a name already used."""
    cleaned_name = " ".join(name.split())
    if not 0 < len(cleaned_name) <= NAME_CHARACTERS:
        raise InvalidInput(_("Give it a name of at most %(most)s characters.") % {"most": NAME_CHARACTERS})
    mine = SavedQuery.objects.visible_to(principal).filter(source=opened.source, owner_id=principal.user_id)
    if mine.count() >= MAX_SAVED:
        raise InvalidInput(_("You have saved %(most)s questions here: delete one first.") % {"most": MAX_SAVED})
    plain = query.model_dump(mode="json", exclude_defaults=True)
    row = SavedQuery(source=opened.source, owner_id=principal.user_id, name=cleaned_name, query=plain)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(_("You have saved a question under this name: choose another one.")) from error
    record_action(principal, Action.QUERY_SAVED, row, detail={"source": opened.source.name})
    return row


@transaction.atomic
def share_query(principal: Principal, saved_id: UUID, *, is_shared: bool) -> SavedQuery:
    """Share it with everybody who may ask the source, or stop sharing.

    Raises NotFound, PermissionDenied for another's question, InvalidInput where it names a row that only some may see.
    """
    row = _load_own_query(principal, saved_id)
    opened = open_source(principal, row.source.name)
    query = _restore_saved_query(principal, row, opened).query
    named = list(find_possible_row_names(query, Catalog.of(opened.layer))) if query else []
    if is_shared and (query is None or named):
        message = _("It cannot be shared: “%(value)s” may be a name that not everyone can see.")
        raise InvalidInput(message % {"value": named[0] if named else row.name})
    if row.is_shared != is_shared:
        row.is_shared = is_shared
        row.save(update_fields=["is_shared"])
        action = Action.QUERY_SHARED if is_shared else Action.QUERY_UNSHARED
        record_action(principal, action, row, detail={"source": row.source.name})
    return row


@transaction.atomic
def delete_query(principal: Principal, saved_id: UUID) -> str:
    """Delete one's own question; return its source's name. Raises NotFound, PermissionDenied for another's."""
    row = _load_own_query(principal, saved_id)
    record_action(principal, Action.QUERY_DELETED, row, detail={"source": row.source.name})
    row.delete()
    return row.source.name


def _load_own_query(principal: Principal, saved_id: UUID) -> SavedQuery:
    row = get_visible(SavedQuery, principal, pk=saved_id)
    if row.owner_id == principal.user_id:
        return row
    saved_query(principal, saved_id)  # hide its existence from people who may not open it
    raise PermissionDenied(_("Only its owner may change a saved question."))


def _restore_saved_query(principal: Principal, row: SavedQuery, opened: OpenSource) -> Saved:
    is_own = row.owner_id == principal.user_id
    catalog = Catalog.of(opened.layer)
    try:
        query = LogicalQuery.model_validate(row.query)
    except ValidationError:
        return Saved(row, None, is_own)
    is_hidden = (
        not is_expressible_in_form(query)
        or not contains_only_known_names(query, catalog)
        or (not is_own and any(find_possible_row_names(query, catalog)))
    )
    return Saved(row, None if is_hidden else query, is_own)


def contains_only_known_names(query: LogicalQuery, catalog: Catalog) -> bool:
    """Return whether everything that a query names is in the layer as this person may ask it."""
    return all(
        name in catalog.models or name in catalog.dimensions or name in catalog.measures
        for part in _iterate_nested_objects(query.model_dump(mode="json", exclude_defaults=True))
        for name in _iterate_referenced_names(part)
    )


def find_possible_row_names(query: LogicalQuery, catalog: Catalog) -> Iterator[str]:
    """Yield texts in a query that may be a row's, in tables restricted by org unit, without kinds that the layer lists."""
    for part in _iterate_nested_objects(query.model_dump(mode="json", exclude_defaults=True)):
        model, dimension = catalog.dimensions.get(str(part.get("field", "")), (None, None))
        if model is None or dimension is None or not (model.org_unit and model.org_unit.column):
            continue
        kinds = () if dimension.is_name else {value.value for value in dimension.values}
        if dimension.type == "categorical":
            yield from (str(value) for value in part.get("values", ()) if str(value) not in kinds)


def _iterate_nested_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a query, recursively."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _iterate_nested_objects(item)


def _iterate_referenced_names(part: dict[str, Any]) -> Iterator[str]:
    """Yield the names in an object of a query: tables, dimensions, measures."""
    names = [part.get(key) for key in ("name", "field", "model", "by")]
    for name in [*names, *part.get("columns", ())]:
        is_word = name == part.get("by") and "." not in str(name)  # an index, or a column's own name
        if isinstance(name, str) and name and not is_word:
            yield name
