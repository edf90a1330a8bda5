"""The form for completing a question that the business data understood only in part."""

import re

from agent.notices import explain_unread_data
from agent.run_state.run import Run
from agent.run_state.state import ExploreForm
from agent.text.words import find_content_terms
from agent.tools.base import list_enabled_tools
from business.pipeline import HowRead, explain_reading
from business.sources.services import open_source
from copilot_site.lib.errors import NotFound
from knowledge.text.language import detect_language

QUERY = "database_query"
_ASKS_OTHERWISE = re.compile(r"how|why|when|where|.*(?:怎么|怎样|如何|为什么|多久).*", re.IGNORECASE)
MIN_UNDERSTOOD = (
    0.5  # share of a question's words of matter, in characters, from which the form stands beside passages; by hand
)


def read_question_by_words(run: Run, text: str = "") -> HowRead:
    """Return how the person's data sources understand the question, or a part of it, by its words; why in the run's language."""
    return explain_reading(run.principal, text or run.state.input.normalized_query, run.language, run.data)


def offer_form(run: Run) -> None:
    """Offer the form beside passages where the data understood most of the question's words, naming the word they lack."""
    form = _find_completion_form(run)
    if form is None or (run.is_by_words and not run.asks_tables_alone and not _is_mostly_understood(run)):
        return
    run.state.plan.explore = form
    explain_unread_data(run)


def explain_unread_question(run: Run) -> None:
    """Offer the form where nothing was found, and say why the data do not answer."""
    run.state.plan.explore = _find_completion_form(run)
    explain_unread_data(run)


def _find_completion_form(run: Run) -> ExploreForm | None:
    form = run.state.plan.explore
    if form is None and run.is_by_words and QUERY in list_enabled_tools(run.profile.tools):
        run.how_read = run.how_read or read_question_by_words(run)
        if (unread := run.how_read.unread) is not None and _may_query_source(run, unread[0]):
            return ExploreForm(source=unread[0], query=unread[1].partial, why=[unread[1].why])
    return form


def _is_mostly_understood(run: Run) -> bool:
    unread = run.how_read.unread if run.how_read else None
    if unread is None or unread[1].partial is None or any(map(_ASKS_OTHERWISE.fullmatch, unread[1].unknown)):
        return False
    text = run.state.input.normalized_query
    asked = (
        len(text)
        if detect_language(text) == "zh"
        else sum(len(word) for word in text.split() if find_content_terms(word))
    )
    return sum(map(len, unread[1].unknown)) <= (1 - MIN_UNDERSTOOD) * asked


def _may_query_source(run: Run, source: str) -> bool:
    """Return whether the person may still query the source, which they could when its words were read."""
    try:
        open_source(run.principal, source, run.data)
    except NotFound:
        return False
    return True
