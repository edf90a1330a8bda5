"""A question that documents did not answer and whose words are the data's, too: why the data do not answer it, and the form for it."""

from django.utils.translation import override

from agent import texts
from agent.state import ExploreForm, Run
from agent.states.query import TOOL
from agent.tools.base import allowed_names
from business.pipeline import unread
from knowledge.text.language import language_of


def tell_unread(run: Run) -> None:
    """Where the words alone chose documents, and the data were not asked: they would have said why they cannot answer."""
    plan, asked = run.state.plan, run.state.input.normalized_query
    is_by_words = run.model is None or run.model_gave_up
    if plan.explore is not None or not is_by_words or TOOL not in allowed_names(run.profile.tools):
        return
    found = unread(run.principal, asked, language_of(asked) or run.language)
    if found is None:
        return
    opened, failed = found
    plan.explore = ExploreForm(source=opened.source.name, query=failed.partial, why=[failed.why])
    with override(run.language):
        run.tell(str(texts.DATA_UNREAD) % {"why": failed.why})
