"""Time expressions of both languages, resolved to days in the company's time zone: [start, end).

Single expressions (`moments.py`) are put together here: a month takes the year beside it, two make a range, “since” opens one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.business.ask.times.calendars import Unit, period
from agent.business.ask.times.moments import Moment, find_moments


@dataclass(frozen=True)
class Window:
    """Days from `start` up to and without `end`; None is open. text: the words it was read from.

    unit: where it is one calendar period. days: then it is no window, but these days of the week, Monday is 1.
    """

    start: date | None
    end: date | None
    text: str
    unit: Unit | None = None
    days: tuple[int, ...] = ()


@dataclass(frozen=True)
class FoundWindow:
    window: Window
    begin: int
    stop: int


_OF_YEAR = re.compile(r"(?: of| in|,|'s)? ?(?:the year )?|的")
_JOINED = re.compile(
    r",? ?(?:and|&|vs\.?|versus|to|through|or|with|than|against|as against|relative to|over|compared (?:to|with)|with that of|-|–|~)"
    r"(?: (?:in|for|with|from|during))?(?: the| that of(?: the)?)? ?"
    r"|[和与跟到至比、及,~-]|相比|对比| - "
)
_RANGE = re.compile(r" ?(?:to|through|until|till|up to|-|–|~) ?|[到至~-]|一直到")
_AND = re.compile(r" and |[和与]")
_CHANGES = re.compile(
    r"(?<![a-z])(?:chang|grow|grew|increas|decreas|differ|r[io]se|f[ae]ll|drop|develop|compar)"
    r"|变化|增长|下降|增幅|涨|差|多了|少了|对比|相比"
)
_BEFORE = [
    (re.compile(r"(?<![a-z])(?:since|starting(?: from| in)?|from|as of)(?: the)? $"), re.compile(r" on(?:wards?)?(?![a-z])"), "from"),
    (re.compile(r"(?<![a-z])since(?: the)? $"), None, "from"),
    (re.compile(r"(?<![a-z])(?:before|prior to|earlier than)(?: the)? $"), None, "until"),
    (re.compile(r"(?<![a-z])(?:after|later than)(?: the)? $"), None, "after"),
    (re.compile(r"(?:自从?|从)$"), re.compile(r"以来|起|开始|至今|以后|到现在|到今天"), "from"),
    (re.compile(r"(?:截至|截止|截止到|到|至)$"), re.compile(r"为止"), "through"),
    (re.compile(r"(?:早于|先于)$"), None, "until"),
    (re.compile(r"晚于$"), None, "after"),
    (None, re.compile(r"以来|至今|起(?!来)|开始至今"), "from"),
    (None, re.compile(r"之前|以前|前(?![\d一二三四五六七八九十两])"), "until"),
    (None, re.compile(r"之后|以后|后(?![\d一二三四五六七八九十两])"), "after"),
]  # fmt: skip
_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_HAN_DAYS = "一二三四五六日"
_WEEKDAYS = re.compile(
    r"(?<![a-z])(?:on |every )?(?P<name>" + "|".join(_NAMES) + r")s(?![a-z])|(?<![a-z])every (?P<each>" + "|".join(_NAMES) + r")(?![a-z])"
    r"|(?<![a-z])(?:on |at )?(?:the )?(?P<end>weekends?)(?![a-z])|(?<![a-z])on (?P<work>weekdays|working days)(?![a-z])"
    r"|(?<![上本这下])(?:每个?|逢)?(?:周|星期|礼拜)(?P<han>[一二三四五六日天])(?!个)(?<!一(?=[共直]))|(?<![上本这下])(?P<zhend>周末)|(?P<zhwork>工作日)"
)  # fmt: skip


def find_windows(text: str, today: date) -> list[FoundWindow]:
    """The time expressions of a normalised, lower-case text, in order, not overlapping; the longer reading wins."""
    moments = _with_years(text, find_moments(text, today))
    found = [_opened(text, _week(text, piece)) for piece in _ranges(text, moments)]
    taken = [(piece.begin, piece.stop) for piece in found]
    found += [
        FoundWindow(Window(None, None, match[0].strip(), days=_days(match)), match.start(), match.end())
        for match in _WEEKDAYS.finditer(text)
        if not any(match.start() < stop and begin < match.end() for begin, stop in taken)
    ]
    return sorted(found, key=lambda item: item.begin)


def _days(match: re.Match[str]) -> tuple[int, ...]:
    if name := match["name"] or match["each"]:
        return (_NAMES.index(name) + 1,)
    if match["han"]:
        return (_HAN_DAYS.index(match["han"].replace("天", "日")) + 1,)
    return (6, 7) if match["end"] or match["zhend"] else (1, 2, 3, 4, 5)


def _with_years(text: str, moments: Sequence[Moment]) -> list[Moment]:
    """Months, quarters and halves in the year that stands beside them, or beside the one they are joined with."""
    kept: list[Moment] = []
    rest = list(moments)
    while rest:
        moment, rest = rest[0], rest[1:]
        last = kept[-1] if kept else None
        if moment.of_year and rest and rest[0].year and _OF_YEAR.fullmatch(text[moment.stop : rest[0].begin]):
            kept.append(_in_year(moment, rest[0].year, stop=rest[0].stop))
            rest = rest[1:]
        elif (
            moment.of_year
            and last
            and last.year
            and last.of_year is None
            and _OF_YEAR.fullmatch(text[last.stop : moment.begin])
        ):
            kept[-1] = _in_year(moment, last.year, begin=last.begin)
        else:
            kept.append(moment)
    for step in (-1, 1):  # the year of the one after, then of the one before
        order = range(len(kept) - 2, -1, -1) if step == -1 else range(1, len(kept))
        for place in order:
            one, other = kept[place], kept[place - step]
            between = text[min(one.stop, other.stop) : max(one.begin, other.begin)]
            if one.of_year and not one.year and other.of_year and other.year and _JOINED.fullmatch(between):
                kept[place] = _in_year(one, other.year)
            elif (
                one.of_year
                and not one.year
                and other.unit == "day"
                and not other.of_year
                and _JOINED.fullmatch(between)
            ):
                kept[place] = _beside_date(one, other, step)
    return kept


def _beside_date(one: Moment, date_beside: Moment, step: int) -> Moment:
    """“Between 1 October and 15 November 1996”: in the year of the date beside it, so that the two are in their order."""
    day = date_beside.span[0]
    found = _in_year(one, day.year)
    is_before = found.span[0] <= day
    is_in_order = is_before if step == -1 else day <= found.span[0]
    return found if is_in_order else _in_year(one, day.year + step)


def _in_year(moment: Moment, year: int, *, begin: int | None = None, stop: int | None = None) -> Moment:
    span = moment.of_year(year) if moment.of_year else None
    return replace(
        moment, span=span or moment.span, year=year,
        begin=moment.begin if begin is None else begin, stop=moment.stop if stop is None else stop,
    )  # fmt: skip


def _ranges(text: str, moments: Sequence[Moment]) -> list[FoundWindow]:
    """From one to another: with “to”, or with “and” after “between”."""
    found: list[FoundWindow] = []
    place = 0
    is_change = _CHANGES.search(text) is not None
    while place < len(moments):
        one, other = moments[place], moments[place + 1] if place + 1 < len(moments) else None
        begin, stop = _around(text, one.begin, (other or one).stop)
        if other and one.span[0] <= other.span[0] and _is_range(text, one, other, is_change=is_change):
            found.append(FoundWindow(Window(one.span[0], other.span[1], text[one.begin : other.stop]), begin, stop))
            place += 2
        else:
            found.append(
                FoundWindow(Window(*one.span, text[one.begin : one.stop].strip(), one.unit), one.begin, one.stop)
            )
            place += 1
    return found


def _around(text: str, begin: int, stop: int) -> tuple[int, int]:
    before = re.search(r"(?<![a-z])(?:from|between)(?: the)? $|(?:从|自|在|介于)$", text[:begin])
    after = re.match(r"之间|期间|为止|间", text[stop:])
    return begin - (len(before[0]) if before else 0), stop + (len(after[0]) if after else 0)


def _is_range(text: str, one: Moment, other: Moment, *, is_change: bool) -> bool:
    between = text[one.stop : other.begin]
    if _RANGE.fullmatch(between):
        return not (is_change and between.strip() in ("to", "到"))
    is_between = re.search(r"(?<![a-z])between(?: the)? $|介于$", text[: one.begin]) or re.match(
        r"之间", text[other.stop :]
    )
    return bool(is_between and not is_change and _AND.fullmatch(between))


_WEEK_OF = re.compile(r"(?<![a-z])(?:the )?week (?:of|starting|beginning)(?: the)? $")


def _week(text: str, found: FoundWindow) -> FoundWindow:
    """“The week of 2 November”."""
    head = _WEEK_OF.search(text[: found.begin]) if found.window.unit == "day" else None
    if head is None or found.window.start is None:
        return found
    begin = head.start()
    return FoundWindow(Window(*period("week", found.window.start), text[begin : found.stop], "week"), begin, found.stop)


def _opened(text: str, found: FoundWindow) -> FoundWindow:
    """“Since”, “before” and “after” a time, as an open window."""
    window = found.window
    for before, after, way in _BEFORE:
        head = before.search(text[: found.begin]) if before else None
        tail = after.match(text[found.stop :]) if after else None
        if (before and not head) or (after and not tail):
            continue
        begin, stop = found.begin - (len(head[0]) if head else 0), found.stop + (len(tail[0]) if tail else 0)
        ways = {"from": (window.start, None), "until": (None, window.start), "after": (window.end, None)}
        start, end = ways.get(way, (None, window.end))
        return FoundWindow(Window(start, end, text[begin:stop].strip()), begin, stop)
    return found
