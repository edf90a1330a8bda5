"""What is written of a run: the question before it, the answer and what it cost after it, whichever way it ended."""

import time
from asyncio import CancelledError
from dataclasses import replace
from decimal import Decimal
from uuid import UUID, uuid4, uuid5
from weakref import finalize

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.answer import CitedQuery
from agent.models import Citation, DayOfUse, Message, QueryCitation, Role, Session, StopReason
from agent.profiles import Options, profile_of
from agent.providers.base import ModelMisconfigured
from agent.providers.configured import connect, served_model
from agent.providers.metered import Metered
from agent.runs.admission import admitted
from agent.runs.provenance import made_with, spent_by, stage_scores
from agent.runs.telemetry import export
from agent.sessions import get_session, title_from
from agent.state import Run
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput
from knowledge.ingestion.normalise import normalise
from knowledge.retrieval.search import Scope
from knowledge.selectors import discoverable_for

QUESTION_LENGTH = 4_000  # characters: about four pages; what is longer is a document


class Overtaken(CopilotError):
    """Somebody else has closed this run: its process was taken for dead, or its conversation was deleted."""


def check_question(question: str) -> str:
    """The question as it is stored; raises InvalidInput when there is none, or too much of it."""
    asked = normalise(question).strip()
    if not asked:
        raise InvalidInput(_("Ask a question: the text is empty."))
    if len(asked) > QUESTION_LENGTH:
        raise InvalidInput(
            _("A question has at most %(most)s characters; this one has %(count)s. Upload long texts as documents.")
            % {"most": QUESTION_LENGTH, "count": len(asked)}
        )
    return asked


def begin(
    principal: Principal, session_id: UUID, question: str, *, scope: Scope, language: str, options: Options
) -> Run:
    """Store the question and make the run, which has its place or waits for one (`agent.runs.admission`) until it is over.

    Raises NotFound, InvalidInput, Unavailable, before anything is stored.
    """
    session = get_session(principal, session_id)
    run = Run(
        session_id=session.pk,
        message_id=session.pk,
        principal=principal.signed_in(None),  # it goes on when they sign out; its readers are gone then
        question=check_question(question),
        scope=scope,
        language=language,
        profile=profile_of(options),
        is_follow_up=session.messages.exists(),
        keeps_title=options.disable_title,
        asked_as=options.asked_as,
    )
    give_model(run)
    run.ticket = admitted(principal, has_model=run.model is not None)
    finalize(
        run, run.ticket.leave
    )  # a run that nobody launches, because whoever asked is gone, is forgotten with its place
    try:
        run.message_id = _store_question(run, session)
    except BaseException:
        run.ticket.leave()
        raise
    return run


def answer_to(principal: Principal, session_id: UUID, asked_as: UUID) -> UUID | None:
    """The answer, finished or not, to the question that was asked as this in a conversation of theirs. Raises NotFound."""
    answer_id = _answer_id(get_session(principal, session_id).pk, asked_as)
    return answer_id if Message.objects.filter(pk=answer_id).exists() else None


def _answer_id(session_id: UUID, asked_as: UUID | None) -> UUID:
    """What a client calls its question names an answer in its own conversation only."""
    return uuid5(session_id, str(asked_as)) if asked_as else uuid4()


@transaction.atomic
def _store_question(run: Run, session: Session) -> UUID:
    """Returns the id of the answer to be."""
    answer = Message(id=_answer_id(session.pk, run.asked_as), session=session, role=Role.ASSISTANT, is_complete=False)
    Message.objects.bulk_create([Message(session=session, role=Role.USER, content=run.question), answer])
    detail: dict[str, object] = {"characters": len(run.question)}
    record(run.principal, Action.QUESTION_ASKED, session, run_id=str(answer.pk), detail=detail)
    return answer.pk


def give_model(run: Run) -> None:
    """The run's model, under its budget; none where nothing is configured, its key is lost, or the day's money is spent."""
    try:
        served = served_model(run.profile.model)
    except ModelMisconfigured:
        with override(run.language):
            run.tell(_("The language model cannot be used until an administrator mends it; answers are quotations."))
        return
    if served is None:
        return
    left = _left_of_day(run.principal)
    if left is not None and left <= 0:
        with override(run.language):
            run.tell(_("Today's budget for language models is used up; the answer is quoted from documents."))
        return
    if left is not None:
        budget = run.profile.budget
        cost = left if budget.cost is None else min(left, budget.cost)
        run.profile = replace(run.profile, budget=replace(budget, cost=cost))
    run.model = Metered(connect(served), run.profile.budget, run.spent)


def _left_of_day(principal: Principal) -> Decimal | None:
    """What this person may still cost today; None where there is no limit."""
    most: Decimal | None = settings.LLM["day_cost"]
    if most is None:
        return None
    today = DayOfUse.objects.filter(user_id=principal.user_id, day=timezone.localdate()).first()
    return most - today.cost if today else most


@transaction.atomic
def finish(run: Run, began: float) -> str:
    """Store the answer; returns the conversation's new title, or "" when it had one or wants none.

    Raises Overtaken where it was closed meanwhile, or deleted with its conversation.
    """
    closed = Message.objects.filter(pk=run.message_id, is_complete=False).update(
        content=run.state.output.final_answer, is_complete=True, **_columns(run, began)
    )
    if not closed:
        with override(run.language):
            raise Overtaken(_("This answer was closed before it was complete. Ask again."))
    _cite(run)
    session = Session.objects.get(pk=run.session_id)
    title = "" if session.title or run.keeps_title else title_from(run.title or run.question)
    if title:
        session.title = title
    session.save(update_fields=["title", "updated_at"])
    _count(run)
    _record(run, Outcome.ALLOW if run.stop_reason == StopReason.OK else Outcome.DENY, run.stop_reason, session)
    transaction.on_commit(lambda: export(run), robust=True)
    return title


