"""Store a run at its end, however it ended: the answer, its versions, and its cost."""

import time
from asyncio import CancelledError
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import override

from agent import texts
from agent.events import StopReason
from agent.models import Citation, Message, QueryCitation, Session, VerifiedCitation, WebCitation
from agent.run_state.cited_answer import CitedQuery, CitedSentence
from agent.run_state.measures import count_finished_run
from agent.run_state.run import Run
from agent.runs.telemetry import export_spans
from agent.usage import add_run_usage
from audit.actions import Action, Outcome
from audit.record import record_action
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.version import VERSION


class Overtaken(CopilotError):
    """The run was closed elsewhere: its process was taken for dead, or its conversation was deleted."""


@transaction.atomic
def store_finished_run(run: Run, began: float) -> None:
    """Store the answer.

    Raises Overtaken where the run was closed meanwhile, or deleted with its conversation.
    """
    closed = Message.objects.filter(pk=run.message_id, is_complete=False).update(
        content=run.state.output.final_answer, is_complete=True, **_build_message_columns(run, began)
    )
    if not closed:
        with override(run.language):
            raise Overtaken(str(texts.OVERTAKEN))
    _store_citations(run)
    session = Session.objects.get(pk=run.session_id)
    session.save(update_fields=["updated_at"])
    if run.spent.tokens:
        add_run_usage(run.principal.user_id, run.spent)
    _audit_end(run, Outcome.ALLOW if run.stop_reason == StopReason.OK else Outcome.DENY, run.stop_reason, session)
    _report_on_commit(run, began)


@transaction.atomic
def store_failed_run(run: Run, began: float, error: BaseException) -> str:
    """Close the answer as failed or stopped, unless it is stored already; return the sentence for the person.

    Sentences written before a stop stay.
    """
    cancelled = isinstance(error, GeneratorExit | CancelledError)
    run.stop_reason = StopReason.CANCELLED if cancelled else StopReason.TOOL_ERROR
    with override(run.language):
        text = (
            format_stopped_sentence(run.language)
            if cancelled
            else str(error)
            if isinstance(error, CopilotError)
            else str(texts.FAILED)
        )
    kept = cancelled and run.answer is not None
    if not kept:
        run.answer = None
    else:
        run.tell(text)
    run.state.output.stop_reason = run.stop_reason
    content = run.answer.text if run.answer else text
    closed = Message.objects.filter(pk=run.message_id, is_complete=False).update(
        content=content, is_complete=True, **_build_message_columns(run, began)
    )
    if closed:
        _store_citations(run)
        if run.spent.tokens:
            add_run_usage(run.principal.user_id, run.spent)
        _audit_end(run, Outcome.ERROR, type(error).__name__)
        _report_on_commit(run, began)
    return text


def _report_on_commit(run: Run, began: float) -> None:
    seconds = time.monotonic() - began
    transaction.on_commit(lambda: count_finished_run(run, seconds), robust=True)
    transaction.on_commit(lambda: export_spans(run), robust=True)


def _audit_end(run: Run, outcome: Outcome, reason: str, session: Session | None = None) -> None:
    """Audit the end with the evidence found, however the run ended.

    Evidence removed for lack of rights is recorded separately.
    """
    items, run_id = run.state.evidence_items, str(run.message_id)
    withheld = [item.evidence_id for item in items if item.authz.result != "allow"]
    if withheld:
        detail: dict[str, object] = {"evidence": withheld}
        record_action(run.principal, Action.EVIDENCE_FILTERED, outcome=Outcome.FILTERED, run_id=run_id, detail=detail)
    detail = {
        "evidence": [item.evidence_id for item in items if item.authz.result == "allow"],
        "cited": run.answer.evidence_ids if run.answer else [],
        "perm_snapshot_id": run.state.authz.perm_snapshot_id,
        **_summarise_cost(run),
    }
    record_action(
        run.principal, Action.QUESTION_ANSWERED, session, outcome=outcome, reason=reason, run_id=run_id, detail=detail
    )


