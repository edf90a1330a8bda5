"""Calendar periods, and the words for numbers and months."""

from datetime import date, timedelta
from typing import Literal

Unit = Literal["day", "week", "month", "quarter", "half", "year"]
Span = tuple[date, date]
MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTHS_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_HAN = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
HAN_NUMBER = "[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]"
WORD_NUMBER = "|".join((*_WORDS[1:], *_TENS))


def period(unit: Unit, day: date, offset: int = 0) -> Span:
    """The calendar day, week (from Monday), month, quarter, half or year around a day, moved by `offset` periods."""
    if unit == "day":
        start = day + timedelta(days=offset)
        return start, start + timedelta(days=1)
    if unit == "week":
        start = day - timedelta(days=day.weekday()) + timedelta(weeks=offset)
        return start, start + timedelta(weeks=1)
    months = _MONTHS_OF[unit]
    index = (day.year * 12 + day.month - 1) // months + offset
    return month_start(index * months), month_start((index + 1) * months)


def month_start(index: int) -> date:
    """index: months since year 0."""
    return date(index // 12, index % 12 + 1, 1)


def back(day: date, unit: Unit, n: int) -> date:
    """The day n units ago, the last of its month where that is shorter."""
    if unit in ("day", "week"):
        return day - timedelta(days=n * (7 if unit == "week" else 1))
    index = day.year * 12 + day.month - 1 - n * _MONTHS_OF[unit]
    last = (month_start(index + 1) - timedelta(days=1)).day
    return month_start(index).replace(day=min(day.day, last))


def latest(unit: Unit, number: int, today: date) -> Span:
    """The latest month, quarter or half of this number that has begun."""
    span = numbered(unit, number, today.year)
    return span if span[0] <= today else numbered(unit, number, today.year - 1)


def numbered(unit: Unit, number: int, year: int) -> Span:
    """The month, quarter or half of a year, counted from 1."""
    return period(unit, date(year, (number - 1) * _MONTHS_OF[unit] + 1, 1))


def count_of(text: str) -> int:
    """A number in digits or in words of either language, up to 99."""
    if text.isdigit():
        return int(text)
    if text in _WORDS:
        return _WORDS.index(text)
    if text in _TENS:
        return _TENS[text]
    tens, ten, ones = text.partition("十")
    if not ten:
        return _HAN[text]
    return (_HAN[tens] if tens else 1) * 10 + (_HAN[ones] if ones else 0)


def month_of(text: str) -> int:
    """A month's number from its name or number in either language; 0 for none."""
    if text.isascii() and text.isalpha():
        return next((n for n, name in enumerate(MONTHS, 1) if name.startswith(text[:3])), 0)
    number = count_of(text)
    return number if number <= 12 else 0
