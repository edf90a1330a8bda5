"""Decide what kind of question it is: by the model, or by rules where there is none or it fails."""

import re
from collections.abc import AsyncIterator
from typing import Any, Literal

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override
from pydantic import BaseModel, Field, model_validator

from agent import texts
from agent.conversations.history import Earlier, understood
from agent.events import AgentQuery, Event, Thinking
from agent.notices import model_failed, model_unread
from agent.passages.follow_ups import language_asked
from agent.passages.rules import GREETING, Ruling, Steps, is_greeting
from agent.prompting import prompt
from agent.providers.base import ModelError, ModelUnreadable
from agent.providers.structured import ask_for
from agent.revocation import require_visible
from agent.run import Goto, Run
from agent.state import Plan, Route, State
from agent.states.query import TOOL as QUERY
from agent.states.route_by_rules import Decision, by_rules, way
from agent.tools.base import allowed_names
from agent.workflow import add_trace
from business.confirmed import confirmed_for
from knowledge.text.language import language_of

READINGS = 3
_NO_WORD = re.compile(r"[^a-z\u4e00-\u9fff]+")


class RouteAnswer(BaseModel):
    """What the model is asked to write; every field but the route may be missing, or be something else."""

    route: Literal["DOC", "SQL", "CALC", "HYBRID", "TALK", "CLARIFY", "REFUSE"]
    question: str = ""
    intent: str = ""
    expression: str = ""
    readings: list[str] = Field(default_factory=list)
    title: str = ""
    documents: str = ""
    data: str = ""

    @model_validator(mode="before")
    @classmethod
    def _as_far_as_it_fits(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        texts: dict[str, Any] = {name: value for name, value in given.items() if isinstance(value, str)}
        readings = given.get("readings")
        if isinstance(readings, list):
            texts["readings"] = [value for value in readings if isinstance(value, str)]
        else:
            texts.pop("readings", None)
        return texts | {"route": texts.get("route", "").strip().upper()}


async def route(run: Run) -> AsyncIterator[Event | Goto]:
    """Complete the question with what it leans on, and choose the way."""
    earlier = await sync_to_async(_earlier)(run) if run.is_follow_up else None
    if earlier is not None and (language := language_asked(run.state.input.normalized_query)):
        _ask_in(run, language, earlier)
        earlier = None
    is_confirmed = not run.allowed_call and await sync_to_async(_is_confirmed)(run)
    is_chosen = not run.allowed_call and _choose(run, earlier)
    asks = (
        not is_confirmed
        and not is_chosen
        and not run.allowed_call
        and not is_greeting(run.state.input.normalized_query)
        and not language_asked(run.state.input.normalized_query)
    )
    by_model = await _by_model(run) if run.model and asks else None
    otherwise = _as_allowed if run.allowed_call else _as_asked if is_confirmed or is_chosen else by_rules
    question, ruling, steps = by_model or await sync_to_async(otherwise)(run, earlier)
    run.state.input.normalized_query = question
    meant, form = run.state.plan.clarifying_queries, run.state.plan.explore
    run.state.plan = Plan(
        route=ruling.route,
        intent=ruling.intent,
        clarifying_questions=list(ruling.readings[:READINGS]),
        clarifying_queries=meant,
        explore=form,
    )
    if by_model:
        run.state.plan.leans_on = sorted({pk for turn in run.history for pk in turn.stands_on})
        run.state.plan.leans_on_results = sorted({one.key for turn in run.history for one in turn.queried})
    run.expression = ruling.expression
    goes_straight = is_confirmed or (run.logical_query and ruling.route is Route.SQL)
    next_state = State.QUERY if goes_straight else await sync_to_async(way)(run, steps)
    add_trace(
        run,
        State.ROUTE,
        action="route_by_model" if by_model else "route_by_rules",
        in_={"user": run.principal.username},
        out={"route": run.state.plan.route, "intent": ruling.intent},
    )
    for notice in run.fresh_notices():
        yield notice
    if run.is_follow_up:
        yield AgentQuery(content=question, done=True)
    if run.state.plan.subtasks:
        yield Thinking(content=_told(run), done=True)
    yield Goto(next_state)


def _ask_in(run: Run, language: str, earlier: Earlier) -> None:
    """Ask the question before once more, to be answered in this language."""
    run.answers_in, run.language = language, "zh-hans" if language == "zh" else "en"
    run.state.input.normalized_query, run.earlier_query = earlier.question, None
    if run.is_by_words:
        with override(run.language):
            run.tell(str(texts.QUOTED_AS_WRITTEN))


def _told(run: Run) -> str:
    """The plan in words."""
    with override(run.language):
        heads = {"knowledge_search": _("First the documents:"), "database_query": _("Then the business data:")}
    return "\n".join(f"{heads[step.tool]} {step.question}" for step in run.state.plan.subtasks)


async def _by_model(run: Run) -> Decision | None:
    """None where the model fails: the run goes on without it. One that only writes no JSON may still write the answer."""
    assert run.model is not None
    asked = run.state.input.normalized_query
    language = language_of(asked) or run.language
    system = run.use(prompt("route", language)) + run.attached.told(language, use=run.use)
    await sync_to_async(require_visible)(run)
    messages = [{"role": "system", "content": system}, *(turn.as_message() for turn in run.history)]
    try:
        answer, _replies = await ask_for(run.model, [*messages, {"role": "user", "content": asked}], RouteAnswer)
    except ModelUnreadable as error:
        model_unread(run, error)
        return None
    except ModelError as error:
        model_failed(run, error, State.ROUTE)
        return None
    run.title = answer.title.strip()
    readings = tuple(text.strip() for text in answer.readings if text.strip())
    if answer.route == "TALK":
        return asked, Ruling(Route.CLARIFY, GREETING), None
    kind = Route(answer.route)
    if kind is Route.CLARIFY and len(readings) < 2:  # without choices a question back is only a delay
        kind = Route.DOC
    intent = _NO_WORD.sub("_", answer.intent.lower()).strip("_")[:60]  # it is traced: no numbers, nothing to quote
    steps = None
    if kind is Route.HYBRID and answer.documents.strip() and answer.data.strip():
        steps = Steps(answer.documents.strip()[:2_000], answer.data.strip()[:2_000])
    return answer.question.strip()[:2_000] or asked, Ruling(kind, intent, answer.expression, readings), steps


def _is_confirmed(run: Run) -> bool:
    """Whether somebody who manages the data has said what answers this question; then nobody else decides how it is read."""
    question = run.state.input.normalized_query
    confirmed = confirmed_for(run.principal, question, run.data) if QUERY in allowed_names(run.profile.tools) else None
    return confirmed is not None and bool(confirmed.sql)


def _earlier(run: Run) -> Earlier | None:
    """The question before; what its answer stands on is what this one may go on from."""
    earlier = understood(run.principal, run.session_id, before=run.message_id)
    run.earlier_query = earlier.query if earlier is not None and QUERY in allowed_names(run.profile.tools) else None
    return earlier


def _choose(run: Run, earlier: Earlier | None) -> bool:
    """Whether the person chose one of the meanings that were offered: then it is asked, without reading its words again."""
    meant = earlier.meant.get(run.state.input.normalized_query) if earlier is not None else None
    if meant is None or QUERY not in allowed_names(run.profile.tools):
        return False
    run.logical_query = meant
    return True


def _as_asked(run: Run, _earlier: Earlier | None) -> Decision:
    return run.state.input.normalized_query, Ruling(Route.SQL, "confirmed"), None


def _as_allowed(run: Run, _earlier: Earlier | None) -> Decision:
    """It goes on where it stopped to ask the person."""
    return run.state.input.normalized_query, Ruling(Route.DOC, "allowed"), None