def format_stopped_sentence(language: str) -> str:
    """Return the sentence for a stopped run."""
    with override(language):
        return str(texts.STOPPED)


def _build_message_columns(run: Run, began: float) -> dict[str, object]:
    """Return the message's columns for a run, however it ended."""
    answer = run.answer
    return {
        "sentences": [_serialise_sentence(*placed) for placed in enumerate(answer.sentences)] if answer else [],
        "stop_reason": run.stop_reason,
        "provider": answer.provider if answer else "",
        "state": run.state.stored()
        | {
            "versions": collect_versions(run),
            "offers": [str(folder_id) for folder_id in run.offered],
            "spent": summarise_usage(run),
            "scores": collect_stage_scores(run),
        },
        "notice": "\n".join(run.notices),
        "prompts": run.prompts,
        "duration_ms": round((time.monotonic() - began) * 1000),
    }


def _serialise_sentence(place: int, sentence: CitedSentence) -> dict[str, object]:
    """Return a sentence as JSON, without default values of is_checked, gap and slot."""
    kept: dict[str, object] = {"text": sentence.text, "citations": list(sentence.citations)}
    if sentence.slot not in (None, place):
        kept["slot"] = sentence.slot
    if sentence.gap:
        kept["gap"] = sentence.gap
    return kept if sentence.is_checked else {**kept, "is_checked": False}


def _store_citations(run: Run) -> None:
    if run.answer:
        rows = [Citation(message_id=run.message_id, **vars(span)) for span in run.answer.citations]
        Citation.objects.bulk_create(rows)
        QueryCitation.objects.bulk_create(
            make_query_citation(run.message_id, query, run.state.authz.perm_snapshot_id) for query in run.answer.queries
        )
        WebCitation.objects.bulk_create(
            WebCitation(message_id=run.message_id, **vars(page)) for page in run.answer.pages
        )
        VerifiedCitation.objects.bulk_create(
            VerifiedCitation(message_id=run.message_id, **vars(entry)) for entry in run.answer.verified
        )


def make_query_citation(message_id: UUID, query: CitedQuery, perm_snapshot_id: str) -> QueryCitation:
    """Return the row of a cited query, with its result."""
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


def _summarise_cost(run: Run) -> dict[str, object]:
    """Return tokens and money for the audit; empty where no model was used."""
    if not run.spent.tokens:
        return {}
    return {"tokens": [run.spent.input_tokens, run.spent.output_tokens], "cost": str(run.spent.cost)}


def collect_versions(run: Run) -> dict[str, Any]:
    """Return the versions of an answer: names as in the settings, "" for none. prompts: name → hash of the file used."""
    return {
        "product": VERSION,
        "provider": run.answer.provider if run.answer else "",
        "model": run.model.name if run.model else "",
        "profile": run.profile.name,
        "prompts": dict(run.prompts),
        "embedder": settings.EMBEDDER,
        "embedder_model": settings.EMBEDDER_OPTIONS["model"],
        "reranker": settings.RERANKER,
        "reranker_model": settings.RERANKER_MODEL,
    }


def summarise_usage(run: Run) -> dict[str, Any]:
    """Return the run's usage. cost: in the currency of the model's prices, as text.

    stopped_by: the limit reached, "" for none.
    """
    spent = run.spent
    return {
        "steps": spent.steps,
        "tool_calls": spent.tool_calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cached_tokens": spent.cached_tokens,
        "cost": f"{spent.cost.normalize():f}",
        "stopped_by": spent.stopped_by or "",
    }


def collect_stage_scores(run: Run) -> dict[str, dict[str, float]]:
    """Return the scores by search stage of each passage that is still readable, by evidence id."""
    return {
        evidence_id: {
            stage: round(score, 4)
            for stage in ("dense", "lexical", "fused", "rerank")
            if (score := getattr(finding.scores, stage)) is not None
        }
        for evidence_id, finding in run.findings.items()
        if finding.scores is not None
    }
