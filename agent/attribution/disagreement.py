"""Find contradictions between two texts: the same words with another amount, another day, or the opposite.

Sources that contradict an answer's sources become sources too, so that the person sees both.

Only nearly identical wording is compared, so that two versions of one rule are found and two different rules are not
confused.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from django.utils.translation import override

from agent import texts
from agent.attribution.clauses import BINDS, Clause, content_words_of, find_missing_words, split_clauses
from agent.evidence.items import cite_passage
from agent.run_state.cited_answer import CitedAnswer
from agent.run_state.run import Run
from agent.text.overlap import compute_term_coverage
from agent.text.sentences import split_sentences
from business.logical_query.query import TimeRange
from business.parsing.reader.times import Moment, find_time_index, mark_times
from business.parsing.reader.units import normalise_text
from knowledge.selectors import ShownPassage

MAX = 3  # pairs per answer
FEWEST_WORDS = 2  # content words that identify a statement's topic
ALIKE = 0.6  # share of words from which two sentences are compared at all; by hand
_CELLS = ";"
Scored = tuple[ShownPassage, float]
"""A passage that was found, and its score."""


@dataclass(frozen=True)
class Fact:
    """A clause, joined with the first clause of its sentence, and the days it names.

    own: the clause alone, with its amounts.
    """

    clause: Clause
    own: Clause
    days: tuple[TimeRange, ...]


@dataclass(frozen=True)
class SentenceFacts:
    """The facts of a sentence, and where it stands in its text."""

    start: int
    end: int
    text: str
    facts: tuple[Fact, ...]


def add_disagreements(answer: CitedAnswer, found: Iterable[Scored], *, today: date) -> CitedAnswer:
    """Return the answer with the contradicting passages of other documents, and the pairs of numbers."""
    passages = [(passage, score) for passage, score in found]
    by_chunk = {passage.chunk_id: passage for passage, _score in passages}
    spans = list(answer.citations)
    pairs: list[tuple[int, int]] = []
    for span in answer.citations:
        cited = by_chunk.get(span.chunk_id)
        for passage, score in passages if cited else ():
            if cited is None or passage.document_id == cited.document_id or len(pairs) == MAX:
                continue
            passage_text = cited.text[span.start : span.end]
            there = find_disagreeing_span(
                passage_text, _find_direct_heading(cited), passage.text, _find_direct_heading(passage), today=today
            )
            if there is None:
                continue
            number = next((item.number for item in spans if item.chunk_id == passage.chunk_id), 0)
            if not number:
                taken = [item.number for item in spans]
                taken += [query.number for query in answer.queries] + [page.number for page in answer.pages]
                taken += [item.number for item in answer.verified]
                number = 1 + max(taken)
                spans.append(cite_passage(number, passage, score, start=there[0], end=there[1]))
            if (number, span.number) not in pairs:
                pairs.append((span.number, number))
    return replace(answer, citations=tuple(spans), disagreements=tuple(pairs)) if pairs else answer


def add_disagreement_notices(run: Run, answer: CitedAnswer) -> None:
    """Add a notice for each pair of contradicting sources."""
    with override(run.language):
        for one, other in answer.disagreements:
            run.tell(str(texts.SOURCES_DISAGREE) % {"one": one, "other": other})


def _find_direct_heading(passage: ShownPassage) -> str:
    """Return the heading directly above a passage, other than its document's title."""
    heading = passage.heading_path[-1] if passage.heading_path else ""
    return "" if heading == passage.title else heading


def find_disagreeing_span(
    statement: str, under: str, text: str, heading: str, *, today: date
) -> tuple[int, int] | None:
    """Return the span of a text that contradicts the given one; None where there is none.

    under, heading: the headings above each, "" for none: a fact about one place says nothing about another. today: the
    reference date for relative times.
    """
    if not _contains_heading_words(under, f"{heading} {text}") or not _contains_heading_words(
        heading, f"{under} {statement}"
    ):
        return None
    for here in list_stated_facts(statement, today):
        for there in list_stated_facts(text, today):
            if compute_term_coverage(here.text, there.text) < ALIKE or here.text == there.text:
                continue
            if any(has_disagreement(one, other) for one in here.facts for other in there.facts):
                return there.start, there.end
    return None


def has_disagreement(one: Fact, other: Fact) -> bool:
    if len(one.clause.words) < FEWEST_WORDS or not (_covers_fact(one, other) and _covers_fact(other, one)):
        return False
    if one.clause.is_negative is not other.clause.is_negative:
        return True
    if one.own.classes & BINDS != other.own.classes & BINDS:
        return False  # “at least 5” and “10” do not exclude each other
    if one.days or other.days:
        return len(one.days) == len(other.days) and one.days != other.days
    amounts, others = one.own.quantities, other.own.quantities
    are_alike = [amount.dimension for amount in amounts] == [item.dimension for item in others]
    return are_alike and not all(item.agrees(fact) for item, fact in zip(amounts, others, strict=True))


@lru_cache(maxsize=256)
def list_stated_facts(text: str, today: date) -> tuple[SentenceFacts, ...]:
    """Return the sentences of a text with their facts; each cell of a table row is joined with its first cell."""
    return tuple(
        SentenceFacts(
            piece.start, piece.end, piece.text, tuple(_yield_facts(piece.text, today, is_row=piece.kind == "row"))
        )
        for piece in split_sentences(text)
        if piece.kind not in ("heading", "code")
    )


def _yield_facts(text: str, today: date, *, is_row: bool) -> Iterator[Fact]:
    plain, moments = mark_times(normalise_text(text), today, None)
    parts = [Clause(part.replace(":", " ").strip()) for part in plain.split(_CELLS)] if is_row else split_clauses(plain)
    for number, part in enumerate(parts):
        whole = Clause(f"{parts[0].text} {part.text}") if number else part
        yield Fact(whole, part, tuple(_yield_marked_days(part.text, moments)))


def _yield_marked_days(text: str, moments: Sequence[Moment]) -> Iterator[TimeRange]:
    for sign in text:
        if 0 <= find_time_index(sign) < len(moments):
            yield moments[find_time_index(sign)].range


def _covers_fact(one: Fact, other: Fact) -> bool:
    return other.clause.share_in(one.clause.text) == 1


def _contains_heading_words(heading: str, text: str) -> bool:
    return not find_missing_words(content_words_of(normalise_text(heading)), normalise_text(text))
