"""An answer without a verdict: the best passages with their highlighted sentences, and the results of queries under their own heading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.cited_answer import CitedAnswer, CitedQuery, CitedSentence, CitedSpan
from agent.evidence import cited_query, cited_span, result_told
from agent.passages.best import Best
from agent.run import Finding

NAME: Final = "extractive"  # the provider: nobody wrote it
KIND: Final = "passages"
DATABASE: Final = "database"  # the provider of results alone


@dataclass(frozen=True)
class Headings:
    """Our own words around the parts, in the run's language. nothing: instead of passages, where a part of the question found none."""

    lead: str
    documents: str = ""
    data: str = ""
    nothing: str = ""


def passages_answer(best: Sequence[Best]) -> CitedAnswer:
    """Return the highlighted sentences of each passage as one paragraph, or a line each where they are items, rows or code."""
    sentences: list[CitedSentence] = []
    spans: list[CitedSpan] = []
    for number, each in enumerate(best, 1):
        for place, sentence in enumerate(each.sentences):
            gap = "\n" if place == 0 or sentence.kind != "prose" else " "
            sentences.append(CitedSentence(sentence.text, (number,), gap=gap))
        score = each.hit.scores.final
        spans.append(cited_span(number, each.hit.passage, score, start=each.start, end=each.end))
    return CitedAnswer(NAME, tuple(sentences), tuple(spans), kind=KIND if best else "")


def results_answer(results: Sequence[Finding], *, first: int = 1, names: Sequence[int] = ()) -> CitedAnswer:
    """Return each result with its headline, a line each. names: the passages that say what the results are about."""
    numbered = list(enumerate(results, first))
    told = tuple(CitedSentence(result_told(one), (*names, number), gap="\n") for number, one in numbered)
    queries: tuple[CitedQuery, ...] = tuple(cited_query(number, one) for number, one in numbered)
    return CitedAnswer(DATABASE, told, (), queries)


def put_together(passages: CitedAnswer | None, results: CitedAnswer | None, headings: Headings) -> CitedAnswer | None:
    """Return one answer of both parts, each under its heading; None where there is neither."""
    if passages is None:
        if results is None or not headings.nothing:
            return results
        said = (_own(headings.documents), _own(headings.nothing), _own(headings.data, gap="\n\n"))
        return replace(results, sentences=(*said, *results.sentences))
    opening = [headings.documents, headings.lead] if results and headings.documents else [headings.lead]
    sentences = [*map(_own, opening), *passages.sentences]
    if results is not None:
        sentences += [_own(headings.data, gap="\n\n"), *results.sentences]
    return replace(passages, sentences=tuple(sentences), queries=results.queries if results else ())


def further(first: CitedAnswer, best: Sequence[Best]) -> CitedAnswer:
    """Return an answer with the passages that follow its first one; one that it cites already, because it contradicts, is kept once."""
    shown = {span.chunk_id for span in first.citations}
    rest = passages_answer([each for each in best if each.hit.passage.chunk_id not in shown])
    taken = max(span.number for span in first.citations)
    return replace(
        first,
        sentences=(*first.sentences, *(replace(one, citations=(one.citations[0] + taken,)) for one in rest.sentences)),
        citations=(*first.citations, *(replace(span, number=span.number + taken) for span in rest.citations)),
    )


def _own(text: str, gap: str = "\n") -> CitedSentence:
    return CitedSentence(text, (), gap=gap)
