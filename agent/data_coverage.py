"""How far the business data read a question: whether their answer leaves words of it unread, and what they understand of one that
they do not answer.
"""

from agent.notices import data_not_read
from agent.run import Run
from agent.state import ExploreForm, MeantQuery
from agent.tools.base import allowed_names
from business.logical_query.wording import sentence
from business.parsing.reader.items import items_of
from business.parsing.reader.parser import unknown_in
from business.pipeline import HowRead, how_read
from business.sources import open_source
from copilot_site.lib.errors import NotFound
from knowledge.text.language import language_of

SEARCH, QUERY = "knowledge_search", "database_query"
LEAST_UNDERSTOOD = 0.5  # share of a question, in characters of its words of matter, from which what is understood of it is offered; by hand


def looks_at_documents(run: Run) -> bool:
    """Whether documents are looked at besides the data: always where words alone chose the way, else where the data left words unread.

    Never for what was confirmed, chosen or goes on from a result: that is about the data.
    """
    plan = run.state.plan
    if (
        run.logical_query
        or plan.intent == "confirmed"
        or plan.subtasks
        or SEARCH not in allowed_names(run.profile.tools)
    ):
        return False
    return run.is_by_words or bool(unread_words(run))


def unread_words(run: Run) -> tuple[str, ...]:
    """Words of the question that stand for nothing in the sources that answered it; none where no source did."""
    text = run.state.input.normalized_query
    for name in {finding.item.source.db for finding in run.findings.values() if finding.queried}:
        try:
            opened = open_source(run.principal, name or "", run.data)
        except NotFound:
            continue
        if unknown := unknown_in(items_of(text, opened.lexicon, opened.today), text):
            return unknown
    return ()


def read_by_words(run: Run) -> HowRead:
    """How the words of the question alone are read by the data that this person may ask."""
    asked = run.state.input.normalized_query
    return how_read(run.principal, asked, language_of(asked) or run.language, run.data)


def tell_unread(run: Run) -> None:
    """Why the data do not answer what nothing answers."""
    run.state.plan.explore = _form_of(run)
    data_not_read(run)


def tell_unread_beside_passages(run: Run) -> None:
    """The same below passages that come near, with what the data did understand to choose from. Of a question whose words alone they
    understand less than half of, nothing is said of them: it is no question on data.
    """
    run.state.plan.explore = _form_of(run)
    if run.is_by_words and not run.asks_tables_alone and not _understood_part(run):
        run.state.plan.explore = None
    data_not_read(run)
    offer_understood_part(run)


def _form_of(run: Run) -> ExploreForm | None:
    """What the data understood, and why they do not answer. Where the way was not chosen by whether they read it they are asked now."""
    form = run.state.plan.explore
    if form is None and run.is_by_words and QUERY in allowed_names(run.profile.tools):
        unread = (run.how_read or read_by_words(run)).unread
        if unread is not None and _may_ask(run, unread[0]):
            return ExploreForm(source=unread[0], query=unread[1].partial, why=[unread[1].why])
    return form


def _may_ask(run: Run, source: str) -> bool:
    """Whether the source is still theirs to ask: it was when its words were read."""
    try:
        open_source(run.principal, source, run.data)
    except NotFound:
        return False
    return True


def offer_understood_part(run: Run) -> None:
    """Where neither data nor documents answer, the person may choose what the data did understand, as a complete question."""
    plan = run.state.plan
    plan.clarifying_queries = _understood_part(run)
    plan.clarifying_questions = list(plan.clarifying_queries)


def _understood_part(run: Run) -> dict[str, MeantQuery]:
    form = run.state.plan.explore
    if form is None or form.query is None:
        return {}
    try:
        opened = open_source(run.principal, form.source, run.data)
    except NotFound:
        return {}
    asked = run.state.input.normalized_query
    items = items_of(asked, opened.lexicon, opened.today)
    known = sum(len(item.text) for item in items if item.refs or item.time)
    if known < LEAST_UNDERSTOOD * (known + sum(len(item.text) for item in items if not item.is_known)):
        return {}
    language = language_of(asked) or run.language
    text = sentence(form.query, opened.catalog, language, opened.today)
    return {text: MeantQuery(source=form.source, query=form.query)}
