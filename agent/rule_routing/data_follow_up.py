"""What a question that goes on from the one before it asks of the business data: the query that stands, with one part changed."""

from dataclasses import dataclass, field

from django.utils.translation import override

from agent.rule_routing.context_dependence import Lean, leaning_of
from authz.principal import Principal
from business.data_scope import ALL_DATA, DataScope
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import sentence
from business.parsing.base import Clarification, Unparseable
from business.parsing.reader.changes import changed
from business.parsing.reader.items import items_of
from business.parsing.reader.leads import lead_of
from business.pipeline import Question
from business.sources import OpenSource, open_source
from copilot_site.lib.errors import NotFound
from knowledge.text.language import language_of

Standing = tuple[str, LogicalQuery]
"""A source by its name, and the query that a conversation stands on."""


@dataclass(frozen=True)
class FollowUp:
    """question: what it now stands for, in words; "" where it is not certain. query: what that asks; None for another topic.

    readings: where it is not certain, what may be meant, with its query.
    """

    question: str = ""
    query: Standing | None = None
    readings: dict[str, Standing] = field(default_factory=dict)


def follow_up(principal: Principal, asked: str, earlier: Standing, scope: DataScope = ALL_DATA) -> FollowUp | None:
    """None where the question is one of its own. earlier: under the rights of now; from what may not be asked any more, or is out of the
    scope, nothing goes on.
    """
    source, standing = earlier
    try:
        opened = open_source(principal, source, scope)
    except NotFound:
        return None
    language = language_of(asked) or "en"
    question = Question(asked, language, earlier)
    with override("zh-hans" if language == "zh" else "en"):
        parsed = changed(asked, standing, opened.lexicon, question.context(opened))
    if isinstance(parsed, LogicalQuery):
        return FollowUp(sentence(parsed, opened.catalog, language, opened.today), (source, parsed))
    if isinstance(parsed, Clarification):
        readings = {choice.text: (source, choice.query) for choice in parsed.choices if choice.query is not None}
        return FollowUp(readings=readings)
    lead = lead_of(asked)
    if isinstance(
        parsed, Unparseable
    ):  # “And how many days of leave are there?” is about something else, “the senior one” is not
        is_other = parsed.unknown and not lead.refers and leaning_of(lead.rest).how is Lean.NONE
        return FollowUp(lead.rest) if is_other else FollowUp()
    return FollowUp() if _is_part(asked, opened) else None


def _is_part(asked: str, opened: OpenSource) -> bool:
    """Whether it asks nothing by itself: a correction, or words of these data alone that nobody knows how to go on with."""
    how = leaning_of(asked).how
    return how is Lean.CORRECTS or (
        how is Lean.PART and all(item.is_known for item in items_of(asked, opened.lexicon, opened.today))
    )
