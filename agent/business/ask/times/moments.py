"""Single time expressions: a day, a month, a quarter, a year, absolute or counted from today.

A month without its year is the latest that has begun; it takes the year that stands beside it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from agent.business.ask.times.calendars import (
    HAN_NUMBER,
    MONTHS,
    WORD_NUMBER,
    Span,
    Unit,
    back,
    count_of,
    latest,
    month_of,
    numbered,
    period,
)


@dataclass(frozen=True)
class Moment:
    """A time expression at its place. of_year: the span in a year, for one that takes it; year: of one that is a year."""

    begin: int
    stop: int
    span: Span
    unit: Unit | None = None
    of_year: Callable[[int], Span | None] | None = None
    year: int | None = None


Reading = tuple[Span, Unit | None, Callable[[int], Span | None] | None, int | None]
Reader = Callable[[re.Match[str], date], Reading | None]
_N = rf"\d{{1,3}}|{WORD_NUMBER}|{HAN_NUMBER}"
_UNITS: dict[str, Unit] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year", "half year": "half",
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter", "季": "quarter", "年": "year",
    "年度": "year", "半年": "half",
}  # fmt: skip
_LONG_AGO = 60  # years
_RANKS = ("first 1st", "second 2nd", "third 3rd", "fourth 4th last final")
_ORDINALS = {word: n for n, words in enumerate(_RANKS, 1) for word in words.split()}


def find_moments(text: str, today: date) -> list[Moment]:
    """The single expressions of a normalised, lower-case text, in order; those named first in the list win."""
    found: list[Moment] = []
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            if any(match.start() < other.stop and other.begin < match.end() for other in found):
                continue
            reading = reader(match, today)
            if reading is not None:
                found.append(Moment(match.start(), match.end(), *reading))
    return sorted(found, key=lambda moment: moment.begin)


def _whole(span: Span | None, unit: Unit | None) -> Reading | None:
    return (span, unit, None, None) if span else None


def _full(match: re.Match[str], today: date) -> Reading | None:
    """“The last 6 months, not including the current month”: whole ones, up to where this one begins."""
    unit = _UNITS[match["unit"]]
    return _whole((period(unit, today, -count_of(match["n"]))[0], period(unit, today)[0]), None)


def _relative(offset: int) -> Reader:
    def read(match: re.Match[str], today: date) -> Reading:
        unit = _UNITS[match["unit"]]
        return period(unit, today, offset), unit, None, today.year + offset if unit == "year" else None

    return read


def _fixed(unit: Unit, offset: int) -> Reader:
    return lambda _match, today: _whole(period(unit, today, offset), unit)


def _rolling(match: re.Match[str], today: date) -> Reading | None:
    """The last n units up to today: it starts on the day n of them ago, as analysts write it (`>= current_date - 7`)."""
    n = count_of(match["n"]) if match.groupdict().get("n") else 1
    return _whole((back(today, _UNITS[match["unit"]], n), today + timedelta(days=1)), None)


def _ago(match: re.Match[str], today: date) -> Reading | None:
    return _whole(period(_UNITS[match["unit"]], today, -count_of(match["n"])), _UNITS[match["unit"]])


def _day_ago(match: re.Match[str], today: date) -> Reading | None:
    """“A year ago today”, “exactly two weeks ago”: that very day."""
    said = match.groupdict().get("n") or "a"
    n = 1 if said in ("a", "an") else count_of(said)
    return _whole(period("day", back(today, _UNITS[match["unit"]], n)), "day")


def _to_date(match: re.Match[str], today: date) -> Reading | None:
    unit: Unit = {"y": "year", "q": "quarter", "m": "month", "w": "week"}[match["unit"][0]]  # type: ignore[assignment]
    return _whole((period(unit, today)[0], today + timedelta(days=1)), None)


def _to_date_zh(match: re.Match[str], today: date) -> Reading | None:
    text = match[0]
    unit: Unit = "year" if "年" in text else "week" if "周" in text else "quarter" if "季" in text else "month"
    return _whole((period(unit, today)[0], today + timedelta(days=1)), None)


def _quarter_short(match: re.Match[str], today: date) -> Reading | None:
    return _numbered("quarter", count_of(match["q"] or match["q2"]), today)


def _half_short(match: re.Match[str], today: date) -> Reading | None:
    return _numbered("half", 1 if (match["half"] or match["half2"]) in ("1", "上") else 2, today)


def _year(match: re.Match[str], today: date) -> Reading | None:
    return _year_of(int(match["year"]))


def _short_year(match: re.Match[str], today: date) -> Reading | None:
    """“98年”: the latest year of these digits that has begun; one too far back is none."""
    number = today.year // 100 * 100 + int(match["yy"])
    number -= 100 if number > today.year else 0
    return _year_of(number) if today.year - number < _LONG_AGO else None


def _year_of(number: int) -> Reading:
    return period("year", date(number, 1, 1)), "year", None, number


def _year_back(offset: int) -> Reader:
    return lambda _match, today: (period("year", today, offset), "year", None, today.year + offset)


def _decade(match: re.Match[str], _today: date) -> Reading | None:
    start = int(match["year"]) if len(match["year"]) == 4 else 1900 + int(match["year"])
    return _whole((date(start, 1, 1), date(start + 10, 1, 1)), None)


def _numbered(unit: Unit, number: int, today: date) -> Reading:
    return latest(unit, number, today), unit, lambda year: numbered(unit, number, year), None


def _month(match: re.Match[str], today: date) -> Reading | None:
    number = month_of(match["month"])
    return _numbered("month", number, today) if number else None


def _year_month(match: re.Match[str], _today: date) -> Reading | None:
    number = int(match["month"])
    return _whole(numbered("month", number, int(match["year"])), "month") if 1 <= number <= 12 else None


def _quarter(match: re.Match[str], today: date) -> Reading | None:
    text = match["q"]
    return _numbered("quarter", _ORDINALS.get(text) or count_of(text), today)


def _half(match: re.Match[str], today: date) -> Reading | None:
    return _numbered("half", 1 if match["half"] in ("上", "first", "1", "前") else 2, today)


def _part(match: re.Match[str], today: date) -> Reading | None:
    """“The first three months of”, “前三个季度”: of a year."""
    unit, n = _UNITS[match["unit"]], count_of(match["n"])
    most = {"month": 12, "quarter": 4}.get(unit, 0)
    if not 0 < n <= most:
        return None
    is_first = match["which"] in ("first", "前", "头")

    def of_year(year: int) -> Span:
        first, last = (1, n) if is_first else (most - n + 1, most)
        return numbered(unit, first, year)[0], numbered(unit, last, year)[1]

    return of_year(today.year), None, of_year, None


def _date(match: re.Match[str], _today: date) -> Reading | None:
    day = _day_of(int(match["year"]), month_of(match["month"]), int(match["day"]))
    return _whole(period("day", day), "day") if day else None


def _month_day(match: re.Match[str], today: date) -> Reading | None:
    month, number = month_of(match["month"]), int(match["day"])

    def of_year(year: int) -> Span | None:
        day = _day_of(year, month, number)
        return period("day", day) if day else None

    span = of_year(today.year)
    if span and span[0] > today:
        span = of_year(today.year - 1)
    return (span, "day", of_year, None) if span else None


def _day_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _last_weekday(match: re.Match[str], today: date) -> Reading | None:
    """“上周一”: a day of the last week, or of this one."""
    week = period("week", today, -1 if match["which"].startswith("上") else 0)[0]
    return _whole(
        period("day", week + timedelta(days="一二三四五六日天".index(match["day"]) % 7 if match["day"] != "天" else 6)),
        "day",
    )


_MONTH_NAME = "|".join(f"{name}|{name[:3]}" for name in MONTHS if name != "may") + "|sept"
_MAY = "|".join(
    f"(?<={word} )"
    for word in (
        "in",
        "of",
        "since",
        "before",
        "after",
        "through",
        "to",
        "from",
        "between",
        "during",
        "vs",
        "and",
        "than",
    )
)  # alone it is a verb
_ALL_MONTHS = rf"(?P<month>{_MONTH_NAME}|may)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_SO_FAR = "(?:以来|至今|到现在|到目前为止|截至目前|截止目前|到目前)"
_HAN_MONTH = rf"(?P<month>1[0-2]|0?[1-9]|{HAN_NUMBER})月"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_E, _Z = r"(?<![a-z0-9])", r"(?![a-z0-9])"


_UNIT = "(?P<unit>day|week|month|quarter|year)"
_ZH_UNIT = "(?P<unit>天|日|周|星期|礼拜|月|季度|年)"
_PAST = rf"{_E}(?:the )?(?:past|last|previous|most recent) (?P<n>{_N})"
_WHOLE = "(?:full|complete|whole|calendar)"
_WITHOUT = "(?:not including|not counting|excluding|without|except)"

_FORMS: tuple[tuple[str, Reader], ...] = (
    # days
    (rf"{_YEAR}-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})(?!\d)", _date),
    (rf"{_YEAR}[/.](?P<month>\d{{1,2}})[/.](?P<day>\d{{1,2}})(?!\d)", _date),
    (rf"{_YEAR}年的?(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})[日号]", _date),
    (rf"{_E}(?:the )?{_DAY}(?: of)? {_ALL_MONTHS},? {_YEAR}{_Z}", _date),
    (rf"{_E}{_ALL_MONTHS}\.? (?:the )?{_DAY},? {_YEAR}{_Z}", _date),
    (rf"{_E}{_ALL_MONTHS}\.? (?:the )?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?{_Z}", _month_day),
    (rf"{_E}(?:the )?{_DAY}(?: of)? {_ALL_MONTHS}{_Z}", _month_day),
    (rf"{_HAN_MONTH}(?P<day>\d{{1,2}})[日号]", _month_day),
    (rf"{_E}(?:exactly |precisely )?(?P<n>an?|{_N}) (?P<unit>week|month|year)s? ago (?:today|to the day){_Z}", _day_ago),
    (rf"{_E}(?:today|this day) (?P<n>an?|{_N}) (?P<unit>week|month|year)s? ago{_Z}", _day_ago),
    (rf"{_E}(?:exactly|precisely) (?P<n>an?|{_N}) (?P<unit>week|month|year)s? ago{_Z}", _day_ago),
    (rf"{_E}(?:the same day|this day) last (?P<unit>month|year){_Z}", _day_ago),
    (rf"{_E}the day before yesterday{_Z}|前天|前日", _fixed("day", -2)),
    (rf"今天|今日|{_E}today{_Z}", _fixed("day", 0)),
    (rf"昨天|昨日|{_E}yesterday{_Z}", _fixed("day", -1)),
    (r"(?P<which>上周|上星期|上礼拜|本周|这周|这星期)(?P<day>[一二三四五六日天])(?!个)(?<!一(?=[共直]))", _last_weekday),
    # up to today
    (rf"{_E}(?:the )?(?P<unit>year|quarter|month|week)[ -]to[ -]date{_Z}", _to_date),
    (rf"{_E}(?P<unit>[yqm])td{_Z}", _to_date),
    (rf"{_E}since the (?:beginning|start) of (?:the|this) (?P<unit>year|quarter|month|week){_Z}", _to_date),
    (rf"{_E}so far this (?P<unit>year|quarter|month|week){_Z}", _to_date),
    (rf"{_E}the (?P<unit>year|quarter|month|week) so far{_Z}", _to_date),
    (r"(?:自从?|从)?(?:今年|本年|本月|这个月)?(?<![去前明后上下])[年月]初(?:至今|到现在|以来|到今天|到目前为止|起)", _to_date_zh),
    (rf"(?:今年|本年)(?:年初)?{_SO_FAR}", _to_date_zh),
    (rf"(?:本月|这个月|本季度|这个季度|本周|这周){_SO_FAR}", _to_date_zh),
    # parts of a year
    (rf"{_E}(?:the )?(?P<which>first|last) (?P<n>{_N}) (?P<unit>month|quarter)s(?= of )", _part),
    (rf"(?<=年)(?P<which>前|头|后)(?P<n>\d{{1,2}}|{HAN_NUMBER})个?(?P<unit>月|季度)", _part),
    # rolling; without the unit that has begun
    (rf"{_PAST} (?:{_WHOLE} )?{_UNIT}s?,? ?\(?{_WITHOUT} (?:the current|this) (?P=unit)\)?", _full),
    (rf"{_PAST} {_WHOLE} {_UNIT}s?{_Z}", _full),
    (rf"(?:过去|最近|近|前)(?:的)?(?P<n>\d{{1,3}}|{HAN_NUMBER})个?(?:完整|整)的?{_ZH_UNIT}", _full),
    (rf"(?:过去|最近|近|前)(?:的)?(?P<n>\d{{1,3}}|{HAN_NUMBER})个?{_ZH_UNIT}[,(]?(?:不含|不包括|不算)(?:本|这个|当前)(?P=unit)\)?", _full),
    # rolling
    (rf"{_E}(?:the )?(?:past|last|previous|most recent) (?P<n>{_N}) (?P<unit>day|week|month|quarter|year)s?{_Z}", _rolling),
    (rf"{_E}(?:the )?past (?P<unit>half year|day|week|month|quarter|year){_Z}", _rolling),
    (rf"(?:过去|最近|近|前)(?:的)?(?:这)?(?P<n>\d{{1,3}}|{HAN_NUMBER})(?:个)?(?:自然)?{_ZH_UNIT}(?:内|里|来|以来|中)?", _rolling),
    (r"(?:过去|最近|近)(?:的)?(?P<unit>半年)(?:内|里|来|以来|中)?", _rolling),
    (r"(?:过去|最近)(?:的)?(?:这)?(?:一)?(?:个)?(?P<unit>月|周|星期|季度|年)(?:内|里|来|以来|中)?(?!份)", _rolling),
    (rf"{_E}(?:the )?(?P<q>first|second|third|fourth|1st|2nd|3rd|4th) quarter{_Z}", _quarter),
    (rf"{_E}(?:the )?(?P<q>last|final) quarter(?= of )", _quarter),
    (rf"(?<![a-z])q(?P<q>[1-4]){_Z}|第?(?P<q2>[一二三四1-4])季度", _quarter_short),
    (rf"{_E}(?:the )?(?P<half>first|second) half{_Z}", _half),
    (rf"(?<![a-z])h(?P<half>[12]){_Z}|(?P<half2>[上下])半年", _half_short),
    (rf"{_YEAR}-(?P<month>\d{{1,2}})(?![\d-])", _year_month),
    # counted from now
    (rf"{_E}(?P<n>{_N}) (?P<unit>day|week|month|quarter|year)s? ago{_Z}", _ago),
    (rf"{_E}(?:the )?{_UNIT} before last{_Z}", _relative(-2)),
    (rf"{_E}(?:the )?(?:last|previous|prior) {_UNIT}{_Z}", _relative(-1)),
    (rf"{_E}(?:this|the current|current) {_UNIT}{_Z}", _relative(0)),
    (r"上上(?:一)?(?:个)?(?P<unit>周|星期|礼拜|月|季度)", _relative(-2)),
    (r"上(?:一)?(?:个)?(?P<unit>周|星期|礼拜|月|季度)(?!份)", _relative(-1)),
    (r"(?:本|这|当)(?:一)?(?:个)?(?P<unit>周|星期|礼拜|月|季度)(?!份)", _relative(0)),
    (r"去年度?|上年度?|上一年度?", _year_back(-1)),
    (r"(?<!目)前年|(?<!目)前一年", _year_back(-2)),
    (r"今年|本年度?|这一年", _year_back(0)),
    # months, years
    (rf"{_E}(?P<month>{_MONTH_NAME})(?![a-z])", _month),
    (rf"{_E}(?P<month>may)(?=(?: of)?,? (?:19|20)\d\d| this year| last year| to | and )", _month),
    (rf"(?:{_MAY})(?P<month>may){_Z}", _month),
    (rf"(?<![\d个]){_HAN_MONTH}(?:份)?(?!\d)", _month),
    (r"(?<![\d.近去前后满过第这约])(?P<yy>\d\d)年(?=[^\d以之内前后间里来龄限资代多]|\d{1,2}月|$)", _short_year),
    (rf"{_E}(?:the )?{_YEAR}s{_Z}", _decade),
    (r"(?:二十世纪|20世纪|上世纪)?(?P<year>[3-9]0)年代", _decade),
    (rf"{_E}(?:the year |calendar year )?{_YEAR}(?:年度?|(?![\d-]|\.\d|s\b|年代))", _year),
)  # fmt: skip
_READERS = [(re.compile(text), reader) for text, reader in _FORMS]
