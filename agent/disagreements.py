"""Sources that contradict what an answer stands on: they become sources of it, too, so that the person sees both."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from django.utils.translation import override

from agent import texts
from agent.attribution.disagreement import disagreeing_span
from agent.cited_answer import CitedAnswer
from agent.evidence import cited_span
from agent.state import Run
from knowledge.selectors import ShownPassage

MOST = 3  # pairs
Scored = tuple[ShownPassage, float]
"""A passage that was found, and its score."""


def with_disagreements(answer: CitedAnswer, found: Iterable[Scored], *, today: date) -> CitedAnswer:
    """The answer with the passages of other documents that say something else than what it cites, and the pairs of numbers."""
    passages = [(passage, score) for passage, score in found]
    by_chunk = {passage.chunk_id: passage for passage, _score in passages}
    spans = list(answer.citations)
    pairs: list[tuple[int, int]] = []
    for span in answer.citations:
        cited = by_chunk.get(span.chunk_id)
        for passage, score in passages if cited else ():
            if cited is None or passage.document_id == cited.document_id or len(pairs) == MOST:
                continue
            said = cited.text[span.start : span.end]
            there = disagreeing_span(said, _under(cited), passage.text, _under(passage), today=today)
            if there is None:
                continue
            number = next((each.number for each in spans if each.chunk_id == passage.chunk_id), 0)
            if not number:
                number = 1 + max((each.number for each in (*spans, *answer.queries, *answer.pages)), default=0)
                spans.append(cited_span(number, passage, score, start=there[0], end=there[1]))
            if (number, span.number) not in pairs:
                pairs.append((span.number, number))
    return replace(answer, citations=tuple(spans), disagreements=tuple(pairs)) if pairs else answer


def tell_disagreements(run: Run, answer: CitedAnswer) -> None:
    """One sentence for each pair; what both say, of when and where, the page shows."""
    with override(run.language):
        for one, other in answer.disagreements:
            run.tell(str(texts.SOURCES_DISAGREE) % {"one": one, "other": other})


def _under(passage: ShownPassage) -> str:
    """The heading next above a passage, other than its document's title."""
    heading = passage.heading_path[-1] if passage.heading_path else ""
    return "" if heading == passage.title else heading
