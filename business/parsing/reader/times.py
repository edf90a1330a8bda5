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
from business.logical_query.times import Span, resolve_period
from business.parsing.reader.words import load_words, parse_number

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
    text = _replace_matches(
        text,
        _build_moment_patterns(),
        lambda kind, entry, found: _read_moment(kind, entry, found, today, fiscal_start),
        moments,
    )

    def spanned(kind: str, _entry: dict[str, Any], found: re.Match[str]) -> Moment | None:
        return _join_moments(kind, [moments[ord(sign) - _PLACE] for sign in found[0] if _is_time_placeholder(sign)])

    whole: list[Moment] = []
    text = _replace_matches(text, _build_span_patterns(), spanned, whole, shift=_MAX)
    found: list[Moment] = []

    def counted(sign: re.Match[str]) -> str:
        place = ord(sign[0]) - _PLACE
        found.append(whole[place - _MAX] if place >= _MAX else moments[place])
        return chr(_PLACE + len(found) - 1)

    return re.sub(f"[{chr(_PLACE)}-{chr(_PLACE + 2 * _MAX - 1)}]", counted, text), tuple(found)


def find_time_index(sign: str) -> int:
    """Return the index of the time that a private-use character stands for."""
    return ord(sign) - _PLACE


def _is_time_placeholder(sign: str) -> bool:
    return _PLACE <= ord(sign) < _PLACE + 2 * _MAX


Reader = Callable[[str, dict[str, Any], re.Match[str]], Moment | None]
Pattern = tuple[re.Pattern[str], str, dict[str, Any]]


def _replace_matches(text: str, patterns: tuple[Pattern, ...], read: Reader, into: list[Moment], shift: int = 0) -> str:
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
def _build_moment_patterns() -> tuple[Pattern, ...]:
    slots = _build_slot_patterns()
    found = [
        (_compile_form(form, slots), entry["kind"], entry, len(form))
        for entry in load_words().times["moments"]
        for form in entry["say"]
    ]
    found.sort(key=lambda one: -one[3])
    return tuple((pattern, kind, entry) for pattern, kind, entry, _size in found)


@cache
def _build_span_patterns() -> tuple[Pattern, ...]:
    place = f"\\s*[{chr(_PLACE)}-{chr(_PLACE + _MAX - 1)}]\\s*"
    spans = load_words().times["spans"].items()
    found: list[tuple[re.Pattern[str], str, dict[str, Any], int]] = [
        (_compile_form(form, {"t": place}), kind, {}, len(form)) for kind, forms in spans for form in forms
    ]
    found.sort(key=lambda one: (-one[0].pattern.count(chr(_PLACE)), -one[3]))
    return tuple((pattern, kind, entry) for pattern, kind, entry, _size in found)


def _build_slot_patterns() -> dict[str, str]:
    times = load_words().times
    units = "|".join(sorted((word for item in times["units"].values() for word in item), key=len, reverse=True))
    months = "|".join(sorted((word for item in times["months"] for word in item), key=len, reverse=True))
    ordinals = "|".join(word for item in times["ordinals"] for word in item)
    english = "|".join(sorted((w for w, n in load_words().numbers.items() if n and w.isascii()), key=len, reverse=True))
    return {
        "unit": rf"(?P<unit>{units})s?", "n": rf"(?P<n>\d{{1,3}}|{_HAN_N}|{english})", "year": r"(?P<year>(?:19|20)\d\d)",
        "month": rf"(?P<month>{months})", "mm": r"(?P<mm>1[0-2]|0?[1-9])", "day": r"(?P<day>[12]\d|3[01]|0?[1-9])",
        "q": r"(?P<q>[1-4一二三四])", "ordinal": rf"(?P<ordinal>{ordinals})", "half": r"(?P<half>[12上下])",
    }  # fmt: skip


def _compile_form(form: str, slots: dict[str, str]) -> re.Pattern[str]:
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
    return re.compile(rf"(?<![a-z0-9]){text}(?![a-z0-9])" if form.isascii() else _add_word_boundaries(text, form))


def _add_word_boundaries(text: str, form: str) -> str:
    return ("(?<![a-z0-9])" if form[0] in "{q" else "") + text + ("(?![a-z0-9])" if form[-1] == "}" else "")


