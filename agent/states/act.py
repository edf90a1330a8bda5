"""The conversation with a model: it gets the evidence, then writes with sources, or calls tools and continues."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from asgiref.sync import sync_to_async

from agent.attribution.answer_language import answer_language_of
from agent.attribution.answer_writer import Writer
from agent.budget import HARD
from agent.dialogue.controls import MAX_READINGS, AskBack, Control, Decline
from agent.dialogue.conversation import Conversation, begin_conversation
from agent.events import Event
from agent.notices import record_reached_limit, report_broken_answer, report_model_failure
from agent.passages.rules import GREETING
from agent.providers.base import Delta, ModelError, ModelFell, ModelRefused
from agent.providers.reply import Reply
from agent.revocation import EvidenceGone, format_unreadable_notice, remove_unreadable_evidence
from agent.run_state.run import Goto, Run
from agent.run_state.state import Route, State, Validation
from agent.run_state.threads import run_cpu_bound_call
from agent.workflow import Together, add_trace_step


async def act(run: Run) -> AsyncIterator[Event | Together | Goto]:
    """Let the model answer.

    Where it fails, the run continues without it; where none of its text stands, with the evidence found.
    """
    conversation, writer = await begin_conversation(run), Writer(run)
    failure: ModelError | None = None
    try:
        async for item in _run_conversation(conversation, writer):
            yield item
    except ModelError as error:
        failure = error
    async for events in writer.settled():
        yield events
    if failure is None:
        for events in writer.results():
            yield events
        await run_cpu_bound_call(writer.compare_sources)
    elif writer.has_sentences:
        report_broken_answer(run, failure)
    else:
        report_model_failure(run, failure)
    for last in writer.closing():
        yield last
    writer.record()
    run.state.plan.route = _classify_route(run, conversation.ended)
    if run.answer is not None:
        run.state.plan.validation = Validation(ok=True)
    yield Goto(_choose_next_state(run, conversation.ended, failed=failure is not None))


async def _run_conversation(conversation: Conversation, writer: Writer) -> AsyncIterator[Event | Together]:
    """Yield turn after turn until the model has written, ended or reached a limit. Raises ModelError, EvidenceGone."""
    run = conversation.run
    if run.allowed_call:
        async for event in conversation.call_allowed(run.allowed_call):
            yield event
    while not conversation.is_over:
        limit = run.spent.limit_reached(run.profile.budget)
        if limit and limit not in HARD and not conversation.must_write:
            record_reached_limit(run, limit)
            conversation.ask_to_write()
        if await sync_to_async(remove_unreadable_evidence)(
            run
        ):  # before each call, so that no right can end between the check and the model's reading
            if writer.has_parts:  # its text may depend on removed evidence
                raise EvidenceGone(format_unreadable_notice(run.language))
            await conversation.begin_again()
            if not run.findings:
                return
        run.spent.steps += 1
        reply, began = Reply(), time.monotonic()
        try:
            async with aclosing(_stream_reply(conversation, reply)) as deltas:
                async for events in writer.written(deltas):
                    yield events
        except (ModelRefused, ModelFell):
            if not conversation.drop_tools(reply):
                raise
            continue
        note = f"calls={len(reply.calls)}"
        add_trace_step(run, State.ACT, action="converse", timing_ms=_elapsed_ms_since(began), out={"note": note})
        is_foreign = writer.is_in_other_language and not writer.has_parts
        async for event in conversation.take(reply, again_in=answer_language_of(run) if is_foreign else ""):
            yield event


async def _stream_reply(conversation: Conversation, reply: Reply) -> AsyncGenerator[Delta, None]:
    """Stream the model's next turn, and collect it in `reply`. Raises ModelError."""
    model = conversation.run.model
    assert model is not None
    async for delta in model.stream(conversation.messages(), tools=conversation.offered):
        reply.take(delta)
        yield delta


def _classify_route(run: Run, ended: Control | None) -> Route:
    """Return the question's route, by what the model did."""
    if isinstance(ended, AskBack):
        return Route.CLARIFY
    if isinstance(ended, Decline) and ended.reason != "not_found":
        return Route.REFUSE if ended.reason == "not_allowed" else Route.CLARIFY
    cited = set(run.answer.evidence_ids) if run.answer else set(run.findings)
    has_result = any(run.findings[key].is_result for key in cited if key in run.findings)
    has_passage = any(not run.findings[key].is_result for key in cited if key in run.findings)
    if has_result:
        return Route.HYBRID if has_passage and run.answer else Route.SQL
    return Route.CALC if run.workings and not (run.answer and run.answer.evidence_ids) else Route.DOC


def _choose_next_state(run: Run, ended: Control | None, *, failed: bool) -> State:
    """Return the next state: done, asking the person, or showing what was found."""
    plan = run.state.plan
    if run.answer is not None:
        return State.DONE
    if failed:
        return State.SYNTHESIZE if any(finding.is_result for finding in run.findings.values()) else State.ROUTE
    if isinstance(ended, AskBack):
        plan.clarifying_questions = [text.strip() for text in ended.readings][:MAX_READINGS]
    elif plan.route is Route.CLARIFY:
        plan.intent = GREETING
    if plan.approval or plan.route is Route.CLARIFY:
        return State.CLARIFY
    if plan.route is Route.REFUSE:
        return State.REFUSE
    return State.CALCULATE if plan.route is Route.CALC and run.expression else State.VALIDATE_EVIDENCE


def _elapsed_ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