@transaction.atomic
def fail(run: Run, began: float, error: BaseException) -> str:
    """Close the answer as failed or stopped, unless it is stored already; returns the sentence for the person.

    Sentences that were written before it was stopped stay.
    """
    cancelled = isinstance(error, GeneratorExit | CancelledError)
    run.stop_reason = StopReason.CANCELLED if cancelled else StopReason.TOOL_ERROR
    with override(run.language):
        text = (
            stopped(run.language)
            if cancelled
            else str(error)
            if isinstance(error, CopilotError)
            else _("Something failed on our side; your question is kept. Ask it again in a moment.")
        )
    kept = cancelled and run.answer is not None
    if not kept:
        run.answer = None
    else:
        run.tell(text)
    run.state.output.stop_reason = run.stop_reason
    content = run.answer.text if run.answer else text
    closed = Message.objects.filter(pk=run.message_id, is_complete=False).update(
        content=content, is_complete=True, **_columns(run, began)
    )
    if closed:
        _cite(run)
        _count(run)
        _record(run, Outcome.ERROR, type(error).__name__)
        transaction.on_commit(lambda: export(run), robust=True)
    return text


def _record(run: Run, outcome: Outcome, reason: str, session: Session | None = None) -> None:
    """How it ended, with the evidence that was found for it, whatever the end; what rights took out of it is said apart."""
    items, run_id = run.state.evidence_items, str(run.message_id)
    withheld = [item.evidence_id for item in items if item.authz.result != "allow"]
    if withheld:
        detail: dict[str, object] = {"evidence": withheld}
        record(run.principal, Action.EVIDENCE_FILTERED, outcome=Outcome.FILTERED, run_id=run_id, detail=detail)
    detail = {
        "evidence": [item.evidence_id for item in items if item.authz.result == "allow"],
        "cited": run.answer.evidence_ids if run.answer else [],
        "perm_snapshot_id": run.state.authz.perm_snapshot_id,
        **_cost(run),
    }
    record(
        run.principal, Action.QUESTION_ANSWERED, session, outcome=outcome, reason=reason, run_id=run_id, detail=detail
    )


def stopped(language: str) -> str:
    """What is said where a run was stopped."""
    with override(language):
        return _("Stopped before the answer was complete.")


def _columns(run: Run, began: float) -> dict[str, object]:
    """What a message keeps of a run, however it ended."""
    answer = run.answer
    return {
        "sentences": [{"text": s.text, "citations": list(s.citations)} for s in answer.sentences] if answer else [],
        "stop_reason": run.stop_reason,
        "provider": answer.provider if answer else "",
        "state": run.state.stored()
        | {
            "versions": made_with(run),
            "offers": _offered(run),
            "spent": spent_by(run),
            "scores": stage_scores(run),
        },
        "notice": "\n".join(run.notices),
        "prompts": run.prompts,
        "duration_ms": round((time.monotonic() - began) * 1000),
    }


def _offered(run: Run) -> list[str]:
    """The folders that a refusal named, so that the page can offer to ask for them."""
    if run.stop_reason is not StopReason.PERMISSION_DENIED:
        return []
    return [str(folder.pk) for folder in discoverable_for(run.principal, run.state.input.normalized_query)]


def _cite(run: Run) -> None:
    if run.answer:
        rows = [Citation(message_id=run.message_id, **vars(span)) for span in run.answer.citations]
        Citation.objects.bulk_create(rows)
        QueryCitation.objects.bulk_create(
            query_citation(run.message_id, query, run.state.authz.perm_snapshot_id) for query in run.answer.queries
        )


def query_citation(message_id: UUID, query: CitedQuery, perm_snapshot_id: str) -> QueryCitation:
    """The row of a cited query, with its result."""
    return QueryCitation(
        message_id=message_id,
        number=query.number,
        evidence_id=query.evidence_id,
        source=query.source,
        title=query.title,
        text_hash=query.text_hash,
        perm_snapshot_id=perm_snapshot_id,
        result=query.shown.model_dump(mode="json") if query.shown else None,
    )


def _cost(run: Run) -> dict[str, object]:
    """For the audit: tokens and money; nothing where no model was asked."""
    if not run.spent.tokens:
        return {}
    return {"tokens": [run.spent.input_tokens, run.spent.output_tokens], "cost": str(run.spent.cost)}


def _count(run: Run) -> None:
    """Add the run to its person's day."""
    if not run.spent.tokens:
        return
    today = DayOfUse.objects.filter(user_id=run.principal.user_id, day=timezone.localdate())
    more = {
        "runs": F("runs") + 1,
        "input_tokens": F("input_tokens") + run.spent.input_tokens,
        "output_tokens": F("output_tokens") + run.spent.output_tokens,
        "cost": F("cost") + run.spent.cost,
    }
    if not today.update(**more):
        DayOfUse.objects.get_or_create(user_id=run.principal.user_id, day=timezone.localdate())
        today.update(**more)
