"""Point out sources that wait for their keepers' approval, where their base requires it.

Of two contradicting sources, quote the approved one.
"""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from django.utils.translation import override

from agent import texts
from agent.run_state.cited_answer import CitedAnswer, CitedSentence, CitedSpan
from agent.run_state.run import Finding, Run
from knowledge.selectors import ShownPassage

Passages = Mapping[UUID, ShownPassage]
"""By the ids of their chunks."""


def prefer_approved_sources(answer: CitedAnswer, passages: Passages) -> CitedAnswer:
    """Return a quoted answer with each unapproved sentence replaced by the approved one that contradicts it, if any."""
    spans = {span.number: span for span in answer.citations}
    instead: dict[int, int] = {}
    for one, other in answer.disagreements:
        if _awaits_approval(spans[one], passages) and not _awaits_approval(spans[other], passages):
            instead.setdefault(one, other)
    if not instead:
        return answer
    return replace(
        answer, sentences=tuple(_replace_unapproved(item, instead, spans, passages) for item in answer.sentences)
    )


def _replace_unapproved(
    sentence: CitedSentence, instead: Mapping[int, int], spans: Mapping[int, CitedSpan], passages: Passages
) -> CitedSentence:
    number = instead.get(sentence.citations[0]) if len(sentence.citations) == 1 else None
    if number is None:
        return sentence
    span = spans[number]
    return replace(sentence, text=passages[span.chunk_id].text[span.start : span.end], citations=(number,))


def add_unapproved_notice(run: Run, answer: CitedAnswer, passages: Passages) -> None:
    """Add one notice for all cited sources that wait for approval."""
    waiting = [str(span.number) for span in answer.citations if _awaits_approval(span, passages)]
    if waiting:
        with override(run.language):
            text = texts.SOURCE_UNAPPROVED if len(waiting) == 1 else texts.SOURCES_UNAPPROVED
            run.tell(str(text) % {"numbers": ", ".join(waiting)})


def is_unapproved(finding: Finding) -> bool:
    """Return whether a passage waits for approval."""
    return finding.passage is not None and finding.passage.is_unapproved


def _awaits_approval(span: CitedSpan, passages: Passages) -> bool:
    passage = passages.get(span.chunk_id)
    return passage is not None and passage.is_unapproved
