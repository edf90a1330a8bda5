"""One number over another: “the ratio of authors to organizations by continent”, “the ratio of paid orders to all orders”.

What stands before “to” and what stands after it are questions of their own; a group that is named is said of both, and of the
first alone where it stands before “to”.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from agent.business.ask.meaning import NotUnderstood, Question, Ratio, Rows
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon

Read = Callable[[list[Item]], Question]
_THINGS = (Kind.MODEL, Kind.MEASURE, Kind.QUANTITY)
_FIGURES = (Kind.COUNT, Kind.MEASURE, Kind.SUM, Kind.AVG, Kind.MUCH)


def ratio(items: list[Item], lexicon: Lexicon, read: Read) -> Question:
    """The one reading of a ratio. Raises NotUnderstood where there is none, or where “to” may stand in several places."""
    said = [item for item in items if item.kind is not Kind.RATIO]
    found = {}
    for place, item in enumerate(said):
        if item.kind is Kind.STOP and item.text.lower() in ("to", "over", "to all"):
            with suppress(NotUnderstood):
                found[place] = _parted(said[:place], said[place + 1 :], lexicon, read)
    if len(found) != 1:
        raise NotUnderstood("a ratio of what to what")
    return found.popitem()[1]


def _parted(first: list[Item], second: list[Item], lexicon: Lexicon, read: Read) -> Question:
    above, inner = _ungrouped(first)
    below, outer = _ungrouped(second)
    is_before = bool(inner) and first.index(inner[0]) == _first_said(first)
    if inner and outer:
        raise NotUnderstood("a ratio by two things")
    if inner and is_before:  # “for each region, the ratio of …”
        inner, outer = [], inner
    above, below = _completed(above, below)
    sums = _sums(outer, lexicon)
    one = _number(read([*_figured(above, sums=sums), *(inner or outer)]))
    other = _number(read([*_figured(below, sums=sums), *outer]))
    _require_pair(one, other, is_of_whole=bool(inner))
    return replace(one, derived=Ratio(other))


def _require_pair(one: Question, other: Question, *, is_of_whole: bool) -> None:
    """Two numbers by the same groups; what is said of the second alone may have been meant of both. Raises NotUnderstood."""
    if not is_of_whole and one.groups != other.groups:
        raise NotUnderstood("a ratio by what")
    if is_of_whole and (other.figures != one.figures or _said_of(other)):
        raise NotUnderstood("a part of what whole")
    if len(one.groups) + len(other.groups) == 0 and one == other:
        raise NotUnderstood("a ratio of a number to itself")
    missing = {type(each) for each in _said_of(other)} - {type(each) for each in _said_of(one)}
    if missing:
        raise NotUnderstood("a condition of one of them, or of both")


def _said_of(question: Question) -> tuple[object, ...]:
    q = question
    return (*q.values, *q.numbers, *q.missing, *q.having, *q.related, *q.others, *q.times)


def _number(question: Question) -> Question:
    """A list of things as how many they are."""
    if not question.figures and question.of and not question.columns and not question.limit:
        question = replace(question, figures=(Rows(question.of),), of=None, order=None)
    if len(question.figures) != 1 or question.derived or question.limit:
        raise NotUnderstood("a ratio of what")
    return replace(question, order=None)


def _ungrouped(items: list[Item]) -> tuple[list[Item], list[Item]]:
    """The items without what they are grouped by, and that: “in each state”, “by continent”."""
    for place, item in enumerate(items):
        if item.kind is not Kind.GROUP:
            continue
        stop = place + 1
        while stop < len(items) and items[stop].kind is Kind.STOP:
            stop += 1
        if stop < len(items) and items[stop].kind in (Kind.MODEL, Kind.DIMENSION, Kind.PERIOD, Kind.QUANTITY):
            return [*items[:place], *items[stop + 1 :]], items[place : stop + 1]
    return items, []


def _first_said(items: Sequence[Item]) -> int:
    return next((n for n, item in enumerate(items) if item.kind not in (Kind.STOP, Kind.ASK)), 0)


def _completed(above: list[Item], below: list[Item]) -> tuple[list[Item], list[Item]]:
    """“Of active to inactive customers”: the thing is said once."""
    things = [[item for item in part if item.kind in _THINGS] for part in (above, below)]
    if not things[0] and things[1]:
        above = [*above, things[1][0]]
    elif not things[1] and things[0]:
        below = [*below, things[0][0]]
    return above, below


def _figured(items: list[Item], *, sums: bool) -> list[Item]:
    """What is a thing alone is counted; a column alone is one where every group is one row. Raises NotUnderstood."""
    if any(item.kind in _FIGURES for item in items):
        return [replace(item, kind=Kind.STOP) if item.kind is Kind.LIST else item for item in items]
    columns = [item for item in items if item.kind is Kind.QUANTITY]
    is_column = len(columns) == 1 and all(item.kind in (Kind.QUANTITY, Kind.STOP, Kind.ASK) for item in items)
    if is_column and not sums:
        raise NotUnderstood("a ratio of columns of several rows")
    return [Item(Kind.SUM, "sum"), *columns] if is_column else [Item(Kind.COUNT, "number of"), *items]


def _sums(outer: list[Item], lexicon: Lexicon) -> bool:
    """Whether a group is one row: a thing, or the key of its table."""
    if not outer:
        return False
    group = outer[-1]
    if group.kind is Kind.MODEL:
        return True
    keys = [ref for ref in group.refs if isinstance(ref, DimensionRef) and _is_key(ref, lexicon)]
    return bool(keys)


def _is_key(ref: DimensionRef, lexicon: Lexicon) -> bool:
    primary = lexicon.model(ref.model).primary
    return primary is not None and lexicon.dimension(ref).expr == primary.expr
