"""Birthdays come every year: “born in January” is a month of any year, “born in 1960” is not."""

import re
from datetime import date

from agent.business.ask.meaning import NotUnderstood, YearlyFilter
from agent.business.ask.times.windows import Window
from agent.business.ask.words.lexicon import DimensionRef, Lexicon
from agent.business.ask.words.units import key_of

_BIRTH = frozenset(map(key_of, ("birth date", "date of birth", "birthday", "born", "出生日期", "出生", "生日")))
_WITH_YEAR = re.compile(r"\d{4}|\d0s|年代|last year|去年")
_LONG_DAYS = 3_000
_LONG_AGO = date(2010, 1, 1)


def yearly(window: Window, column: DimensionRef | None, lexicon: Lexicon) -> YearlyFilter | None:
    """A month or a day of any year, where the column is one of births and no year is said. Raises NotUnderstood for another span."""
    if column is None or not any(key_of(word) in _BIRTH for word in lexicon.dimension(column).words()):
        return None
    if _WITH_YEAR.search(window.text) or window.start is None or window.end is None:
        return None
    if window.unit == "month":
        return YearlyFilter(column, window.start.month)
    if window.unit == "day":
        return YearlyFilter(column, window.start.month, window.start.day)
    if (window.end - window.start).days > _LONG_DAYS or window.start < _LONG_AGO:
        return None
    raise NotUnderstood("birthdays in a part of a year")
