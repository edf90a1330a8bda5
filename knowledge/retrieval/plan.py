"""The plan of a search: the person, the scope, and whether it uses one exact pass or the indexes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from copilot_site.lib.database import open_prepared_cursor
from knowledge.models import Document
from knowledge.retrieval.conditions import FieldCondition, build_document_filter

Ids = tuple[UUID, ...]


@dataclass(frozen=True)
class Scope:
    """Narrows a search within what the person may see; it never widens. Empty fields do not narrow.

    folder_ids: with everything below them. language: of the documents, as in `Document.language`. metadata: what each of these says
    of a document's fields holds.
    """

    knowledge_base_ids: Ids = ()
    folder_ids: Ids = ()
    document_ids: Ids = ()
    language: str = ""
    metadata: tuple[FieldCondition, ...] = ()


@dataclass(frozen=True)
class SearchPlan:
    """The number of chunks the person can see in the scope, and the corpus that weighs the question's terms.

    visible: upper bound of the chunks a pass would read. corpus_chunks: of the knowledge bases that the person sees something
    of; frequencies: {term id: chunks of these that hold it}, without the terms that occur nowhere. space_id: of the embedding
    space; None while nothing is in it.
    """

    visible: int
    corpus_chunks: int
    frequencies: Mapping[int, int] = field(default_factory=dict)
    space_id: int | None = None

    @property
    def share(self) -> float:
        """Return the share of the corpus that the person sees, 0 … 1."""
        return self.visible / max(self.corpus_chunks, 1)


# Folders as a set: the named ones may lie in each other. As an array they are looked up at once; joined, two are expected.
# A named folder counts only if visible: a hidden one, like a missing one, has nothing below it.
_NARROWED = """
WITH held AS MATERIALIZED ({folders})
SELECT s.id FROM knowledge_folder s WHERE s.id = ANY(ARRAY(SELECT descendant_id FROM held)){base}{below}"""
_IN_BASE = " AND s.knowledge_base_id = ANY(%s::uuid[])"
_BELOW = """ AND s.id IN (
    SELECT w.descendant_id FROM knowledge_folderlink w
    WHERE w.ancestor_id = ANY(%s::uuid[]) AND w.ancestor_id = ANY(ARRAY(SELECT descendant_id FROM held))
)"""
_PLAN = """
WITH seen AS MATERIALIZED (
    SELECT f.knowledge_base_id AS id, sum(f.chunk_count) AS chunks FROM knowledge_folder f
    WHERE f.id = ANY(ARRAY({folders})) GROUP BY 1
), frequency AS MATERIALIZED (
    SELECT t.term_id AS id, sum(t.chunks) AS chunks FROM knowledge_termfrequency t
    WHERE t.knowledge_base_id IN (SELECT id FROM seen) AND t.term_id = ANY(%s::int[]) GROUP BY 1 HAVING sum(t.chunks) > 0
)
SELECT coalesce((SELECT sum(chunks) FROM seen), 0)::bigint,
       coalesce((
           SELECT sum(f.chunk_count) FROM knowledge_folder f WHERE f.knowledge_base_id IN (SELECT id FROM seen)
       ), 0)::bigint,
       ARRAY(SELECT id FROM frequency ORDER BY id), ARRAY(SELECT chunks::bigint FROM frequency ORDER BY id),
       (SELECT e.id FROM knowledge_embeddingspace e WHERE e.name = %s)"""


def build_visibility_statement(principal: Principal, scope: Scope) -> tuple[str, Sequence[Any]]:
    """Return a statement that selects the folders a search of this person may read, within the scope, with its values, to be part of a
    larger one; the nodes of documents that have exceptions are among them.
    """
    ids = select_folder_ids(principal, Right.VIEW)  # without a scope the folders themselves need not be looked up
    if not scope.knowledge_base_ids and not scope.folder_ids:
        return ids.sql, ids.params
    narrow = {
        "base": _IN_BASE if scope.knowledge_base_ids else "",
        "below": _BELOW if scope.folder_ids else "",
    }
    values = [list(named) for named in (scope.knowledge_base_ids, scope.folder_ids) if named]
    return _NARROWED.format(folders=ids.sql, **narrow), [*ids.params, *values]


def make_plan(principal: Principal, scope: Scope, *, term_ids: Sequence[int] = (), space: str = "") -> SearchPlan:
    """Count the visible chunks and look up the term frequencies of the question, in one statement.

    term_ids: of the question. space: name of the embedding space that is searched.
    """
    folders, values = build_visibility_statement(principal, scope)
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(_PLAN.format(folders=folders), [*values, sorted(set(term_ids)), space])
        visible, corpus, terms, chunks, space_id = cursor.fetchone()
    return SearchPlan(visible, corpus, dict(zip(terms, chunks, strict=True)), space_id)


def select_documents(principal: Principal, scope: Scope) -> QuerySet[Document]:
    """Return the documents that a search of this person reads: the visible, answering ones in the scope."""
    folders, values = build_visibility_statement(principal, scope)
    documents = Document.objects.visible_to(principal).filter(current_version__isnull=False)
    documents = documents.filter(access_id__in=RawSQL(folders, values))  # noqa: S611 - made of constants; values are bound
    if scope.document_ids:
        documents = documents.filter(pk__in=scope.document_ids)
    if scope.language:
        documents = documents.filter(language=scope.language)
    return documents.filter(build_document_filter(scope.metadata))


def is_scope_empty(principal: Principal, scope: Scope) -> bool:
    """Tell whether a narrowed scope holds no document for this person."""
    return scope != Scope() and not select_documents(principal, scope).exists()
