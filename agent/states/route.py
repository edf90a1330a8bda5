"""Choose the way of a question: to the model, or by rules where there is none or it fails."""

from collections.abc import AsyncIterator, Callable

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent import texts
from agent.conversations.history import Earlier, understood
from agent.data_coverage import read_by_words
from agent.events import AgentQuery, Event, Thinking
from agent.evidence import found_verified
from agent.rule_routing.context_dependence import Lean, in_one_text, is_vague, language_asked, leaning_of
from agent.rule_routing.data_follow_up import follow_up
from agent.rule_routing.decomposition import Steps, halves_of, steps_of
from agent.rule_routing.intents import (
    ASKS_NUMBER,
    GOES_ON,
    UNCLEAR,
    UNSAID,
    Ruling,
    asks_for_data,
    is_greeting,
    rule,
)
from agent.run import Goto, Run
from agent.state import ExploreForm, MeantQuery, Plan, Route, State, Subtask
from agent.states.query import TOOL as QUERY
from agent.threads import worked
from agent.tools.base import allowed_names, find, why_closed
from agent.verified_answers.matching import statement_for, verified_for
from agent.workflow import add_trace
from business.pipeline import HowRead, how_read
from knowledge.text.language import language_of

READINGS = 3
VERIFIED = "verified"  # intent of a question whose answer somebody verified
Decision = tuple[str, Ruling, Steps | None]
"""The question, complete in itself; what kind it is; its steps, where it has them."""


