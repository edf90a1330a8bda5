"""Split a question into items: the fewest known phrases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from business.logical_query.query import TimeRange
from business.parsing.reader.lexicon import LONGEST, Lexicon, Ref
from business.parsing.reader.times import Moment, find_time_index, mark_times
from business.parsing.reader.units import Unit, normalise_text, units_of
from business.parsing.reader.words import load_words, parse_number

_UNKNOWN = 4.0  # cost of an unknown unit; a phrase of any length costs one
_STOPS = (",", ";", "，", "；", "。")
_PREFERRED = 0.02  # preference for the layer's words over the language's


@dataclass(frozen=True)
class QuestionItem:
    """refs: the parts of the layer it may mean; roles: its possible roles in a question. With both empty it is a time,
    a number, or unknown.
    """

    text: str
    refs: tuple[Ref, ...] = ()
    roles: tuple[str, ...] = ()
    time: TimeRange | None = None
    number: float | None = None
    is_yearless: bool = False  # of a time: a month or a day of any year

    @property
    def is_known(self) -> bool:
        return bool(self.refs or self.roles or self.time is not None or self.number is not None)


@lru_cache(maxsize=64)  # one question is read several times, with each source
def items_of(question: str, lexicon: Lexicon, today: date) -> tuple[QuestionItem, ...]:
    """Return the items of a question, in order."""
    text, times = mark_times(normalise_text(question), today, lexicon.catalog.layer.fiscal_year_start)
    units = units_of(text)
    best: list[tuple[float, int]] = [(0.0, 0)] * (len(units) + 1)
    chosen: list[QuestionItem | None] = [None] * (len(units) + 1)
    for end in range(1, len(units) + 1):
        best[end] = (float("inf"), 0)
        for begin in range(max(0, end - LONGEST), end):
            item, cost = _build_item(text, units[begin:end], lexicon, times)
            total = best[begin][0] + cost
            if item is not None and total < best[end][0] - 1e-9:
                best[end], chosen[end] = (total, begin), item
    found: list[QuestionItem] = []
    at = len(units)
    while at > 0:
        item = chosen[at]
        assert item is not None  # a single unit is always an item
        found.append(item)
        at = best[at][1]
    return tuple(reversed(found))


def _build_item(
    text: str, units: Sequence[Unit], lexicon: Lexicon, times: Sequence[Moment]
) -> tuple[QuestionItem | None, float]:
    """Return the units as one item with its cost, or None."""
    written = text[units[0].begin : units[-1].end]
    key = tuple(unit.text for unit in units)
    refs = lexicon.phrases.get(key, ())
    roles = load_words().roles.get(key, ())
    if refs or roles:
        gap = 0.0 if _has_no_separator(text, units) else 0.5
        return QuestionItem(written, refs, roles, number=_parse_number(written, units)), 1.0 + gap - (
            _PREFERRED * len(units) if refs else 0.0
        )
    if len(units) == 1 and units[0].kind == "time":
        moment = times[find_time_index(units[0].text)]
        return QuestionItem(written, time=moment.range, is_yearless=moment.of_year is not None), 1.0
    number = _parse_number(written, units)
    if number is not None:
        return QuestionItem(written, number=number), 1.0
    return (QuestionItem(written), _UNKNOWN) if len(units) == 1 else (None, 0.0)


def _has_no_separator(text: str, units: Sequence[Unit]) -> bool:
    """Return whether no separator, such as a comma, is between the units."""
    between = (text[one.end : other.begin] for one, other in pairwise(units))
    return not any(set(gap) & set(_STOPS) for gap in between)


def _parse_number(text: str, units: Sequence[Unit]) -> float | None:
    if units[0].kind == "quoted" or (units[0].kind == "number" and len(units) > 2):
        return None
    return parse_number(text)
