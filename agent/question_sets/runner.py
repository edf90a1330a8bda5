"""A run over a set, one question per task: a worker that dies loses one question, which the next check requeues.

An answer is judged against its case: whether it is as expected, and whether it leaks anything.
"""

import re
import time
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agent.events import StopReason
from agent.models import Case, CaseResult, SetRun
from agent.models.question_sets import CLAIMED_FOR, CaseFault
from agent.oversight.dry_run import DryRun, dry_run_question
from agent.oversight.impersonation import impersonate_user
from agent.profile_choice import build_profile
from agent.profiles.settings import Profile
from authz.principal import Principal
from authz.rights.governing import may_oversee
from copilot_site.lib.errors import CopilotError
from knowledge.models import Document
from knowledge.text.normalise import normalise_text

log = structlog.get_logger(__name__)


def ask_next_question(run_id: UUID) -> bool:
    """Ask one unclaimed question of a run; return whether another task should follow.

    The run is stopped where its starter no longer has the right to impersonate others.
    """
    run = (
        SetRun.objects.select_related("started_by", "profile").filter(pk=run_id, ended_at=None, stopped_at=None).first()
    )
    if run is None:
        return False
    if run.started_by is None or not may_oversee(run.started_by):
        SetRun.objects.filter(pk=run.pk).update(stopped_at=timezone.now())
        return False
    claimed = _claim_case_result(run)
    if claimed is not None:
        _ask_and_judge(run, claimed)
    if not run.results.filter(done_at=None).exists():
        SetRun.objects.filter(pk=run.pk, ended_at=None).update(ended_at=timezone.now())
        return False
    return claimed is not None


@transaction.atomic
def _claim_case_result(run: SetRun) -> CaseResult | None:
    free = Q(claimed_at=None) | Q(claimed_at__lt=timezone.now() - CLAIMED_FOR)
    rows = run.results.filter(free, done_at=None).select_related("case__person")
    row = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if row is not None:
        CaseResult.objects.filter(pk=row.pk).update(claimed_at=timezone.now())
    return row


def _ask_and_judge(run: SetRun, row: CaseResult) -> None:
    """Ask the question as its person, judge the answer, and store the judgement; no text of it."""
    assert run.started_by is not None
    by, case, began = Principal.of(run.started_by), row.case, time.monotonic()
    with impersonate_user(by, case.person, what="ask", text=row.question) as look:
        try:
            trial = dry_run_question(
                look.sees, row.question, language=run.language, withheld=look.withheld, profile=_build_run_profile(run)
            )
        except CopilotError as error:
            log.warning("evaluation.failed", run=str(run.pk), case=str(case.pk), error=type(error).__name__)
            found: dict[str, object] = {"fault": CaseFault.FAILED}
        else:
            found = _judge_answer(row, trial, look.sees)
    took = round((time.monotonic() - began) * 1000)
    CaseResult.objects.filter(pk=row.pk).update(**found, duration_ms=took, done_at=timezone.now())


def _judge_answer(row: CaseResult, trial: DryRun, person: Principal) -> dict[str, object]:
    return {
        "stop_reason": trial.stop_reason,
        "fault": find_case_fault(row.case, trial, list_cited_names(trial, person)),
        "leaks": count_answer_leaks(row.case, trial, person),
        "cost": trial.cost,
    }


def _build_run_profile(run: SetRun) -> Profile | None:
    if run.profile is None:
        return None
    bases = run.profile.knowledge_bases.through.objects.filter(agentprofile=run.profile)
    return build_profile(run.profile, bases.values_list("knowledgebase_id", flat=True))


def normalise_for_comparison(text: str) -> str:
    """Reduce a text to lower-case letters and digits, for comparison with expected answers."""
    return re.sub(r"[\W_]+", "", normalise_text(text).lower())


def find_case_fault(case: Case, trial: DryRun, filenames: Sequence[tuple[str, str]]) -> str:
    """Return the first `Fault` of an answer, or "". filenames: file name and title of each cited document."""
    is_answered = trial.stop_reason == StopReason.OK
    if case.is_answerable is False:
        return CaseFault.ANSWERED if is_answered else ""
    expects = case.is_answerable or case.answers or case.documents
    if expects and not is_answered:
        return CaseFault.NOT_ANSWERED
    text = normalise_for_comparison(trial.text)
    if case.answers and not any(normalise_for_comparison(words) in text for words in case.answers):
        return CaseFault.OTHER_WORDS
    if case.documents and not any(_is_expected_document(names, case.documents) for names in filenames):
        return CaseFault.OTHER_DOCUMENT
    return ""


def count_answer_leaks(case: Case, trial: DryRun, person: Principal) -> int:
    """Count what an answer tells that this person must not be told: forbidden words, and documents they may not read."""
    written = normalise_for_comparison(
        " ".join([trial.text, *(f"{one.title} {one.snippet}" for one in trial.references)])
    )
    words = sum(normalise_for_comparison(text) in written for text in case.forbidden if normalise_for_comparison(text))
    cited = {one.knowledge_id for one in trial.references}
    readable = Document.objects.visible_to(person).filter(pk__in=cited).count()
    return words + len(cited) - readable


def list_cited_names(trial: DryRun, person: Principal) -> list[tuple[str, str]]:
    """Return file name and title of each cited document that the person may read."""
    cited = {one.knowledge_id for one in trial.references}
    return list(Document.objects.visible_to(person).filter(pk__in=cited).values_list("filename", "title"))


def _is_expected_document(names: tuple[str, str], expected: Collection[str]) -> bool:
    """Return whether a document is among these, by title, file name, or file name without ending.

    Only the last part of a path counts.
    """
    filename, title = names
    known = {title.casefold(), filename.casefold(), PurePosixPath(filename).stem.casefold()}
    return any(name.casefold() in known or PurePosixPath(name).name.casefold() in known for name in expected)
