"""The form for completing a question that the business data understood only in part."""

import re

from django.utils.translation import override

from agent import texts
from agent.notices import data_not_read
from agent.passages.rules import matches
from agent.run_state.run import Run
from agent.run_state.state import ExploreForm
from agent.text.words import matter_terms
from agent.tools.base import allowed_names
from business.models import DataSource
from business.pipeline import HowRead, how_read
from business.sources.services import open_source
from copilot_site.lib.errors import NotFound
from knowledge.text.language import language_of

QUERY = "database_query"
_ASKS_OTHERWISE = re.compile(r"how|why|when|where|.*(?:怎么|怎样|如何|为什么|多久).*", re.IGNORECASE)
MIN_UNDERSTOOD = (
    0.5  # share of a question's words of matter, in characters, from which the form stands beside passages; by hand
)


def tell_no_data(run: Run) -> None:
    """Tell who asks for figures of the business that they may query no database, and whom to ask; not whether there is any."""
    databases = DataSource.objects.visible_to(run.principal).filter(document=None)
    if matches("asks_figures", run.state.input.normalized_query) and not databases.exists():
        with override(run.language):
            run.tell(str(texts.NO_DATA_OPEN))


def read_by_words(run: Run, text: str = "") -> HowRead:
    """Return how the data that this person may query read the words of the question, or of a part of it."""
    asked = run.state.input.normalized_query
    return how_read(run.principal, text or asked, language_of(asked) or run.language, run.data)


def offer_form(run: Run) -> None:
    """Offer the form beside passages where the data understood most of the question's words, naming the word they lack."""
    form = _form_of(run)
    if form is None or (run.is_by_words and not run.asks_tables_alone and not _is_mostly_understood(run)):
        return
    run.state.plan.explore = form
    data_not_read(run)


def tell_unread(run: Run) -> None:
    """Offer the form where nothing was found, and say why the data do not answer."""
    run.state.plan.explore = _form_of(run)
    data_not_read(run)


def _form_of(run: Run) -> ExploreForm | None:
    form = run.state.plan.explore
    if form is None and run.is_by_words and QUERY in allowed_names(run.profile.tools):
        run.how_read = run.how_read or read_by_words(run)
        if (unread := run.how_read.unread) is not None and _may_ask(run, unread[0]):
            return ExploreForm(source=unread[0], query=unread[1].partial, why=[unread[1].why])
    return form


def _is_mostly_understood(run: Run) -> bool:
    unread = run.how_read.unread if run.how_read else None
    if unread is None or unread[1].partial is None or any(map(_ASKS_OTHERWISE.fullmatch, unread[1].unknown)):
        return False
    text = run.state.input.normalized_query
    asked = len(text) if language_of(text) == "zh" else sum(len(word) for word in text.split() if matter_terms(word))
    return sum(map(len, unread[1].unknown)) <= (1 - MIN_UNDERSTOOD) * asked


def _may_ask(run: Run, source: str) -> bool:
    """Return whether the person may still query the source, which they could when its words were read."""
    try:
        open_source(run.principal, source, run.data)
    except NotFound:
        return False
    return True
