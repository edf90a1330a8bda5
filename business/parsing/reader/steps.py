"""A follow-up that only steps from the time that stands: “the month before”, “再上个月”, “the year after that”."""

import re
from datetime import date
from functools import cache

from business.logical_query.query import LogicalQuery, Unit
from business.logical_query.times import stepped
from business.parsing.reader.leads import lead_of
from business.parsing.reader.units import normalised
from business.parsing.reader.words import LANGUAGES, words_of

_UNITS: tuple[Unit, ...] = ("day", "week", "month", "quarter", "year")


def step_of(question: str, earlier: LogicalQuery, today: date) -> LogicalQuery | None:
    """The query that stands, one period earlier or later; None where the question says more than that, or that is not clear."""
    said = _step_said(question)
    compares_times = earlier.comparison is not None and earlier.comparison.to == "time"
    if said is None or len(earlier.times) != 1 or compares_times:
        return None
    time = stepped(earlier.times[0], *said, today)
    return earlier.model_copy(update={"times": (time,)}) if time is not None else None


def _step_said(question: str) -> tuple[Unit, int] | None:
    """The unit and the direction. “再上个月” is a step, though “再” alone only goes on."""
    lead = lead_of(question)
    whole = normalised(question).strip().rstrip("?？!！。. ").removesuffix("呢").strip()
    for pattern, unit, by in _patterns():
        if pattern.fullmatch(whole) or pattern.fullmatch(lead.rest):
            return unit, by
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Unit, int], ...]:
    return tuple(
        (re.compile(re.escape(form).replace(r"\{unit\}", f"(?:{_names(language, unit)})")), unit, by)
        for language in LANGUAGES
        for unit in _UNITS
        for by, forms in ((-1, words_of(language).earlier), (1, words_of(language).later))
        for form in forms
    )


def _names(language: str, unit: Unit) -> str:
    return "|".join(sorted(map(re.escape, words_of(language).times["units"][unit]), key=len, reverse=True))
