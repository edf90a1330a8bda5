"""The sources of an answer as it grows: each piece of evidence is numbered at the first sentence that cites it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from agent.attribution.disagreement import add_disagreements
from agent.events import KnowledgeReference, QueryReference, References, WebReference
from agent.evidence.items import (
    cite_passage,
    cite_query,
    cite_verified_answer,
    cite_web_page,
    make_passage_reference,
    make_query_reference,
    make_verified_reference,
)
from agent.run_state.cited_answer import CitedAnswer, CitedPage, CitedQuery, CitedSentence, CitedSpan
from agent.run_state.run import Finding
from agent.text.overlap import find_nearest_sentence
from knowledge.selectors import ShownPassage


@dataclass
class Citations:
    """shown: displayed number, by the number in the run. disagreements: as `CitedAnswer` has them."""

    provider: str
    shown: dict[int, int] = field(default_factory=dict)
    spans: list[CitedSpan] = field(default_factory=list)
    queries: list[CitedQuery] = field(default_factory=list)
    pages: dict[int, CitedPage] = field(default_factory=dict)
    verified: dict[int, Finding] = field(default_factory=dict)
    passages: list[KnowledgeReference] = field(default_factory=list)
    results: list[QueryReference] = field(default_factory=list)
    disagreements: tuple[tuple[int, int], ...] = ()

    def cite(self, number: int, finding: Finding, sentence: str) -> bool:
        """Give a piece of evidence the next number, unless it has one.

        The cited span is its sentence closest to this one.
        """
        if number in self.shown:
            return False
        shown = self.shown[number] = len(self.shown) + 1
        if finding.outside:
            self.pages[shown] = cite_web_page(shown, finding.outside, sentence)
        elif finding.verified:
            self.verified[shown] = finding
        elif finding.passage is None:
            self.queries.append(cite_query(shown, finding))
            self.results.append(make_query_reference(shown, finding))
        else:
            score = finding.item.score or 0.0
            start, end = find_nearest_sentence(sentence, finding.passage.text, finding.passage.blocks)
            self._add_citation(cite_passage(shown, finding.passage, score, start=start, end=end), finding.passage)
        return True

    def compare(
        self, found: Iterable[tuple[ShownPassage, float]], sentences: Iterable[CitedSentence], *, today: date
    ) -> CitedAnswer:
        """Return the answer with the passages that contradict its sources added to them."""
        found = list(found)
        compared = add_disagreements(self.answer(sentences), found, today=today)
        passages = {passage.chunk_id: passage for passage, _score in found}
        for span in compared.citations[len(self.spans) :]:
            self._add_citation(span, passages[span.chunk_id])
        self.disagreements = compared.disagreements
        return compared

    def answer(self, sentences: Iterable[CitedSentence]) -> CitedAnswer:
        return CitedAnswer(
            self.provider,
            tuple(sentences),
            tuple(self.spans),
            tuple(self.queries),
            tuple(self.pages.values()),
            tuple(cite_verified_answer(*item) for item in self.verified.items()),
            disagreements=self.disagreements,
        )

    def event(self, *, done: bool) -> References:
        pages = [WebReference.model_validate(page, from_attributes=True) for page in self.pages.values()]
        return References(
            knowledge_references=list(self.passages),
            query_references=list(self.results),
            web_references=pages,
            verified_references=[make_verified_reference(*item) for item in self.verified.items()],
            done=done,
        )

    def _add_citation(self, span: CitedSpan, passage: ShownPassage) -> None:
        self.spans.append(span)
        self.passages.append(make_passage_reference(span.number, passage, span.score, start=span.start, end=span.end))
