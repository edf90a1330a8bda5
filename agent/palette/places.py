"""The places that a question can be narrowed to: knowledge bases, folders and documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from authz.principal import Principal
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.places import folders_above, places_of
from knowledge.retrieval.plan import documents_in
from knowledge.retrieval.search import Scope

MOST = 5  # of each kind
FIELDS: Final[Mapping[str, str]] = {"base": "knowledge_base_ids", "folder": "folder_ids", "document": "document_ids"}


@dataclass(frozen=True)
class Place:
    """kind: of FIELDS. path: names of what it lies in, from the top down. count: documents there that this person is answered from."""

    kind: str
    id: UUID
    name: str
    path: tuple[str, ...] = ()
    count: int = 1


def in_all(words: str, *fields: str) -> Q:
    """Rows in which each of the words stands in one of the fields."""
    found = Q()
    for word in words.split():
        found &= Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR)
    return found


def find_places(principal: Principal, words: str) -> list[Place]:
    """Bases, folders and documents whose names say all the words; without words the bases, and what changed last."""
    documents = (
        Document.objects.visible_to(principal).exclude(current_version=None).filter(in_all(words, "title", "filename"))
    )
    return [
        *named_bases(principal, words),
        *(found_folders(principal, words) if words else ()),
        *_documents(principal, documents.order_by("-updated_at", "pk")[:MOST]),
    ]


def places_in(principal: Principal, scope: Scope) -> list[Place]:
    """The places of a scope as this person may see them now; what they may not see is without a name and counts nothing."""
    bases = KnowledgeBase.objects.visible_to(principal).filter(pk__in=scope.knowledge_base_ids)
    folders = Folder.objects.visible_to(principal).filter(pk__in=scope.folder_ids)
    documents = Document.objects.visible_to(principal).filter(pk__in=scope.document_ids)
    seen = [*_bases(principal, bases), *_folders(principal, folders), *_documents(principal, documents)]
    known = {place.id for place in seen}
    asked = ((kind, pk) for kind, field in FIELDS.items() for pk in getattr(scope, field))
    hidden = [Place(kind, pk, "", count=0) for kind, pk in asked if pk not in known]
    return [*seen, *hidden]


def named_bases(principal: Principal, words: str) -> list[Place]:
    found = KnowledgeBase.objects.visible_to(principal).filter(in_all(words, "name"))
    return list(_bases(principal, found.order_by("name")[:MOST]))


def found_folders(principal: Principal, words: str) -> list[Place]:
    """Without the roots, which are named like their bases."""
    found = Folder.objects.visible_to(principal).filter(in_all(words, "name"), parent__isnull=False)
    return list(_folders(principal, found.order_by("name", "pk")[:MOST]))


def _bases(principal: Principal, rows: QuerySet[KnowledgeBase]) -> Iterator[Place]:
    for row in rows:
        yield Place("base", row.pk, row.name, (), documents_in(principal, Scope(knowledge_base_ids=(row.pk,))).count())


def _folders(principal: Principal, rows: QuerySet[Folder]) -> Iterator[Place]:
    found = list(rows.select_related("knowledge_base"))
    above = folders_above(principal, {row.pk for row in found})
    for row in found:
        path = (row.knowledge_base.name, *above[row.pk][:-1])
        yield Place("folder", row.pk, row.name, path, documents_in(principal, Scope(folder_ids=(row.pk,))).count())


def _documents(principal: Principal, rows: QuerySet[Document]) -> Iterator[Place]:
    found = dict(rows.values_list("pk", "title"))
    places = places_of(principal, found)
    for pk, title in found.items():
        yield Place("document", pk, title, places[pk].path if pk in places else ())
