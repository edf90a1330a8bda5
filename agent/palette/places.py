"""The places that a question can be limited to: bases, folders, documents, metadata values, and tables of data sources."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import get_language

from agent.profiles.kept_scope import convert_condition_to_json
from authz.principal import Principal
from business.sources.data_scope import TableName
from business.sources.table_choice import AskableTable, find_tables_by_name, search_tables
from knowledge.documents.places import find_document_places, find_folder_paths
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.retrieval.conditions import FieldCondition
from knowledge.retrieval.plan import select_documents
from knowledge.retrieval.search import Scope
from knowledge.services.fields import find_field_values

MAX = 5  # of each kind
MAX_TITLED = 50  # documents of which spreadsheets are looked for
FIELDS: Final[Mapping[str, str]] = {"base": "knowledge_base_ids", "folder": "folder_ids", "document": "document_ids"}


@dataclass(frozen=True)
class PalettePlace:
    """kind: of FIELDS, "field" or "table". id: for these the condition or table, as JSON.

    path: names of its parents, from the top down. count: number of documents there that this person can search.
    """

    kind: str
    id: UUID | str
    name: str
    path: tuple[str, ...] = ()
    count: int = 1


NOWHERE: Final = PalettePlace("document", UUID(int=0), "", count=0)
"""Replaces a condition this person may no longer see; no document is there."""


def build_words_filter(words: str, *fields: str) -> Q:
    """Return a filter for rows in which each word is in one of the fields."""
    found = Q()
    for word in words.split():
        found &= Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR)
    return found


def find_places(principal: Principal, words: str) -> list[PalettePlace]:
    """Return bases, folders, tables, metadata values and documents that match all the words.

    Without words: the bases, tables of databases, and the documents changed last.
    """
    documents = (
        Document.objects.visible_to(principal)
        .exclude(current_version=None)
        .filter(build_words_filter(words, "title", "filename"))
    )
    return [
        *find_base_places(principal, words),
        *(find_folder_places(principal, words) if words else ()),
        *_iterate_table_places(principal, words),
        *(_iterate_value_places(principal, words) if words else ()),
        *_iterate_document_places(principal, documents.order_by("-updated_at", "pk")[:MAX]),
    ]


def list_scope_places(principal: Principal, scope: Scope, tables: Collection[TableName] = ()) -> list[PalettePlace]:
    """Return the places of a scope, and tables, as this person sees them now; a hidden one has no name and counts 0."""
    bases = KnowledgeBase.objects.visible_to(principal).filter(pk__in=scope.knowledge_base_ids)
    folders = Folder.objects.visible_to(principal).filter(pk__in=scope.folder_ids)
    documents = Document.objects.visible_to(principal).filter(pk__in=scope.document_ids)
    seen = [
        *_iterate_base_places(principal, bases),
        *_iterate_folder_places(principal, folders),
        *_iterate_document_places(principal, documents),
    ]
    known = {place.id for place in seen}
    asked = ((kind, pk) for kind, field in FIELDS.items() for pk in getattr(scope, field))
    hidden = [PalettePlace(kind, pk, "", count=0) for kind, pk in asked if pk not in known]
    return [
        *seen,
        *hidden,
        *(_build_condition_place(principal, item) for item in scope.metadata),
        *_iterate_named_tables(principal, tables),
    ]


def find_base_places(principal: Principal, words: str) -> list[PalettePlace]:
    found = KnowledgeBase.objects.visible_to(principal).filter(build_words_filter(words, "name"))
    return list(_iterate_base_places(principal, found.order_by("name")[:MAX]))


def find_folder_places(principal: Principal, words: str) -> list[PalettePlace]:
    """Return the matching folders except the roots, which have the names of their bases."""
    found = Folder.objects.visible_to(principal).filter(build_words_filter(words, "name"), parent__isnull=False)
    return list(_iterate_folder_places(principal, found.order_by("name", "pk")[:MAX]))


def _iterate_base_places(principal: Principal, rows: QuerySet[KnowledgeBase]) -> Iterator[PalettePlace]:
    for row in rows:
        yield PalettePlace(
            "base", row.pk, str(row), (), select_documents(principal, Scope(knowledge_base_ids=(row.pk,))).count()
        )


def _iterate_folder_places(principal: Principal, rows: QuerySet[Folder]) -> Iterator[PalettePlace]:
    found = list(rows.select_related("knowledge_base"))
    above = find_folder_paths(principal, {row.pk for row in found})
    for row in found:
        path = (str(row.knowledge_base), *above[row.pk][:-1])
        yield PalettePlace(
            "folder", row.pk, str(row), path, select_documents(principal, Scope(folder_ids=(row.pk,))).count()
        )


def _iterate_document_places(principal: Principal, rows: QuerySet[Document]) -> Iterator[PalettePlace]:
    found = dict(rows.values_list("pk", "title"))
    places = find_document_places(principal, found)
    for pk, title in found.items():
        yield PalettePlace("document", pk, title, places[pk].path if pk in places else ())


def _iterate_value_places(principal: Principal, words: str) -> Iterator[PalettePlace]:
    for item in find_field_values(principal, words, most=MAX):
        condition = FieldCondition(item.field, equals=item.value)
        yield PalettePlace(
            "field",
            _format_place_id(convert_condition_to_json(condition)),
            format_condition(condition),
            count=item.count,
        )


def _build_condition_place(principal: Principal, condition: FieldCondition) -> PalettePlace:
    """Return the place of a condition; without a name where no readable document has this value."""
    count = select_documents(principal, Scope(metadata=(condition,))).count()
    return (
        PalettePlace(
            "field", _format_place_id(convert_condition_to_json(condition)), format_condition(condition), count=count
        )
        if count
        else NOWHERE
    )


def _iterate_table_places(principal: Principal, words: str) -> Iterator[PalettePlace]:
    """Yield the matching tables: of databases, and of spreadsheets with a matching title or file name."""
    titled = Document.objects.visible_to(principal).filter(build_words_filter(words, "title", "filename"))
    sheets = titled.order_by("-updated_at", "pk").values_list("pk", flat=True)[:MAX_TITLED] if words else ()
    yield from map(_build_table_place, search_tables(principal, words, sheets, most=MAX))


def _iterate_named_tables(principal: Principal, names: Collection[TableName]) -> Iterator[PalettePlace]:
    known = find_tables_by_name(principal, names) if names else {}
    for name in names:
        yield _build_table_place(known[name]) if name in known else NOWHERE


def _build_table_place(table: AskableTable) -> PalettePlace:
    return PalettePlace("table", _format_place_id(asdict(table.name)), table.text(get_language() or "en"))


def _format_place_id(asked: Mapping[str, Any]) -> str:
    return json.dumps(asked, ensure_ascii=False)


def format_condition(condition: FieldCondition) -> str:
    """Format a condition: “State: valid”, “Year: 2024 – 2026”, “Client: …müller…”."""
    equals, lowest, highest = (
        "" if value is None else str(value) for value in (condition.equals, condition.at_least, condition.at_most)
    )
    contains = f"…{condition.contains}…" if condition.contains else ""
    between = f"{lowest} – {highest}".strip() if lowest or highest else ""
    return f"{condition.field}: {', '.join(filter(None, (equals, contains, between)))}"
