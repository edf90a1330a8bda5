"""Time expressions of both languages, resolved to days in the company's time zone: [start, end)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True)
class Window:
    """Days from `start` up to and without `end`; None is open. text: the words it was read from."""

    start: date | None
    end: date | None
    text: str


@dataclass(frozen=True)
class FoundWindow:
    window: Window
    begin: int
    stop: int


Reader = Callable[[re.Match[str], date], tuple[date | None, date | None] | None]
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DATE = r"(?P<{0}>\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{4}}年\d{{1,2}}月\d{{1,2}}[日号])"
_HAN = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "半": 0}
_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
}
_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_UNITS = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
    "天": "day", "日": "day", "周": "week", "星期": "week", "个星期": "week",
    "个月": "month", "月": "month", "个季度": "quarter", "季度": "quarter", "年": "year",
}  # fmt: skip


def find_windows(text: str, today: date) -> list[FoundWindow]:
    """The time expressions of a normalised, lower-case text, in order, not overlapping; the longer reading wins."""
    found: list[FoundWindow] = []
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            if any(match.start() < other.stop and other.begin < match.end() for other in found):
                continue
            span = reader(match, today)
            if span is not None:
                found.append(FoundWindow(Window(*span, match[0].strip()), match.start(), match.end()))
    found = [item for item in found if item.window.text != "may"]
    return sorted(found, key=lambda item: item.begin)


def period(kind: str, day: date, offset: int = 0) -> tuple[date, date]:
    """The calendar day, week (from Monday), month, quarter or year around a day, moved by `offset` periods."""
    if kind == "day":
        start = day + timedelta(days=offset)
        return start, start + timedelta(days=1)
    if kind == "week":
        start = day - timedelta(days=day.weekday()) + timedelta(weeks=offset)
        return start, start + timedelta(weeks=1)
    months = {"month": 1, "quarter": 3, "year": 12}[kind]
    index = (day.year * 12 + day.month - 1) // months + offset
    return _month_start(index * months), _month_start((index + 1) * months)


def _month_start(index: int) -> date:
    return date(index // 12, index % 12 + 1, 1)


def _relative(offset: int) -> Reader:
    return lambda match, today: period(_UNITS[match["unit"]], today, offset)


def _fixed(kind: str, offset: int) -> Reader:
    return lambda _match, today: period(kind, today, offset)


def _past(match: re.Match[str], today: date) -> tuple[date, date]:
    """The last n days, weeks, months or years up to today: it starts on the day n of them ago."""
    n = _count(match["n"]) if match["n"] else 1
    unit = _UNITS[match["unit"]]
    if unit in ("day", "week"):
        start = today - timedelta(days=n * (7 if unit == "week" else 1))
    else:
        months = today.year * 12 + today.month - 1 - n * {"month": 1, "quarter": 3, "year": 12}[unit]
        first = _month_start(months)
        last = (_month_start(months + 1) - timedelta(days=1)).day
        start = first.replace(day=min(today.day, last))
    return start, today + timedelta(days=1)


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _HAN.get(text) or _WORDS[text]


def _year(match: re.Match[str], _today: date) -> tuple[date, date]:
    return period("year", date(int(match["year"]), 1, 1))


def _month(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """A month with its year; without one, the latest that has begun."""
    month = _month_number(match["month"])
    if not 1 <= month <= 12:
        return None
    year = match.groupdict().get("year")
    if year:
        return period("month", date(int(year), month, 1))
    return period("month", date(today.year if month <= today.month else today.year - 1, month, 1))


def _month_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text in ("十一", "十二"):
        return 10 + _HAN[text[1]]
    if text in _HAN:
        return _HAN[text]
    return next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(text))


def _quarter(match: re.Match[str], today: date) -> tuple[date, date]:
    text = match["q"]
    number = int(text) if text.isdigit() else _HAN.get(text) or _ORDINAL[text]
    year = match.groupdict().get("year")
    return period("quarter", date(int(year) if year else today.year, number * 3 - 2, 1))


def _half(match: re.Match[str], today: date) -> tuple[date, date]:
    year = match.groupdict().get("year")
    start = date(int(year) if year else today.year, 1 if match["half"] in ("上", "first") else 7, 1)
    return start, _month_start(start.year * 12 + start.month - 1 + 6)


def _day(text: str) -> date | None:
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    try:
        return date(*numbers)
    except ValueError:
        return None


def _on(match: re.Match[str], _today: date) -> tuple[date, date] | None:
    day = _day(match["day"])
    return period("day", day) if day else None


def _between(match: re.Match[str], _today: date) -> tuple[date, date] | None:
    start, last = _day(match["start"]), _day(match["last"])
    return (start, last + timedelta(days=1)) if start and last and start <= last else None


def _from(match: re.Match[str], today: date) -> tuple[date, None] | None:
    inner = _inner(match["what"], today)
    return (inner[0], None) if inner and inner[0] else None


def _until(match: re.Match[str], today: date) -> tuple[None, date] | None:
    inner = _inner(match["what"], today)
    return (None, inner[0]) if inner and inner[0] else None


def _after(match: re.Match[str], today: date) -> tuple[date, None] | None:
    inner = _inner(match["what"], today)
    return (inner[1], None) if inner and inner[1] else None


def _years(match: re.Match[str], _today: date) -> tuple[date, date] | None:
    first, last = int(match["first"]), int(match["last"])
    return (date(first, 1, 1), date(last + 1, 1, 1)) if first <= last else None


def _part_of_year(match: re.Match[str], today: date) -> tuple[date | None, date | None] | None:
    year = today.year - {"今年": 0, "去年": 1, "前年": 2}[match["which"]]
    return _inner(f"{year}年{match['what']}", today)


def _inner(text: str, today: date) -> tuple[date | None, date | None] | None:
    for pattern, reader in _SINGLE:
        match = pattern.fullmatch(text.strip())
        if match:
            return reader(match, today)
    return None


def _compiled(rows: list[tuple[str, Reader]]) -> list[tuple[re.Pattern[str], Reader]]:
    return [(re.compile(text), reader) for text, reader in rows]


def _quarter_of(match: re.Match[str], today: date) -> tuple[date, date]:
    text = match["q"] or match["q2"]
    number = int(text) if text.isdigit() else _HAN[text]
    return period("quarter", date(int(match["year"]) if match["year"] else today.year, number * 3 - 2, 1))


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SINGLE = _compiled(
    [
        (_DATE.format("day"), _on),
        (rf"{_YEAR}年(?P<month>\d{{1,2}})月(?:份)?", _month),
        (rf"(?P<month>{_MONTH})(?: of)?,? {_YEAR}", _month),
        (rf"{_YEAR}-(?P<month>\d{{1,2}})(?!\d)", _month),
        (rf"{_YEAR}年?(?:的)?(?:第(?P<q>[一二三四1-4])季度|[qQ](?P<q2>[1-4]))", _quarter_of),
        (rf"(?:the )?(?P<q>first|second|third|fourth|1st|2nd|3rd|4th) quarter of {_YEAR}", _quarter),
        (rf"q(?P<q>[1-4])(?: of)? {_YEAR}", _quarter),
        (rf"{_YEAR}年(?P<half>[上下])半年", _half),
        (rf"(?:the )?(?P<half>first|second) half of {_YEAR}", _half),
        (rf"(?:the year )?{_YEAR}(?:年度?)?(?![\d-])", _year),
        (r"第(?P<q>[一二三四1-4])季度", _quarter),
        (r"(?P<half>[上下])半年", _half),
        (rf"(?P<month>{_MONTH})(?![a-z])", _month),  # alone, "may" is a verb: see below
        (r"(?<![\d个])(?P<month>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?:份)?(?!\d)", _month),
    ]
)


_WHAT_ZH = r"(?P<what>[0-9年月日号第季度上下半一二三四五六七八九十-]{1,24}?)"
_WHAT = r"(?P<what>[a-z0-9年月日号第季度上下半一二三四五六七八九十 -]{1,24}?)"
_PAST_EN = (
    r"(?<![a-z])(?:in |during |over |for |within )?(?:the )?(?:past|last|previous) "
    r"(?P<n>\d+|two|three|four|five|six|seven|ten|twelve) (?P<unit>day|week|month|quarter|year)s?"
)
_READERS: list[tuple[re.Pattern[str], Reader]] = _compiled(
    [
        (rf"(?<![a-z])(?:between|from) {_DATE.format('start')} (?:and|to|until) {_DATE.format('last')}", _between),
        (rf"{_DATE.format('start')}(?:至|到|-|~){_DATE.format('last')}(?:之间|期间)?", _between),
        (r"(?<![a-z])(?:between|from) (?P<first>(?:19|20)\d\d) (?:and|to) (?P<last>(?:19|20)\d\d)", _years),
        (r"(?P<first>(?:19|20)\d\d)年?(?:至|到)(?P<last>(?:19|20)\d\d)年(?:之间|期间)?", _years),
        (rf"(?<![a-z])since (?:the )?{_WHAT}(?=$|[?.,])", _from),
        (rf"(?<![a-z])since {_WHAT}(?= )", _from),
        (rf"{_WHAT_ZH}(?:以来|至今)", _from),
        (rf"(?:自|从){_WHAT_ZH}(?:以来|起|开始|至今|以后)", _from),
        (rf"(?<![a-z])(?:before|prior to|until) {_WHAT}(?=$|[?.,])", _until),
        (rf"{_WHAT_ZH}(?:之前|以前|前)", _until),
        (rf"(?<![a-z])after {_WHAT}(?=$|[?.,])", _after),
        (rf"{_WHAT_ZH}(?:之后|以后|后)", _after),
        (_PAST_EN, _past),
        (
            r"(?:过去|最近|近|前)(?:的)?(?P<n>\d+|[一二两三四五六七八九十])?(?:个)?(?P<unit>天|日|周|星期|月|季度|年)(?:内|里|来|以来)?",
            _past,
        ),
        (r"(?<![a-z])(?:in |during )?(?:the )?(?:last|previous) (?P<unit>week|month|quarter|year)", _relative(-1)),
        (r"(?<![a-z])(?:in |during )?(?:this|the current) (?P<unit>week|month|quarter|year)", _relative(0)),
        (r"上(?:一)?(?:个)?(?P<unit>周|星期|月|季度)", _relative(-1)),
        (r"(?:本|这|当)(?:一)?(?:个)?(?P<unit>周|星期|月|季度|年)(?!份)", _relative(0)),
        (r"(?P<which>今年|去年|前年)的?(?P<what>第[一二三四1-4]季度|[上下]半年|1[0-2]月份?|[1-9]月份?)", _part_of_year),
        (r"去年|上年|上一年", _fixed("year", -1)),
        (r"前年", _fixed("year", -2)),
        (r"今年", _fixed("year", 0)),
        (r"今天|今日|(?<![a-z])today(?![a-z])", _fixed("day", 0)),
        (r"昨天|昨日|(?<![a-z])yesterday(?![a-z])", _fixed("day", -1)),
    ]
) + [
    (re.compile(rf"(?<![a-z0-9])(?:in |during |on |for )?(?:{pattern.pattern})"), reader) for pattern, reader in _SINGLE
]
