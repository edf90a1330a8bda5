"""The route of a question without a model: by rules, and by whether the business data understand the whole question."""

from agent.conversations.history import Earlier
from agent.data_coverage import QUERY, read_question_by_words
from agent.passages.follow_ups import complete_follow_up, is_follow_up_question
from agent.passages.rules import GOES_ON, UNCLEAR, QuestionSteps, Ruling, classify_question, matches_word_list
from agent.run_state.run import Run
from agent.run_state.state import MeantQuery, Route, State, Subtask
from agent.tools.base import explain_closed_tool, find_tool, list_enabled_tools
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import build_query_sentence
from business.parsing.base import Clarification
from business.pipeline import DataQuestion, HowRead, read_question
from business.sources.services import open_source
from copilot_site.lib.errors import NotFound
from knowledge.text.language import detect_language

Decision = tuple[str, Ruling, QuestionSteps | None]
"""(self-contained question, its route, its steps or None)."""


def decide_by_rules(run: Run, earlier: Earlier | None) -> Decision:
    """Return the complete question and its route.

    A follow-up on a result modifies its query; others take terms from the question before.
    """
    asked = run.state.input.normalized_query
    if earlier is not None and not matches_word_list("in_language", asked):
        if earlier.is_asked_back and is_follow_up_question(asked):  # it is unknown which reading it follows
            return asked, Ruling(Route.CLARIFY, UNCLEAR), None
        if decision := _read_as_query_change(run, asked):
            return decision
        asked = complete_follow_up(asked, earlier.question)

    def is_data(text: str) -> bool:
        read = read_question_by_words(run, text) if _may_query(run) else HowRead()
        if text == asked:
            run.how_read = read
        return read.is_read

    ruling, steps = classify_question(asked, is_data=is_data)
    return asked, ruling, steps


def _read_as_query_change(run: Run, asked: str) -> Decision | None:
    """Return the data's reading of a question as a change of the conversation's query; None where it is not about that."""
    if run.earlier_query is None:
        return None
    source, _standing = run.earlier_query
    language = detect_language(asked) or run.language
    try:
        opened = open_source(run.principal, source, run.data)
    except NotFound:
        return None
    parsed = read_question(opened, DataQuestion(asked, language, run.earlier_query))
    if isinstance(parsed, Clarification):
        queries = {
            one.text: MeantQuery(source=source, query=one.query) for one in parsed.choices if one.query is not None
        }
        run.state.plan.clarifying_queries = queries
        return asked, Ruling(Route.CLARIFY, GOES_ON, readings=tuple(one.text for one in parsed.choices)), None
    if not isinstance(parsed, LogicalQuery):  # “the senior one” refers to the result in an unknown way
        return (asked, Ruling(Route.CLARIFY, UNCLEAR), None) if is_follow_up_question(asked) else None
    run.logical_query = (source, parsed)
    is_whole = parsed == read_question(opened, DataQuestion(asked, language))
    current = asked if is_whole else build_query_sentence(parsed, opened.catalog, language, opened.today)
    return current, Ruling(Route.SQL, GOES_ON), None


def choose_next_state(run: Run, steps: QuestionSteps | None) -> State:
    """Return the state that the route leads to, and store the plan of a question in steps.

    Without data documents are searched.
    """
    fixed = {Route.CLARIFY: State.CLARIFY, Route.REFUSE: State.REFUSE, Route.CALC: State.CALCULATE}
    plan = run.state.plan
    if run.attached.asked_with and plan.route is not Route.REFUSE:
        plan.route = Route.DOC  # a question with a file is about its content
        return State.RETRIEVE
    if plan.route in fixed:
        return fixed[plan.route]
    asks_data = (run.asks_tables_alone or plan.route in (Route.SQL, Route.HYBRID)) and has_business_data(run)
    if run.asks_tables_alone and asks_data:
        plan.route = Route.SQL
    if steps and asks_data:
        plan.route, plan.subtasks = Route.HYBRID, _make_subtasks(steps)
    return State.RETRIEVE if plan.subtasks or not asks_data else State.QUERY


def _make_subtasks(steps: QuestionSteps) -> list[Subtask]:
    return [
        Subtask(tool="knowledge_search", question=steps.documents),
        Subtask(tool=QUERY, question=steps.data, leans_on_first=steps.points_back),
    ]


def _may_query(run: Run) -> bool:
    """Return whether profile and token allow the tool, whatever data there are."""
    return QUERY in list_enabled_tools(run.profile.tools) and run.principal.may_use(find_tool(QUERY).scope)


def has_business_data(run: Run) -> bool:
    """Return whether the profile enables the tool, and there are data that this person may query."""
    return _may_query(run) and explain_closed_tool(find_tool(QUERY), run.principal) is None
