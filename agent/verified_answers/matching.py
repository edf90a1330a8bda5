"""Find the verified answer for a question; it precedes search results."""

from collections.abc import Collection
from functools import partial
from uuid import UUID

import structlog
from django.contrib.auth.models import User
from django.db.models import Case, Exists, FloatField, OuterRef, Q, QuerySet, Value, When
from django.db.models.expressions import RawSQL
from django.utils.timezone import localtime
from pgvector.django import CosineDistance

from agent.models import VerifiedAnswer, VerifiedSource, VerifiedWording
from agent.models.verified_answers import build_validity_filter
from agent.run_state.verified_match import SOURCE, VerifiedMatch, VerifiedPassage
from agent.verified_answers.review import find_answer_fault
from agent.verified_answers.wordings import hash_question
from authz.principal import Principal
from business.models import DataSource
from business.parsing.base import Example
from business.results.visibility import Queried
from business.sources.data_scope import ALL_DATA, DataScope
from business.sources.services import OpenSource, open_source, open_sources
from business.statements.examples import readable_examples
from business.statements.verified_sql import Statement, VerifiedSql, find_verified_statement
from copilot_site.lib.errors import NotFound
from knowledge.embedding.base import EmbeddingError
from knowledge.retrieval.engine import load_sentence_embedder
from knowledge.retrieval.plan import Scope, build_visibility_statement, select_documents
from knowledge.selectors import ShownPassage, list_document_passages, list_visible_passages

log = structlog.get_logger(__name__)
NEAR = 0.9  # cosine of two questions. It finds 11 of 15 paraphrases, and 9 of 15 other questions ("annual", "sick leave"): by hand
LOOKED_AT = 3  # wordings to check, nearest first: the first with unchanged sources is used
MAX_STATEMENTS = 200  # the newest of one source; the guard looks at each once


def find_verified_answer(principal: Principal, question: str, scope: Scope) -> VerifiedMatch | None:
    """Return the verified text closest to a question that this person may see within the scope.

    None where there is none.
    """
    if not VerifiedWording.objects.filter(answer__folder__isnull=False).exists():  # nothing to embed a question for
        return None
    key = hash_question(question)
    for wording in _find_nearest_wordings(principal, question, key, scope)[:LOOKED_AT]:
        if not find_answer_fault(wording.answer):
            return _make_match(principal, wording.answer, is_same=wording.key == key)
    return None


def _find_nearest_wordings(principal: Principal, question: str, key: str, scope: Scope) -> QuerySet[VerifiedWording]:
    """Return the wordings with the same words, then the nearest; rights, scope and order are one query."""
    is_same = Case(
        When(key=key, then=Value(1.0)), default=_build_cosine_expression(question), output_field=FloatField()
    )
    visible = VerifiedAnswer.objects.visible_to(principal).filter(
        build_validity_filter(), _build_scope_filter(principal, scope)
    )
    rows = VerifiedWording.objects.filter(answer__in=visible).annotate(score=is_same).filter(score__gte=NEAR)
    return rows.select_related("answer", "answer__verified_by").order_by("-score", "-answer__verified_at")


def _build_cosine_expression(question: str) -> Case:
    """Return the cosine of a wording in the current space; 0 for one in another space, and where the embedder fails."""
    embedder = load_sentence_embedder()
    nothing = Value(0.0, FloatField())
    try:
        vector = embedder.embed_query(question)
    except EmbeddingError as error:
        log.warning("verified_answer.not_embedded", error=str(error))
        return Case(default=nothing)
    near = When(space=embedder.space, then=1.0 - CosineDistance("vector", vector))
    return Case(near, default=nothing, output_field=FloatField())


