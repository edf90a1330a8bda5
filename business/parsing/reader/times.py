"""Read times in both languages: moments by patterns of the data files, and the spans they form.

A month without a year is the latest that has begun; relative times stay relative, so that the same query moves along
with today.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any

from business.logical_query.query import Period, TimeRange
from business.logical_query.times import Span, period_days
from business.parsing.reader.words import number_of, words

_PLACE = 0xE000  # private-use character of the first moment
_MAX = 400
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_HAN_N = "[一两二三四五六七八九十]{1,3}"


@dataclass(frozen=True)
class Moment:
    """A time expression. period: of a relative one; span: its days. of_year: the same in another year."""

    span: Span
    period: Period | None = None
    of_year: Callable[[int], Span] | None = None

    @property
    def range(self) -> TimeRange:
        if self.period is not None:
            return TimeRange(period=self.period)
        return TimeRange(start=self.span[0], end=self.span[1])


@lru_cache(maxsize=64)  # the same with every source of a fiscal year
def mark_times(text: str, today: date, fiscal_start: int | None) -> tuple[str, tuple[Moment, ...]]:
    """Return a normalised text with times as private-use characters, and the times. Longest expressions win."""
    moments: list[Moment] = []
    text = _replaced(
        text, _moment_patterns(), lambda kind, entry, found: _moment(kind, entry, found, today, fiscal_start), moments
    )

    def spanned(kind: str, _entry: dict[str, Any], found: re.Match[str]) -> Moment | None:
        return _span(kind, [moments[ord(sign) - _PLACE] for sign in found[0] if _is_place(sign)])

    whole: list[Moment] = []
    text = _replaced(text, _span_patterns(), spanned, whole, shift=_MAX)
    found: list[Moment] = []

    def counted(sign: re.Match[str]) -> str:
        place = ord(sign[0]) - _PLACE
        found.append(whole[place - _MAX] if place >= _MAX else moments[place])
        return chr(_PLACE + len(found) - 1)

    return re.sub(f"[{chr(_PLACE)}-{chr(_PLACE + 2 * _MAX - 1)}]", counted, text), tuple(found)


def place_of(sign: str) -> int:
    """Return the index of the time that a private-use character stands for."""
    return ord(sign) - _PLACE


def _is_place(sign: str) -> bool:
    return _PLACE <= ord(sign) < _PLACE + 2 * _MAX


Reader = Callable[[str, dict[str, Any], re.Match[str]], Moment | None]
Pattern = tuple[re.Pattern[str], str, dict[str, Any]]


def _replaced(text: str, patterns: tuple[Pattern, ...], read: Reader, into: list[Moment], shift: int = 0) -> str:
    """Replace every readable match of the patterns with a private-use character, earlier patterns first."""
    for pattern, kind, entry in patterns:
        at = 0
        while (found := pattern.search(text, at)) is not None:
            moment = read(kind, entry, found)
            if moment is None or len(into) >= _MAX:
                at = found.start() + 1
                continue
            sign = chr(_PLACE + shift + len(into))
            into.append(moment)
            text = f"{text[: found.start()]} {sign} {text[found.end() :]}"
            at = found.start() + 3
    return text


@cache
def _moment_patterns() -> tuple[Pattern, ...]:
    slots = _slots()
    found = [
        (_compiled(form, slots), entry["kind"], entry, len(form))
        for entry in words().times["moments"]
        for form in entry["say"]
    ]
    found.sort(key=lambda one: -one[3])
    return tuple((pattern, kind, entry) for pattern, kind, entry, _size in found)


@cache
def _span_patterns() -> tuple[Pattern, ...]:
    place = f"\\s*[{chr(_PLACE)}-{chr(_PLACE + _MAX - 1)}]\\s*"
    spans = words().times["spans"].items()
    found: list[tuple[re.Pattern[str], str, dict[str, Any], int]] = [
        (_compiled(form, {"t": place}), kind, {}, len(form)) for kind, forms in spans for form in forms
    ]
    found.sort(key=lambda one: (-one[0].pattern.count(chr(_PLACE)), -one[3]))
    return tuple((pattern, kind, entry) for pattern, kind, entry, _size in found)


def _slots() -> dict[str, str]:
    times = words().times
    units = "|".join(sorted((word for item in times["units"].values() for word in item), key=len, reverse=True))
    months = "|".join(sorted((word for item in times["months"] for word in item), key=len, reverse=True))
    ordinals = "|".join(word for item in times["ordinals"] for word in item)
    english = "|".join(sorted((w for w, n in words().numbers.items() if n and w.isascii()), key=len, reverse=True))
    return {
        "unit": rf"(?P<unit>{units})s?", "n": rf"(?P<n>\d{{1,3}}|{_HAN_N}|{english})", "year": r"(?P<year>(?:19|20)\d\d)",
        "month": rf"(?P<month>{months})", "mm": r"(?P<mm>1[0-2]|0?[1-9])", "day": r"(?P<day>[12]\d|3[01]|0?[1-9])",
        "q": r"(?P<q>[1-4一二三四])", "ordinal": rf"(?P<ordinal>{ordinals})", "half": r"(?P<half>[12上下])",
    }  # fmt: skip


def _compiled(form: str, slots: dict[str, str]) -> re.Pattern[str]:
    """Compile a form of the data file: blanks match any white space; it begins and ends at word boundaries."""
    parts = re.split(r"\{(\w+)\}", form)
    seen: set[str] = set()
    text = ""
    for place, part in enumerate(parts):
        if place % 2 == 0:
            text += re.escape(part).replace(r"\ ", r"\s+")
        else:
            text += slots[part] if part not in seen else re.sub(r"\?P<\w+>", "?:", slots[part])
            seen.add(part)
    return re.compile(rf"(?<![a-z0-9]){text}(?![a-z0-9])" if form.isascii() else _edged(text, form))


def _edged(text: str, form: str) -> str:
    return ("(?<![a-z0-9])" if form[0] in "{q" else "") + text + ("(?![a-z0-9])" if form[-1] == "}" else "")


def _moment(
    kind: str, entry: dict[str, Any], found: re.Match[str], today: date, fiscal_start: int | None
) -> Moment | None:
    given = found.groupdict()
    try:
        read = _KINDS[kind](entry, given, today)
        if read is not None and read.period is not None:
            fiscal = fiscal_start or 1  # checked when it is compiled
            return replace(read, span=period_days(read.period, today, fiscal))
    except ValueError:  # 31 February
        return None
    return read


def _unit(entry: dict[str, Any], given: dict[str, Any]) -> Any:
    if "unit" in entry:
        return entry["unit"]
    return next(unit for unit, names in words().times["units"].items() if given["unit"] in names)


def _relative(period: Period) -> Moment:
    return Moment((None, None), period)


def _period(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    offset = entry["offset"]
    return _relative(Period(unit=_unit(entry, given), first=offset, last=offset))


def _to_date(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    offset = entry.get("offset", 0)
    return _relative(Period(unit=_unit(entry, given), first=offset, last=offset, to_date=True))


def _rolling(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment | None:
    n = number_of(given["n"])
    return _relative(Period(unit=_unit(entry, given), rolling=int(n))) if n else None


def _ago(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment | None:
    n = number_of(given["n"])
    return _relative(Period(unit=_unit(entry, given), first=-int(n), last=-int(n))) if n else None


def _date(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    month = _month_number(given)
    day = int(given["day"])

    def of_year(year: int) -> Span:
        start = date(year, month, day)
        return start, start + timedelta(days=1)

    return _dated(given, today, of_year)


def _month(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    number = _month_number(given)
    return _dated(given, today, lambda year: _numbered("month", number, year))


def _quarter(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    number = _ordinal(given, "q")
    return _dated(given, today, lambda year: _numbered("quarter", number, year))


def _half(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment | None:
    number = {"1": 1, "上": 1, "2": 2, "下": 2}.get(given.get("half") or "") or _ordinal(given, "half")
    return _dated(given, today, lambda year: _numbered("half", number, year)) if number in (1, 2) else None


def _of_last_year(read: Callable[[dict[str, Any], dict[str, Any], date], Moment | None]) -> Any:
    def moment(entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment | None:
        return read(entry, {**given, "year": str(today.year - 1)}, today)

    return moment


def _year(_entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    return Moment(_numbered("year", 1, int(given["year"])))


def _dated(given: dict[str, Any], today: date, of_year: Callable[[int], Span]) -> Moment:
    if given.get("year"):
        return Moment(of_year(int(given["year"])))
    span = of_year(today.year)
    if span[0] is not None and span[0] > today:
        span = of_year(today.year - 1)
    return Moment(span, of_year=of_year)


def _month_number(given: dict[str, Any]) -> int:
    if given.get("mm"):
        return int(given["mm"])
    return next(n for n, names in enumerate(words().times["months"], 1) if given["month"] in names)


def _ordinal(given: dict[str, Any], slot: str) -> int:
    text = given.get(slot) or given.get("ordinal") or ""
    if text.isdecimal():
        return int(text)
    return next(n for n, names in enumerate(words().times["ordinals"], 1) if text in names)


def _numbered(unit: str, number: int, year: int) -> Span:
    """Return the month, quarter or half of a year, counted from 1; the year itself."""
    months = _MONTHS[unit]
    first = year * 12 + (number - 1) * months
    return date(first // 12, first % 12 + 1, 1), date((first + months) // 12, (first + months) % 12 + 1, 1)


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any], date], Moment | None]] = {
    "period": _period, "to_date": _to_date, "rolling": _rolling, "ago": _ago, "date": _date,
    "month": _month, "month_of_last_year": _of_last_year(_month), "quarter": _quarter, "quarter_of_last_year": _of_last_year(_quarter),
    "half": _half, "half_of_last_year": _of_last_year(_half), "year": _year,
}  # fmt: skip


def _span(kind: str, moments: list[Moment]) -> Moment | None:
    """Return the time that moments form together, or None."""
    first, last = moments[0], moments[-1]
    start, end = first.span
    if kind == "in":
        return first
    if kind == "between":
        if first.of_year and not last.of_year and last.span[0]:  # from May to September 2023
            start = first.of_year(last.span[0].year)[0]
        elif last.of_year and not first.of_year and start:  # from October 1997 to December
            end = last.of_year(start.year)[1]
            return Moment((start, end)) if end and end > start else None
        stop = last.span[1]
        return Moment((start, stop)) if start and stop and start < stop else None
    edges: dict[str, Span] = {
        "since": (start, None),
        "after": (end, None),
        "before": (None, start),
        "until": (None, end),
    }
    return Moment(edges[kind]) if any(edges[kind]) else None