async def route(run: Run) -> AsyncIterator[Event | Goto]:
    """Choose the way. With a model that is to search first and let it answer; what is settled without one never reaches it."""
    earlier = await sync_to_async(_earlier)(run) if run.is_follow_up else None
    if earlier is not None and (language := language_asked(run.state.input.normalized_query)):
        _ask_in(run, language, earlier)
        earlier = None
    is_verified = not run.allowed_call and await worked(_add_verified, run, is_whole=not run.is_follow_up)
    is_told = is_verified or (not run.allowed_call and await sync_to_async(_has_statement)(run))
    is_chosen = not run.allowed_call and _choose(run, earlier)
    is_asked_as_it_is = is_told or is_chosen
    converses = not run.is_by_words and not _is_settled(run.state.input.normalized_query)
    decide: Callable[[Run, Earlier | None], Decision] = _by_rules
    if run.allowed_call:
        decide = _as_allowed
    elif is_asked_as_it_is or converses:
        decide = _as_asked if is_asked_as_it_is else _as_written
    question, ruling, steps = await sync_to_async(decide)(run, earlier)
    run.state.input.normalized_query = question
    meant, form = run.state.plan.clarifying_queries, run.state.plan.explore
    run.state.plan = Plan(
        route=ruling.route,
        intent=ruling.intent,
        clarifying_questions=list(ruling.readings[:READINGS]),
        clarifying_queries=meant,
        explore=form,
    )
    run.expression = ruling.expression
    if not is_told and ruling.route in (Route.DOC, Route.HYBRID):
        await worked(_add_verified, run)
    if is_verified:
        way = State.RETRIEVE
    elif is_asked_as_it_is or run.logical_query:
        way = State.QUERY
    elif converses or (run.goes_on and not run.is_by_words):
        way = State.RETRIEVE
    else:
        way = await sync_to_async(_way)(run, steps)
    add_trace(
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
        yield Thinking(content=_told(run), done=True)
    yield Goto(way)


def _is_settled(question: str) -> bool:
    """Whether no model is needed to say what is asked: a greeting, or a language to say the last answer in."""
    return bool(is_greeting(question) or language_asked(question))


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


def _has_statement(run: Run) -> bool:
    """Whether somebody who keeps the data has verified a query for this question; then nobody else decides how it is read."""
    question = run.state.input.normalized_query
    known = statement_for(run.principal, question, run.data) if QUERY in allowed_names(run.profile.tools) else None
    return known is not None and bool(known.sql)


def _add_verified(run: Run, *, is_whole: bool = True) -> bool:
    """Put the verified answer that is nearest to the question first among the evidence; whether it is to the same question.

    is_whole: the question is complete in itself; else only one to the same words is taken.
    """
    if run.attached.asked_with or run.asks_tables_alone or run.verified is not None:
        return False
    match = verified_for(run.principal, run.asked_of_documents, run.scope)
    if match is not None and (match.is_same or is_whole):
        run.add([found_verified(match)])
    return match is not None and match.is_same


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
    kind = Route.DOC if run.verified else Route.SQL
    return run.state.input.normalized_query, Ruling(kind, VERIFIED), None


def _as_written(run: Run, _earlier: Earlier | None) -> Decision:
    """The model reads it as it was written, with what was said before."""
    return run.state.input.normalized_query, Ruling(Route.DOC, ""), None


def _as_allowed(run: Run, _earlier: Earlier | None) -> Decision:
    """It goes on where it stopped to ask the person."""
    return run.state.input.normalized_query, Ruling(Route.DOC, "allowed"), None


def _by_rules(run: Run, earlier: Earlier | None) -> Decision:
    asked = run.state.input.normalized_query
    ruling = rule(asked, earlier=earlier.question if earlier else "")
    if earlier is None or ruling.route in (Route.REFUSE, Route.CALC, Route.CLARIFY):
        return asked, ruling, steps_of(asked)
    told = follow_up(run.principal, asked, run.earlier_query, run.data) if run.earlier_query else None
    if told is not None and not told.question:
        queries = {text: MeantQuery(source=source, query=query) for text, (source, query) in told.readings.items()}
        run.state.plan.clarifying_queries = queries
        if run.earlier_query is not None:
            source, standing = run.earlier_query
            run.state.plan.explore = ExploreForm(source=source, query=standing)
        return asked, Ruling(Route.CLARIFY, UNCLEAR, readings=tuple(told.readings)), None
    if told is not None and told.query is None:
        return told.question, rule(told.question), steps_of(told.question)
    if told is not None:
        run.logical_query = told.query
        return told.question, Ruling(Route.SQL, GOES_ON), None
    return _of_documents(run, asked, earlier, ruling)


def _of_documents(run: Run, asked: str, earlier: Earlier, ruling: Ruling) -> Decision:
    """A question that leans on one which documents answered, or nobody."""
    leaning = leaning_of(asked)
    if earlier.is_asked_back and (leaning.how is not Lean.NONE or is_vague(asked)):
        return asked, Ruling(Route.CLARIFY, UNCLEAR), None
    if leaning.how in (Lean.PART, Lean.POINTS_BACK):  # the data would read one half, and answer that
        run.asks_about = "" if is_vague(asked) else leaning.part
        return in_one_text(asked, earlier.question), Ruling(Route.DOC, GOES_ON), None
    return asked, ruling, steps_of(asked)


def _way(run: Run, steps: Steps | None) -> State:
    """The state that the rules' route leads to, and the plan of a question in steps. Without a data source documents are asked.

    The data are asked whatever they read word for word, whichever kind the words name.
    """
    fixed = {Route.CLARIFY: State.CLARIFY, Route.REFUSE: State.REFUSE, Route.CALC: State.CALCULATE}
    plan, kind, asked = run.state.plan, run.state.plan.route, run.state.input.normalized_query
    if run.attached.asked_with and kind is not Route.REFUSE:
        plan.route = Route.DOC  # whoever attaches a file asks what it says
        return State.RETRIEVE
    if kind in fixed:
        return fixed[kind]
    if run.asks_tables_alone and _has_business_data(run):
        plan.route = Route.SQL
        return State.QUERY
    asks_data = kind in (Route.SQL, Route.HYBRID) or plan.intent != GOES_ON
    has_data = asks_data and _has_business_data(run)
    if kind is Route.DOC:
        steps = None
    reads_all = has_data and _is_read_whole(run)
    if steps and has_data and (reads_all or _is_read(run, steps.documents)):
        steps = None  # nothing that documents are asked
    elif has_data and steps is None and not reads_all and plan.intent in (ASKS_NUMBER, UNSAID):
        steps = halves_of(asked, lambda half: _is_of_data(run, half))
    if steps and has_data:
        plan.route, plan.subtasks = Route.HYBRID, _subtasks(steps)
    if plan.subtasks or not has_data or (kind is Route.DOC and not reads_all):
        return State.RETRIEVE
    if kind is Route.DOC:
        plan.route = Route.SQL
    return State.QUERY


def _is_read_whole(run: Run) -> bool:
    """Whether the data read the question; how they do is kept."""
    run.how_read = read_by_words(run)
    return run.how_read.is_read


def _is_read(run: Run, text: str) -> bool:
    """Whether the data read this part of the question."""
    return _how_read(run, text).is_read


def _is_of_data(run: Run, text: str) -> bool:
    """Whether the data read this part, or it asks for a number in words that all stand for something there: “how many last year”."""
    read = _how_read(run, text)
    return read.is_read or (read.is_known and asks_for_data(text))


def _how_read(run: Run, text: str) -> HowRead:
    language = language_of(run.state.input.normalized_query) or run.language
    return how_read(run.principal, text, language, run.data)


def _subtasks(steps: Steps) -> list[Subtask]:
    return [
        Subtask(tool="knowledge_search", question=steps.documents),
        Subtask(tool=QUERY, question=steps.data, leans_on_first=steps.points_back),
    ]


def _has_business_data(run: Run) -> bool:
    """Whether the profile switches the tool on, and there is something that this person may ask."""
    return QUERY in allowed_names(run.profile.tools) and why_closed(find(QUERY), run.principal) is None