def _read_moment(
    kind: str, entry: dict[str, Any], found: re.Match[str], today: date, fiscal_start: int | None
) -> Moment | None:
    given = found.groupdict()
    try:
        read = _KINDS[kind](entry, given, today)
        if read is not None and read.period is not None:
            fiscal = fiscal_start or 1  # checked when it is compiled
            return replace(read, span=resolve_period(read.period, today, fiscal))
    except ValueError:  # 31 February
        return None
    return read


def _read_unit(entry: dict[str, Any], given: dict[str, Any]) -> Any:
    if "unit" in entry:
        return entry["unit"]
    return next(unit for unit, names in load_words().times["units"].items() if given["unit"] in names)


def _build_relative_moment(period: Period) -> Moment:
    return Moment((None, None), period)


def _read_period(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    offset = entry["offset"]
    return _build_relative_moment(Period(unit=_read_unit(entry, given), first=offset, last=offset))


def _read_period_to_date(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    offset = entry.get("offset", 0)
    return _build_relative_moment(Period(unit=_read_unit(entry, given), first=offset, last=offset, to_date=True))


def _read_rolling_period(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment | None:
    n = parse_number(given["n"])
    return _build_relative_moment(Period(unit=_read_unit(entry, given), rolling=int(n))) if n else None


def _read_period_ago(entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment | None:
    n = parse_number(given["n"])
    return _build_relative_moment(Period(unit=_read_unit(entry, given), first=-int(n), last=-int(n))) if n else None


def _read_date(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    month = _parse_month_number(given)
    day = int(given["day"])

    def of_year(year: int) -> Span:
        start = date(year, month, day)
        return start, start + timedelta(days=1)

    return _resolve_year(given, today, of_year)


def _read_month(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    number = _parse_month_number(given)
    return _resolve_year(given, today, lambda year: _build_numbered_span("month", number, year))


def _read_quarter(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment:
    number = _parse_ordinal(given, "q")
    return _resolve_year(given, today, lambda year: _build_numbered_span("quarter", number, year))


def _read_half_year(_entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment | None:
    number = {"1": 1, "上": 1, "2": 2, "下": 2}.get(given.get("half") or "") or _parse_ordinal(given, "half")
    return (
        _resolve_year(given, today, lambda year: _build_numbered_span("half", number, year))
        if number in (1, 2)
        else None
    )


def _read_in_last_year(read: Callable[[dict[str, Any], dict[str, Any], date], Moment | None]) -> Any:
    def moment(entry: dict[str, Any], given: dict[str, Any], today: date) -> Moment | None:
        return read(entry, {**given, "year": str(today.year - 1)}, today)

    return moment


def _read_year(_entry: dict[str, Any], given: dict[str, Any], _today: date) -> Moment:
    return Moment(_build_numbered_span("year", 1, int(given["year"])))


def _resolve_year(given: dict[str, Any], today: date, of_year: Callable[[int], Span]) -> Moment:
    if given.get("year"):
        return Moment(of_year(int(given["year"])))
    span = of_year(today.year)
    if span[0] is not None and span[0] > today:
        span = of_year(today.year - 1)
    return Moment(span, of_year=of_year)


def _parse_month_number(given: dict[str, Any]) -> int:
    if given.get("mm"):
        return int(given["mm"])
    return next(n for n, names in enumerate(load_words().times["months"], 1) if given["month"] in names)


def _parse_ordinal(given: dict[str, Any], slot: str) -> int:
    text = given.get(slot) or given.get("ordinal") or ""
    if text.isdecimal():
        return int(text)
    return next(n for n, names in enumerate(load_words().times["ordinals"], 1) if text in names)


def _build_numbered_span(unit: str, number: int, year: int) -> Span:
    """Return the month, quarter or half of a year, counted from 1; the year itself."""
    months = _MONTHS[unit]
    first = year * 12 + (number - 1) * months
    return date(first // 12, first % 12 + 1, 1), date((first + months) // 12, (first + months) % 12 + 1, 1)


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any], date], Moment | None]] = {
    "period": _read_period, "to_date": _read_period_to_date, "rolling": _read_rolling_period, "ago": _read_period_ago, "date": _read_date,
    "month": _read_month, "month_of_last_year": _read_in_last_year(_read_month), "quarter": _read_quarter,
    "quarter_of_last_year": _read_in_last_year(_read_quarter),
    "half": _read_half_year, "half_of_last_year": _read_in_last_year(_read_half_year), "year": _read_year,
}  # fmt: skip


def _join_moments(kind: str, moments: list[Moment]) -> Moment | None:
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
