"""An answer without a verdict: the best passages with highlighted sentences, and query results under their own heading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.evidence.items import cite_passage, cite_query, format_result_text
from agent.passages.best import Best
from agent.run_state.cited_answer import CitedAnswer, CitedQuery, CitedSentence, CitedSpan
from agent.run_state.run import Finding

NAME: Final = "extractive"  # the provider of quoted answers
KIND: Final = "passages"
DATABASE: Final = "database"  # the provider of answers made of results only


@dataclass(frozen=True)
class Headings:
    """Our own words around the parts, in the run's language.

    nothing: shown where a part of the question found no passages.
    """

    lead: str
    documents: str = ""
    data: str = ""
    nothing: str = ""


def build_passages_answer(best: Sequence[Best]) -> CitedAnswer:
    """Return the highlighted sentences of each passage as one paragraph, or one per line for items, rows or code."""
    sentences: list[CitedSentence] = []
    spans: list[CitedSpan] = []
    for number, item in enumerate(best, 1):
        for place, sentence in enumerate(item.sentences):
            gap = "\n" if place == 0 or sentence.kind != "prose" else " "
            sentences.append(CitedSentence(sentence.text, (number,), gap=gap))
        score = item.hit.scores.final
        spans.append(cite_passage(number, item.hit.passage, score, start=item.start, end=item.end))
    return CitedAnswer(NAME, tuple(sentences), tuple(spans), kind=KIND if best else "")


def build_results_answer(results: Sequence[Finding], *, first: int = 1, names: Sequence[int] = ()) -> CitedAnswer:
    """Return each result with its headline, one per line. names: the passages that name the results' subjects."""
    numbered = list(enumerate(results, first))
    sentences = tuple(CitedSentence(format_result_text(one), (*names, number), gap="\n") for number, one in numbered)
    queries: tuple[CitedQuery, ...] = tuple(cite_query(number, one) for number, one in numbered)
    return CitedAnswer(DATABASE, sentences, (), queries)


def join_passages_and_results(
    passages: CitedAnswer | None, results: CitedAnswer | None, headings: Headings
) -> CitedAnswer | None:
    """Join both parts, each under its heading; None where there is neither."""
    if passages is None:
        if results is None or not headings.nothing:
            return results
        parts = (
            _make_uncited_sentence(headings.documents),
            _make_uncited_sentence(headings.nothing),
            _make_uncited_sentence(headings.data, gap="\n\n"),
        )
        return replace(results, sentences=(*parts, *results.sentences))
    opening = [headings.documents, headings.lead] if results and headings.documents else [headings.lead]
    sentences = [*map(_make_uncited_sentence, opening), *passages.sentences]
    if results is not None:
        sentences += [_make_uncited_sentence(headings.data, gap="\n\n"), *results.sentences]
    return replace(passages, sentences=tuple(sentences), queries=results.queries if results else ())


def append_further_passages(first: CitedAnswer, best: Sequence[Best]) -> CitedAnswer:
    """Append the passages that follow an answer's first one; one that it already cites as a contradiction is kept once."""
    shown = {span.chunk_id for span in first.citations}
    rest = build_passages_answer([item for item in best if item.hit.passage.chunk_id not in shown])
    taken = max(span.number for span in first.citations)
    return replace(
        first,
        sentences=(*first.sentences, *(replace(one, citations=(one.citations[0] + taken,)) for one in rest.sentences)),
        citations=(*first.citations, *(replace(span, number=span.number + taken) for span in rest.citations)),
    )


def _make_uncited_sentence(text: str, gap: str = "\n") -> CitedSentence:
    return CitedSentence(text, (), gap=gap)
