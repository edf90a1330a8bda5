"""Decide what kind of question it is: by the model, or by rules where there is none or it fails."""

from collections.abc import AsyncIterator
from typing import Literal

from asgiref.sync import sync_to_async
from pydantic import BaseModel, Field

from agent.events import AgentQuery, Event
from agent.history import understood
from agent.notices import model_failed
from agent.prompting import prompt
from agent.providers.base import ModelError
from agent.providers.structured import ask_for
from agent.revocation import require_visible
from agent.rules import Ruling, rule, standalone
from agent.state import Goto, Plan, Route, Run, State
from agent.tools.base import ToolMistake, find
from agent.workflow import add_trace
from knowledge.ingestion.language import language_of

READINGS = 3


class RouteAnswer(BaseModel):
    """What the model is asked to write; every field but the route may be missing."""

    route: Literal["DOC", "SQL", "CALC", "HYBRID", "CLARIFY", "REFUSE"]
    question: str = ""
    intent: str = ""
    expression: str = ""
    readings: list[str] = Field(default_factory=list)


async def route(run: Run) -> AsyncIterator[Event | Goto]:
    """Complete the question with what it leans on, and choose the way."""
    by_model = await _by_model(run) if run.model else None
    question, ruling = by_model or await sync_to_async(_by_rules)(run)
    run.state.input.normalized_query = question
    run.state.plan = Plan(
        route=ruling.route, intent=ruling.intent, clarifying_questions=list(ruling.readings[:READINGS])
    )
    run.expression = ruling.expression
    add_trace(
        run,
        State.ROUTE,
        action="route_by_model" if by_model else "route_by_rules",
        in_={"user": run.principal.username},
        out={"route": ruling.route, "intent": ruling.intent},
    )
    for notice in run.fresh_notices():
        yield notice
    if run.is_follow_up:
        yield AgentQuery(content=question, done=True)
    yield Goto(await sync_to_async(_way)(run))


async def _by_model(run: Run) -> tuple[str, Ruling] | None:
    """None where the model fails: the run goes on without it."""
    assert run.model is not None
    asked = run.state.input.normalized_query
    system = run.use(prompt("route", language_of(asked) or run.language))
    await sync_to_async(require_visible)(run)
    messages = [{"role": "system", "content": system}, *(turn.as_message() for turn in run.history)]
    try:
        answer, _replies = await ask_for(run.model, [*messages, {"role": "user", "content": asked}], RouteAnswer)
    except ModelError as error:
        model_failed(run, error, State.ROUTE)
        return None
    readings = tuple(text.strip() for text in answer.readings if text.strip())
    kind = Route(answer.route)
    if kind is Route.CLARIFY and len(readings) < 2:  # without choices a question back is only a delay
        kind = Route.DOC
    intent = "_".join(answer.intent.lower().split())[:60]
    return answer.question.strip()[:2_000] or asked, Ruling(kind, intent, answer.expression, readings)


def _by_rules(run: Run) -> tuple[str, Ruling]:
    asked = run.state.input.normalized_query
    earlier = understood(run.session_id, before=run.message_id) if run.is_follow_up else ""
    question = standalone(asked, earlier)
    return question, rule(question, earlier=earlier)


def _way(run: Run) -> State:
    """The state that the route leads to. A question about numbers without a data source is looked up in documents."""
    fixed = {Route.CLARIFY: State.CLARIFY, Route.REFUSE: State.REFUSE, Route.CALC: State.CALCULATE}
    kind = run.state.plan.route
    if kind in fixed:
        return fixed[kind]
    if run.model and not run.model_gave_up and run.profile.uses_tools:
        return State.ACT
    return State.QUERY if kind is Route.SQL and _has_business_data(run) else State.RETRIEVE


def _has_business_data(run: Run) -> bool:
    try:
        return find("database_query").why_not(run.principal) is None
    except ToolMistake:
        return False
