"""Answers without a language model: sentences of the documents themselves, each with the passage it comes from."""

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from agent.answerability.classifier import Verdict, confirmed, judge
from agent.cited_answer import CitedAnswer, CitedSentence, CitedSpan
from agent.evidence import cited_span
from agent.extractive.closest import closest
from agent.extractive.identifiers import exact_names, spelt_as_in
from agent.extractive.passages import Passage, Quote
from agent.extractive.reader import Reading, read
from agent.quotations.named_section import named_section, numbered_section
from knowledge.embedding.base import Embedder
from knowledge.retrieval.rerank.maxsim import shortfalls
from knowledge.retrieval.search import Found, Hit
from knowledge.retrieval.term_weights import matter_weights

NAME = "extractive"


def quote(question: str, found: Found, embedder: Embedder) -> tuple[CitedAnswer | None, Verdict]:
    """How the section begins that the question names, else the at most three sentences that answer, cited in the order they are shown;
    None where the verdict is no. Raises what the embedder raises.
    """
    quotes, verdict = concluded(read_found(question, found, embedder))
    return (cited(quotes, found) if verdict.ok else None), verdict


def concluded(reading: Reading) -> tuple[tuple[Quote, ...], Verdict]:
    """What answers, or would, and the verdict: the section that is named, else the sentences that were chosen, of a confirmed answer
    those alone that are seen to belong to it.
    """
    verdict = judge(reading)
    if section := numbered_section(reading) or named_section(reading):
        return section, Verdict(True, None, verdict.score)
    return (confirmed(reading) if verdict.ok else reading.quotes), verdict


def closest_of(
    question: str, found: Found, embedder: Embedder, *, lead: str, across: CitedAnswer | None = None
) -> CitedAnswer | None:
    """The passages that come closest, each with its best sentence, a line each after the sentence that says what they are; None where
    none speaks of the matter. across: what documents of the other language say, which comes first. Raises what the embedder raises.
    """
    asked = found.asked
    exact = exact_names(question, asked.frequencies, asked.corpus_chunks) if asked else ()
    quotes = closest(question, passages_of(found), embedder, shares=asked.weights if asked else None, exact=exact)
    sentences = [CitedSentence(lead, ())]
    spans: list[CitedSpan] = []
    for answer in [across, cited(quotes, found) if quotes else None]:
        if answer is not None:
            shown = {span.chunk_id for span in spans}
            new = {
                span.number: len(spans) + place
                for place, span in enumerate((each for each in answer.citations if each.chunk_id not in shown), 1)
            }
            spans += [replace(span, number=new[span.number]) for span in answer.citations if span.number in new]
            sentences += [
                replace(each, citations=tuple(new[number] for number in each.citations))
                for each in answer.sentences
                if all(number in new for number in each.citations)
            ]
    return CitedAnswer(NAME, tuple(sentences), tuple(spans), separator="\n") if spans else None


def read_and_judge(question: str, found: Found, embedder: Embedder) -> tuple[tuple[Quote, ...], Verdict]:
    """What answers, or would, and the verdict."""
    return concluded(read_found(question, found, embedder))


def read_found(question: str, found: Found, embedder: Embedder) -> Reading:
    """The best sentences of what was found, before any verdict: what an evaluation measures. Raises what the embedder raises."""
    if found.asked is None:
        return read(question, [], embedder)
    asked, passages = found.asked, passages_of(found)
    matter = matter_weights(asked.question.text, asked.frequencies, asked.corpus_chunks)
    question = spelt_as_in(question, (f"{each.heading}\n{each.text}" for each in passages))
    return read(question, passages, embedder, shares=asked.weights, matter=matter)


def passages_of(found: Found) -> list[Passage]:
    """The hits as a reader sees them."""
    if found.asked is None:
        return []
    lacking = shortfalls(found.asked.question, [hit.tokens for hit in found.hits]).tolist()
    return [_passage(hit, lacks) for hit, lacks in zip(found.hits, lacking, strict=True)]


def _passage(hit: Hit, shortfall: float) -> Passage:
    return Passage(
        text=hit.passage.text,
        title=hit.passage.title,
        heading_path=hit.passage.heading_path,
        dense=hit.scores.dense,
        coverage=hit.scores.rerank if settings.RERANKER == "maxsim" else None,
        relevance=hit.scores.rerank if settings.RERANKER == "cross_encoder" else None,
        shortfall=shortfall,
        position=hit.passage.position,
        blocks=hit.passage.blocks,
    )


def cited(quotes: Sequence[Quote], found: Found) -> CitedAnswer:
    """Sentences of one passage that stand together share a number; a number's span reaches from the first to the last."""
    numbers = {index: place for place, index in enumerate(dict.fromkeys(q.passage for q in quotes), start=1)}
    sentences = tuple(CitedSentence(q.text, (numbers[q.passage],)) for q in quotes)
    spans = tuple(
        _span(number, found.hits[index], [q for q in quotes if q.passage == index]) for index, number in numbers.items()
    )
    return CitedAnswer(NAME, sentences, spans)


def _span(number: int, hit: Hit, quotes: list[Quote]) -> CitedSpan:
    start, end = min(q.start for q in quotes), max(q.end for q in quotes)
    return cited_span(number, hit.passage, hit.scores.final, start=start, end=end)
