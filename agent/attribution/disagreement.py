"""Two texts that say something else of the same: the same words around another amount, another day, or the opposite of it.

Only what stands in the same words counts, so that two versions of one rule are seen and two rules are not taken for one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from agent.attribution.prose_check import BINDS, Clause, clauses_of
from agent.attribution.vocabulary import Vocabulary
from agent.extractive.overlap import share_said
from agent.extractive.sentences import split
from business.logical_query.query import TimeRange
from business.parsing.reader.times import Moment, mark_times, place_of
from business.parsing.reader.units import normalised

FEWEST_WORDS = 2  # that tell what a statement is about
ALIKE = 0.6  # share of words from which two sentences are compared at all; by hand
_CELLS = ";"


@dataclass(frozen=True)
class Fact:
    """One clause, after the one that its sentence begins with, and the days it names. own: the clause alone, with its amounts."""

    clause: Clause
    own: Clause
    days: tuple[TimeRange, ...]


@dataclass(frozen=True)
class Stated:
    """What a sentence states, and where it stands in its text."""

    start: int
    end: int
    text: str
    facts: tuple[Fact, ...]


def disagreeing_span(said: str, under: str, text: str, heading: str, *, today: date) -> tuple[int, int] | None:
    """Where a text says something else of what is said here; None where it does not.

    under, heading: the headings that they stand below, "" for none: what holds of one place says nothing of another. today: what
    relative times count from.
    """
    if not _is_said(under, f"{heading} {text}") or not _is_said(heading, f"{under} {said}"):
        return None
    for here in stated(said, today):
        for there in stated(text, today):
            if share_said(here.text, there.text) < ALIKE or here.text == there.text:
                continue
            if any(differ(one, other) for one in here.facts for other in there.facts):
                return there.start, there.end
    return None


def differ(one: Fact, other: Fact) -> bool:
    """Whether both state something else of the same."""
    if len(one.clause.words) < FEWEST_WORDS or not (_covers(one, other) and _covers(other, one)):
        return False
    if one.clause.is_negative is not other.clause.is_negative:
        return True
    if one.own.classes & set(BINDS) != other.own.classes & set(BINDS):
        return False  # “at least 5” and “10” do not exclude each other
    if one.days or other.days:
        return len(one.days) == len(other.days) and one.days != other.days
    amounts, others = one.own.quantities, other.own.quantities
    are_alike = [each.dimension for each in amounts] == [each.dimension for each in others]
    return are_alike and not all(each.agrees(fact) for each, fact in zip(amounts, others, strict=True))


@lru_cache(maxsize=256)
def stated(text: str, today: date) -> tuple[Stated, ...]:
    """The sentences of a text with their facts; of a row of a table each cell with the first one."""
    return tuple(
        Stated(piece.start, piece.end, piece.text, tuple(_facts(piece.text, today, is_row=piece.kind == "row")))
        for piece in split(text)
        if piece.kind not in ("heading", "code")
    )


def _facts(text: str, today: date, *, is_row: bool) -> Iterator[Fact]:
    plain, moments = mark_times(normalised(text), today, None)
    parts = [Clause(part.replace(":", " ").strip()) for part in plain.split(_CELLS)] if is_row else clauses_of(plain)
    for number, part in enumerate(parts):
        whole = Clause(f"{parts[0].text} {part.text}") if number else part
        yield Fact(whole, part, tuple(_days(part.text, moments)))


def _days(text: str, moments: Sequence[Moment]) -> Iterator[TimeRange]:
    for sign in text:
        if 0 <= place_of(sign) < len(moments):
            yield moments[place_of(sign)].range


def _covers(one: Fact, other: Fact) -> bool:
    return other.clause.share_in(one.clause.text) == 1


def _is_said(heading: str, text: str) -> bool:
    return not heading or not Vocabulary(normalised(text)).unknown(normalised(heading))
