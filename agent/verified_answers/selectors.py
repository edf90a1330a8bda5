"""Verified answers for keepers, programs and pages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, QuerySet, Value, When

from agent.models import Flag, VerifiedAnswer, VerifiedSource
from agent.models.verified_answers import build_validity_filter
from agent.verified_answers.review import WITH_SOURCES, find_answer_fault
from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import equalise_timing, guarded_manager_of, make_not_found
from business.models import DataSource
from copilot_site.lib.errors import CopilotError
from knowledge.models import Document


def managed_answers_of(principal: Principal) -> QuerySet[VerifiedAnswer]:
    """Return the answers that this person keeps and may see, those to review first."""
    return _sort_for_list(VerifiedAnswer.objects.reachable_by(principal, Right.MANAGE))


def visible_answers_of(principal: Principal) -> QuerySet[VerifiedAnswer]:
    """Return the answers usable for this person, and those that they keep."""
    kept = VerifiedAnswer.objects.reachable_by(principal, Right.MANAGE)
    return _sort_for_list(kept | VerifiedAnswer.objects.visible_to(principal))


def list_verified_questions(principal: Principal, *, most: int = 12) -> list[str]:
    """Return the questions to which a verified answer can be shown to this person now, the latest first."""
    usable = (
        VerifiedAnswer.objects.visible_to(principal)
        .filter(build_validity_filter(), flag="")
        .order_by("-verified_at", "id")
    )
    rows = usable.select_related("source").prefetch_related(WITH_SOURCES)[:most]
    return [row.question for row in rows if _is_unchanged(row)]


def _is_unchanged(row: VerifiedAnswer) -> bool:
    """Return whether nothing an answer stands on has changed; False where its data source cannot be read."""
    try:
        return not find_answer_fault(row)
    except CopilotError:
        return False


def _sort_for_list(rows: QuerySet[VerifiedAnswer]) -> QuerySet[VerifiedAnswer]:
    is_open = Case(When(flag="", then=Value(1)), default=Value(0))
    rows = rows.select_related("folder", "source", "verified_by").prefetch_related(WITH_SOURCES, "wordings")
    return rows.order_by(is_open, "-verified_at", "id")


def get_managed_answer(principal: Principal, answer_id: UUID) -> VerifiedAnswer:
    """Return an answer that this person keeps. Raises NotFound, alike for missing and not theirs."""
    found = (
        guarded_manager_of(VerifiedAnswer)
        .permitted(principal, Right.MANAGE, pk=answer_id)
        .select_related("source")
        .first()
    )
    if found is None:
        equalise_timing(principal, Right.MANAGE, VerifiedAnswer.unscoped.filter(pk=answer_id))
        raise make_not_found(VerifiedAnswer)
    return found


def iterate_evaluation_cases(source: DataSource) -> Iterator[dict[str, str]]:
    """Yield the statements of a source as `evaluate_sql` reads them, the oldest first: id, question, query, db_name."""
    for row in VerifiedAnswer.unscoped.filter(source=source).order_by("verified_at", "id"):
        yield {"id": str(row.pk), "question": row.question, "query": row.sql, "db_name": source.name}


@dataclass(frozen=True)
class ShownAnswer:
    """One of a keeper's list. faults: what to review, in words; "" for nothing.

    documents, data_sources: currently cited.
    """

    row: VerifiedAnswer
    fault: str
    others: tuple[str, ...]
    documents: tuple[Document, ...]
    data_sources: tuple[DataSource, ...]


def iterate_shown_answers(rows: Iterable[VerifiedAnswer]) -> Iterator[ShownAnswer]:
    """Yield rows of `managed_answers_of` or `visible_answers_of`, including changes of sources that no worker has noticed yet."""
    for row in rows:
        fault = row.flag or find_answer_fault(row)
        sources: list[VerifiedSource] = list(row.sources.all())
        yield ShownAnswer(
            row,
            str(Flag(fault).label) if fault else "",
            tuple(wording.text for wording in row.wordings.all() if wording.key != row.question_key),
            tuple(item.document for item in sources if item.document),
            tuple(item.data_source for item in sources if item.data_source),
        )


def record_answers_shown(principal: Principal, shown: Iterable[ShownAnswer]) -> None:
    """Audit the shown texts, which may repeat documents."""
    texts = [item for item in shown if item.row.text]
    if texts:
        evidence = [f"verified:{text.row.pk}" for text in texts]
        documents = sorted({str(document.pk) for text in texts for document in text.documents})
        record_action(principal, Action.EVIDENCE_SHOWN, detail={"evidence": evidence, "documents": documents})
