"""Which two times a question compares, and the question without the words that say so."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.times.calendars import back, period
from agent.business.ask.times.windows import Window
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item

_ONE_BEFORE = frozenset(
    f"{the}{word} {unit}" for the in ("", "the ") for word in ("previous", "prior") for unit in ("year", "quarter", "month", "week")
) | {"上年", "上一年", "上年度", "上一年度"}  # fmt: skip


@dataclass(frozen=True)
class TimesCompared:
    """rest: the question with `window` for the time. is_change: their difference is asked for; is_compared: a word says that they are."""

    rest: tuple[Item, ...]
    window: Item
    now: Window
    before: Window
    is_change: bool
    is_compared: bool

    def asked_of(self, time: Window) -> list[Item]:
        """The question asked of one time."""
        said = replace(self.window, window=time, text=time.text)
        return [said if item is self.window else item for item in self.rest]


def times_compared(items: list[Item]) -> TimesCompared:
    """Raises NotUnderstood where two times merely stand there, or what is compared with is not said."""
    windows = [item for item in items if item.kind is Kind.WINDOW]
    relative = next((i for i in windows[1:] if len(windows) == 2 and i.text in _ONE_BEFORE), None)
    if relative is not None:  # “2024 compared with the previous year”
        items = [replace(i, kind=Kind.PREVIOUS, window=None) if i is relative else i for i in items]
        windows = windows[:1]
    kinds = {item.kind for item in items}
    is_compared = is_change(kinds) or any(
        i.kind is Kind.EACH and i.text.lower() not in ("both", "respectively") for i in items
    )
    if len(windows) == 2 and not is_compared and not _are_joined(items, windows):
        raise NotUnderstood("several times")
    now, before = _meant(items, windows, is_than=Kind.THAN in kinds)
    gone = (Kind.CHANGE, Kind.PREVIOUS, Kind.THAN, Kind.EACH)
    kept = [i for i in _unnumbered(items) if i.kind not in gone and (i.kind is not Kind.WINDOW or i is windows[0])]
    rest = tuple(_without_joints(kept, items, windows))
    return TimesCompared(rest, windows[0], now, before, is_change(kinds), is_compared)


def is_change(kinds: Collection[Kind]) -> bool:
    """Whether a word asks for the difference."""
    return any(kind in kinds for kind in (Kind.CHANGE, Kind.PREVIOUS, Kind.THAN))


def _meant(items: Sequence[Item], windows: Sequence[Item], *, is_than: bool) -> tuple[Window, Window]:
    times = [item.window for item in windows if item.window]
    if len(times) == 2:
        one, other = times
        is_asked_so = is_than or any(item.kind is Kind.EACH for item in items)
        if is_asked_so or not any(item.kind is Kind.CHANGE for item in items):
            return one, other
        return (
            (one, other)
            if (one.start or other.end) and one.start and other.start and one.start > other.start
            else (other, one)
        )
    if len(times) != 1:
        raise NotUnderstood("which times are compared")
    said = [item.sign for item in items if item.kind is Kind.PREVIOUS]
    if not said and times[0].unit != "year":  # “growth in 2025” is over 2024; of a month nothing is said
        raise NotUnderstood("compared with what")
    if said == [""] and times[0].unit == "year" and not any(item.text in _ONE_BEFORE for item in items):
        raise NotUnderstood("compared with what")  # “环比” of a year
    unit = said[0] if said else ""
    if unit not in ("", "year") and unit != times[0].unit:
        raise NotUnderstood("compared with what")
    return times[0], before_window(times[0], by_year=unit == "year")


def _unnumbered(items: Sequence[Item]) -> list[Item]:
    """Without comparisons that no number follows: “more … than”, “higher than”."""
    content = [item for item in items if item.kind is not Kind.STOP]
    numbered = {id(one) for one, other in pairwise(content) if one.kind is Kind.COMPARE and other.kind is Kind.NUMBER}
    return [item for item in items if item.kind is not Kind.COMPARE or id(item) in numbered]


def _without_joints(rest: list[Item], items: Sequence[Item], windows: Sequence[Item]) -> list[Item]:
    """Without the “and” between two times."""
    content = [item for item in items if item.kind is not Kind.STOP]
    if len(windows) < 2:
        return rest
    first, last = (next(n for n, item in enumerate(content) if item is window) for window in windows[:2])
    joints = {id(item) for item in content[first:last] if item.kind is Kind.AND} if last - first == 2 else set()
    if content[last - 1].kind is Kind.AND:  # “今年销售额和去年相比”
        joints.add(id(content[last - 1]))
    return [item for item in rest if id(item) not in joints]


def _are_joined(items: Sequence[Item], windows: Sequence[Item]) -> bool:
    """Whether “and” stands between two times."""
    content = [item for item in items if item.kind is not Kind.STOP]
    first, last = (next(n for n, item in enumerate(content) if item is window) for window in windows[:2])
    return [item.kind for item in content[first + 1 : last]] == [Kind.AND] or any(
        item.kind is Kind.EACH for item in content
    )


def before_window(window: Window, *, by_year: bool) -> Window:
    """The same length of time one period, or one year, earlier."""
    if window.start is None or window.end is None:
        raise NotUnderstood("compared with what")
    if by_year:
        start, end = back(window.start, "year", 1), back(window.end, "year", 1)
        return Window(start, end, f"{start} – {end - timedelta(days=1)}", window.unit)
    if window.unit is None:
        raise NotUnderstood("compared with what")
    start, end = period(window.unit, window.start, -1)
    return Window(start, end, f"{start} – {end - timedelta(days=1)}", window.unit)
