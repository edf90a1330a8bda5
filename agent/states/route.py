"""Choose the route of a question: to the model, or by rules where there is none or it fails."""

from collections.abc import AsyncIterator, Callable

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent import texts
from agent.conversations.history import Earlier, find_earlier_question
from agent.events import AgentQuery, Event, Thinking
from agent.evidence.items import make_verified_finding
from agent.passages.follow_ups import find_requested_language
from agent.passages.rules import Ruling, is_greeting
from agent.run_state.run import Goto, Run
from agent.run_state.state import Plan, Route, State
from agent.run_state.threads import run_cpu_bound_call
from agent.states.query import TOOL as QUERY
from agent.states.route_by_rules import Decision, choose_next_state, decide_by_rules
from agent.tools.base import list_enabled_tools
from agent.verified_answers.matching import find_statement_for_question, find_verified_answer
from agent.workflow import add_trace_step

READINGS = 3
VERIFIED = "verified"  # intent of a question whose answer somebody verified


async def route(run: Run) -> AsyncIterator[Event | Goto]:
    """Choose the route. With a model: search first and let it answer; what is settled without a model never reaches it."""
    earlier = await sync_to_async(_load_earlier_question)(run) if run.is_follow_up else None
    if earlier is not None and (language := find_requested_language(run.state.input.normalized_query)):
        _repeat_in_language(run, language, earlier)
        earlier = None
    is_verified = not run.allowed_call and await run_cpu_bound_call(
        _add_verified_answer, run, is_whole=not run.is_follow_up
    )
    is_told = is_verified or (not run.allowed_call and await sync_to_async(_has_verified_statement)(run))
    is_known = is_told or (not run.allowed_call and _use_chosen_meaning(run, earlier))
    converses = not run.is_by_words and not _needs_no_model(run.state.input.normalized_query)
    decide, compared = _choose_classifier(run, is_known=is_known, converses=converses), run.asked_of_documents
    question, ruling, steps = await sync_to_async(decide)(run, earlier)
    _store_decision(run, question, ruling)
    is_new = run.is_follow_up or run.asked_of_documents != compared
    if not is_told and is_new and ruling.route in (Route.DOC, Route.HYBRID):
        await run_cpu_bound_call(_add_verified_answer, run)
    if (is_known and not is_verified) or (run.logical_query and ruling.route is Route.SQL):
        next_state = State.QUERY
    elif is_verified or converses or (run.goes_on and not run.is_by_words):
        next_state = State.RETRIEVE
    else:
        next_state = await sync_to_async(choose_next_state)(run, steps)
    add_trace_step(
        run,
        State.ROUTE,
        action="route_by_model" if converses else "route_by_rules",
        in_={"user": run.principal.username},
        out={"route": run.state.plan.route, "intent": ruling.intent},
    )
    for notice in run.fresh_notices():
        yield notice
    if run.is_follow_up:
        yield AgentQuery(content=question, done=True)
    if run.state.plan.subtasks:
        yield Thinking(content=_describe_plan(run), done=True)
    yield Goto(next_state)


def _choose_classifier(run: Run, *, is_known: bool, converses: bool) -> Callable[[Run, Earlier | None], Decision]:
    """Choose who classifies the question. is_known: its text is known already. converses: a model reads it."""
    if run.allowed_call:
        return _decide_for_approved_call
    if is_known:
        return _decide_as_verified
    return _decide_for_model if converses else decide_by_rules


def _store_decision(run: Run, question: str, ruling: Ruling) -> None:
    """Store the decision; a question back from the data meanwhile stays."""
    meant, form = run.state.plan.clarifying_queries, run.state.plan.explore
    run.state.input.normalized_query, run.expression = question, ruling.expression
    run.state.plan = Plan(
        route=ruling.route,
        intent=ruling.intent,
        clarifying_questions=list(ruling.readings[:READINGS]),
        clarifying_queries=meant,
        explore=form,
    )


def _needs_no_model(question: str) -> bool:
    """Return whether no model is needed to decide: a greeting, or a language for the last answer."""
    return bool(is_greeting(question) or find_requested_language(question))


def _repeat_in_language(run: Run, language: str, earlier: Earlier) -> None:
    """Ask the question before again, to be answered in this language."""
    run.answers_in, run.language = language, "zh-hans" if language == "zh" else "en"
    run.state.input.normalized_query, run.earlier_query = earlier.question, None
    if run.is_by_words:
        with override(run.language):
            run.tell(str(texts.QUOTED_AS_WRITTEN))


def _describe_plan(run: Run) -> str:
    with override(run.language):
        heads = {"knowledge_search": _("First the documents:"), "database_query": _("Then the business data:")}
    return "\n".join(f"{heads[step.tool]} {step.question}" for step in run.state.plan.subtasks)


def _has_verified_statement(run: Run) -> bool:
    """Return whether a keeper of the data has verified a query for this question, which then decides the route."""
    question = run.state.input.normalized_query
    known = (
        find_statement_for_question(run.principal, question, run.data)
        if QUERY in list_enabled_tools(run.profile.tools)
        else None
    )
    return known is not None and bool(known.sql)


def _add_verified_answer(run: Run, *, is_whole: bool = True) -> bool:
    """Add the closest verified answer as the first evidence; return whether it answers the same question.

    is_whole: the question is complete in itself; else only one with the same words is used.
    """
    if run.attached.asked_with or run.asks_tables_alone or run.verified is not None:
        return False
    match = find_verified_answer(run.principal, run.asked_of_documents, run.scope)
    if match is not None and (match.is_same or is_whole):
        run.add([make_verified_finding(match)])
    return match is not None and match.is_same


def _load_earlier_question(run: Run) -> Earlier | None:
    """Return the question before, and the sources of its answer."""
    earlier = find_earlier_question(run.principal, run.session_id, before=run.message_id)
    run.earlier_query = (
        earlier.query if earlier is not None and QUERY in list_enabled_tools(run.profile.tools) else None
    )
    return earlier


def _use_chosen_meaning(run: Run, earlier: Earlier | None) -> bool:
    """Use the meaning that the person chose from those offered, if any, without parsing its words again."""
    meant = earlier.meant.get(run.state.input.normalized_query) if earlier is not None else None
    if meant is None or QUERY not in list_enabled_tools(run.profile.tools):
        return False
    run.logical_query = meant
    return True


def _decide_as_verified(run: Run, _earlier: Earlier | None) -> Decision:
    kind = Route.DOC if run.verified else Route.SQL
    return run.state.input.normalized_query, Ruling(kind, VERIFIED), None


def _decide_for_model(run: Run, _earlier: Earlier | None) -> Decision:
    """Leave the question as written: the model reads it with the earlier turns."""
    return run.state.input.normalized_query, Ruling(Route.DOC, ""), None


def _decide_for_approved_call(run: Run, _earlier: Earlier | None) -> Decision:
    """Continue where the run stopped to ask the person."""
    return run.state.input.normalized_query, Ruling(Route.DOC, "allowed"), None