def _build_scope_filter(principal: Principal, scope: Scope) -> Q:
    """Return a filter for texts in folders of the scope, all of whose documents are in it."""
    texts = Q(folder__isnull=False)
    if scope == Scope():
        return texts
    folders, values = build_visibility_statement(principal, scope)
    beyond = VerifiedSource.objects.filter(answer=OuterRef("pk")).exclude(
        document__in=select_documents(principal, scope)
    )
    in_folders = Q(folder_id__in=RawSQL(folders, values))  # noqa: S611 - made of constants; values are bound
    return texts & in_folders & ~Q(Exists(beyond))


def _make_match(principal: Principal, answer: VerifiedAnswer, *, is_same: bool) -> VerifiedMatch | None:
    sources = list(answer.sources.select_related("document", "data_source"))
    found = {
        item.chunk_id: item
        for item in list_visible_passages(principal, [one.chunk_id for one in sources if one.chunk_id])
    }
    cited = [
        _make_cited_passage(principal, item, found.get(item.chunk_id) if item.chunk_id else None)
        for item in sources
        if item.document
    ]
    if None in cited:  # a right ended between the two queries
        return None
    return VerifiedMatch(
        answer.pk,
        answer.question,
        answer.text,
        full_name_of(answer.verified_by),
        localtime(answer.verified_at).date(),
        is_same,
        tuple(item for item in cited if item),
        tuple(item.data_source.name for item in sources if item.data_source),
    )


def _make_cited_passage(
    principal: Principal, source: VerifiedSource, passage: ShownPassage | None
) -> VerifiedPassage | None:
    if source.chunk_id is not None:
        return VerifiedPassage(passage, source.start, source.end) if passage else None
    assert source.document is not None
    first = next(iter(list_document_passages(principal, source.document)), None)
    return VerifiedPassage(first, 0, 0) if first else None


def still_visible(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Return the sources based on verified answers that this person may see now."""
    asked = {one: UUID(one.reach[0].table) for one in queried if one.source == SOURCE and one.reach}
    if not asked:
        return set()
    visible = VerifiedAnswer.objects.visible_to(principal).filter(pk__in=asked.values())
    found = set(visible.values_list("pk", flat=True))
    return {one for one, answer_id in asked.items() if answer_id in found}


def full_name_of(person: User | None) -> str:
    return (person.get_full_name() or person.get_username()) if person else ""


def _list_usable_statements(opened: OpenSource) -> list[VerifiedAnswer]:
    """Return the usable verified statements over an opened source, the newest first."""
    rows = VerifiedAnswer.unscoped.filter(build_validity_filter(), source=opened.source).select_related(
        "source", "verified_by"
    )
    return [row for row in rows.prefetch_related("wordings")[:MAX_STATEMENTS] if not find_answer_fault(row)]


def _build_statements(opened: OpenSource) -> list[Statement]:
    return [
        Statement(
            tuple(item.text for item in row.wordings.all()), row.sql, full_name_of(row.verified_by), row.verified_at
        )
        for row in _list_usable_statements(opened)
    ]


verified_statement = partial(find_verified_statement, statements=_build_statements)
"""(opened sources, question) → the verified statement for it under the rights they were opened with, or None."""


def find_statement_for_question(principal: Principal, question: str, scope: DataScope = ALL_DATA) -> VerifiedSql | None:
    """Return the verified statement for a question, among the sources that this person may query within the scope."""
    known = set(
        VerifiedAnswer.unscoped.filter(build_validity_filter(), source__isnull=False).values_list("source", flat=True)
    )
    if not known:  # nothing to open sources for
        return None
    opened = [item for item in open_sources(principal, scope=scope) if item.source.pk in known]
    return verified_statement(opened, question)


def list_verified_examples(principal: Principal, source: DataSource, scope: DataScope = ALL_DATA) -> list[Example]:
    """Return a source's verified statements that this person's rights of today would run, the newest first.

    None without access.
    """
    try:
        opened = open_source(principal, source.name, scope)
    except NotFound:
        return []
    return readable_examples(opened, [Example(row.question, row.sql) for row in _list_usable_statements(opened)])
