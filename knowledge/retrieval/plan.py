"""What a search may read and how: who asks, in which scope, and whether one exact pass or the indexes serve it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from authz.folders import folder_ids_with
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document, Folder, FolderLink, TermFrequency

Ids = tuple[UUID, ...]


@dataclass(frozen=True)
class Scope:
    """Narrows a search within what the person may see; it never widens. Empty fields do not narrow.

    folder_ids: with everything below them. language: of the documents, as in `Document.language`.
    """

    knowledge_base_ids: Ids = ()
    folder_ids: Ids = ()
    document_ids: Ids = ()
    language: str = ""


@dataclass(frozen=True)
class Plan:
    """How many chunks the person can see in the scope, and the corpus that weighs the question's terms.

    visible: upper bound of the chunks a pass would read. corpus_chunks, knowledge_base_ids: what document frequencies count.
    """

    visible: int
    corpus_chunks: int
    knowledge_base_ids: Ids


def visible_folders(principal: Principal, scope: Scope) -> QuerySet[Folder]:
    """The folders a search of this person may read, within the scope; with the nodes of documents that have exceptions."""
    folders = Folder.unscoped.filter(pk__in=folder_ids_with(principal, Right.VIEW))
    if scope.knowledge_base_ids:
        folders = folders.filter(knowledge_base_id__in=scope.knowledge_base_ids)
    if scope.folder_ids:
        below = FolderLink.objects.filter(
            ancestor_id__in=scope.folder_ids
        )  # as a set: named folders may lie in each other
        folders = folders.filter(pk__in=below.values("descendant_id"))
    return folders


def visible_ids(principal: Principal, scope: Scope) -> tuple[str, Sequence[Any]]:
    """`visible_folders` as a statement that selects their ids, with its values, to be part of a larger one."""
    if scope.knowledge_base_ids or scope.folder_ids:
        return visible_folders(principal, scope).order_by().values("pk").query.sql_with_params()
    ids = folder_ids_with(principal, Right.VIEW)  # the folders themselves need not be looked up
    return ids.sql, ids.params


def make_plan(principal: Principal, scope: Scope) -> Plan:
    """Count what the person sees; two small sums over the folders."""
    seen = {
        row["knowledge_base_id"]: row["chunks"]
        for row in visible_folders(principal, scope)
        .order_by()
        .values("knowledge_base_id")
        .annotate(chunks=Coalesce(Sum("chunk_count"), 0))
    }
    corpus = Folder.unscoped.filter(knowledge_base_id__in=list(seen)).aggregate(chunks=Coalesce(Sum("chunk_count"), 0))
    return Plan(visible=sum(seen.values()), corpus_chunks=corpus["chunks"], knowledge_base_ids=tuple(seen))


def is_nothing_in(principal: Principal, scope: Scope) -> bool:
    """Does a scope narrow down to nothing: no document in it that answers and that this person may see?"""
    if scope == Scope():
        return False
    documents = Document.objects.visible_to(principal).filter(current_version__isnull=False)
    documents = documents.filter(access_id__in=visible_folders(principal, scope).order_by().values("pk"))
    if scope.document_ids:
        documents = documents.filter(pk__in=scope.document_ids)
    if scope.language:
        documents = documents.filter(language=scope.language)
    return not documents.exists()


def document_frequencies(plan: Plan, term_ids: Sequence[int]) -> dict[int, int]:
    """{term id: chunks of the corpus that hold it}; terms that occur nowhere are missing."""
    rows = (
        TermFrequency.unscoped.filter(Q(knowledge_base_id__in=plan.knowledge_base_ids), term_id__in=set(term_ids))
        .values("term_id")
        .annotate(total=Sum(F("chunks")))
        .filter(total__gt=0)
    )
    return {row["term_id"]: row["total"] for row in rows}
