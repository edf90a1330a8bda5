"""The places that somebody governs, and the rows behind `authz.explanations`: places, documents and people of bases, as of now.

Whoever calls has checked that the person asking governs the places; what comes back names everything in the bases.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet

from authz.explanations.decision_reasons import GrantPlace, Rulebook
from authz.explanations.impact import RightsTables
from authz.people.groups import PersonHolders, list_people
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows, filter_reviewed_rows
from copilot_site.lib.text.bilingual import in_language
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase

BASE = "base"
MAX_TITLES = 30  # of documents, where effects are shown


def iterate_base_places(base_ids: Collection[UUID]) -> Iterator[GrantPlace]:
    """Yield the bases, their folders, and the nodes of documents with rights of their own, under the documents' titles."""
    for pk, name in KnowledgeBase.unscoped.filter(pk__in=base_ids).values_list("pk", "name"):
        yield GrantPlace(pk, in_language(name), BASE, None)
    with_exceptions = Document.unscoped.filter(knowledge_base__in=base_ids, access__kind=FolderKind.DOCUMENT)
    own = {node_id: (pk, title) for pk, node_id, title in with_exceptions.values_list("pk", "access_id", "title")}
    shown = Folder.unscoped.filter(knowledge_base__in=base_ids).exclude(kind=FolderKind.ATTACHED)
    for pk, name, kind, parent_id, base_id, inherits, is_told in shown.values_list(
        "pk", "name", "kind", "parent_id", "knowledge_base_id", "inherits", "is_discoverable"
    ):
        document_id, title = own.get(pk, (None, in_language(name)))
        yield GrantPlace(pk, title, kind, parent_id or base_id, inherits, is_told, parent_id is None, document_id)


def load_rulebook(base_ids: Collection[UUID]) -> Rulebook:
    """Return every grant and denial in these bases, now."""
    return Rulebook.read(iterate_base_places(base_ids), base_ids=base_ids)


def load_rights_tables(*base_ids: UUID) -> RightsTables:
    """Return the holders of each right in these knowledge bases, now."""
    documents: defaultdict[UUID, set[UUID]] = defaultdict(set)
    shown = Document.unscoped.filter(knowledge_base__in=base_ids).exclude(folder__kind=FolderKind.ATTACHED)
    for pk, node_id in shown.values_list("pk", "access_id"):
        documents[node_id].add(pk)
    active = list_people(User.objects.filter(is_active=True))
    return RightsTables(
        load_rulebook(base_ids),
        {person.id: person for person in active},
        {node_id: frozenset(ids) for node_id, ids in documents.items()},
    )


def list_bases_of_places(places: Mapping[UUID, UUID]) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases of governed places (place → base), by name."""
    return KnowledgeBase.unscoped.filter(pk__in=set(places.values())).order_by("name")


def list_document_titles(principal: Principal, document_ids: Collection[UUID], *, most: int) -> list[str]:
    """Return the titles of the documents among these whose rights this person may see, by name.

    A change at a base may reach folders that others govern; what lies there is counted, not named.
    """
    rows = filter_reviewed_rows(Document, principal).filter(pk__in=document_ids).order_by("title")
    return list(rows.values_list("title", flat=True)[:most])


def load_person(user: User) -> PersonHolders:
    return list_people(User.objects.filter(pk=user.pk))[0]


def base_id_of(place: KnowledgeBase | Folder | Document) -> UUID:
    return place.pk if isinstance(place, KnowledgeBase) else place.knowledge_base_id


def node_id_of(place: KnowledgeBase | Folder | Document) -> UUID:
    """Return the node that the rights of this row are read from: a document's folder, or a node of its own."""
    return place.access_id if isinstance(place, Document) else place.pk


def find_governed_places(principal: Principal) -> dict[UUID, UUID]:
    """Return place → knowledge base for every base, folder and document node that this person governs.

    A node or folder that does not take over rights from above may be governed by others than the folder it lies in.
    """
    return _find_places(filter_governed_rows, principal)


def find_reviewed_places(principal: Principal) -> dict[UUID, UUID]:
    """Return the same for places that this person governs or reviews: reviewers see rights, governors change them."""
    return _find_places(filter_reviewed_rows, principal)


def _find_places(rows: Callable[..., Any], principal: Principal) -> dict[UUID, UUID]:
    bases = rows(KnowledgeBase, principal).values_list("pk", "pk")
    folders = rows(Folder, principal).filter(kind=FolderKind.FOLDER).values_list("pk", "knowledge_base_id")
    with_exceptions = rows(Document, principal).filter(access__kind=FolderKind.DOCUMENT, trashed_at=None)
    return dict([*bases, *folders, *with_exceptions.values_list("access_id", "knowledge_base_id")])
