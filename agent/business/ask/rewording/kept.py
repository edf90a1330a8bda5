"""What is kept of someone: “customers who have a company on file”, “有单位的客户”: a column that is filled, or with “no” is not.

“On file” says nothing only beside the things themselves (“the customers we have on file”); anywhere else it must be read.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from agent.business.ask.words.beside import saying, text_of
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import Lexicon

_COLUMNS = (Kind.DIMENSION, Kind.TIME, Kind.QUANTITY)
_HAVING = frozenset("have has had having".split())  # noqa: SIM905
_BEING = frozenset("is are was were".split())  # noqa: SIM905
_ARTICLES = frozenset(("a", "an", "any"))
_ITS = frozenset(("the", "their", "its", "his", "her"))
_RECORDED = frozenset("listed given recorded registered stored known".split())  # noqa: SIM905
_OF = "的"


def kept(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """The items with what is on file said as it is said elsewhere: FILLED beside a column, or NOT before it."""
    items = _recorded(items)
    place = 0
    while place < len(items):
        if items[place].kind in _COLUMNS:
            items = _of_column(items, place)
        place += 1
    return _of_company(_of_things(items))


def _recorded(items: list[Item]) -> list[Item]:
    """“With no company listed”: a word for what is on file, where it ends what is said of a column."""
    said = list(items)
    for place, item in enumerate(items):
        before = [one for one in items[:place] if one.kind is not Kind.NOT and text_of(one) not in _BEING][-1:]
        is_word = item.kind in (Kind.UNKNOWN, Kind.EVENT) and text_of(item) in _RECORDED
        if is_word and before and before[0].kind in _COLUMNS and _ends(items[place + 1 :]):
            said[place] = replace(item, kind=Kind.FILLED)
    return said


def _ends(after: Sequence[Item]) -> bool:
    """Whether nothing more is said of the column before."""
    return all(item.kind in (Kind.STOP, Kind.AND) and text_of(item) != "as" for item in after)


def _of_column(items: list[Item], place: int) -> list[Item]:
    """What is said of the column at a place: that it is there, or not."""
    column, end = items[place], place + 1
    while end < len(items) and (items[end].kind is Kind.NOT or text_of(items[end]) in _BEING):
        end += 1
    filled = end if end < len(items) and items[end].kind is Kind.FILLED else None
    between = items[place + 1 : end]
    is_not = any(item.kind is Kind.NOT for item in between)
    if filled is not None and is_not:  # “whose company is not on file”
        return [*items[:place], Item(Kind.NOT, "not"), column, *items[filled + 1 :]]
    before = _before(items, place, is_on_file=filled is not None)
    if before == "no" and filled is not None:
        return [*items[: place + 1], *items[filled + 1 :]]
    has = before == "have" or (before == "with" and filled is None)
    if filled is not None or not has or not _thing_beside(items, place):
        return items
    asks_whether = text_of(items[0]).split(" ")[0] in ("do", "does", "did")
    if column.kind is Kind.QUANTITY or asks_whether:  # “have a discount”: of nothing, or none at all
        return [*items[:place], replace(column, kind=Kind.UNKNOWN), *items[place + 1 :]]
    return [*items[: place + 1], Item(Kind.FILLED, "on file"), *items[end:]]


def _before(items: list[Item], place: int, *, is_on_file: bool) -> str:
    """How someone is said to have the column: “have”, “with”, “no” or nothing of it."""
    back = place - 1
    is_article = back >= 0 and (text_of(items[back]) in _ARTICLES or (is_on_file and text_of(items[back]) in _ITS))
    back -= is_article
    if back < 0:
        return ""
    said = items[back]
    words = text_of(said).split()
    if said.kind is Kind.NOT:
        return "no"
    if said.kind in (Kind.STOP, Kind.EXISTS) and (set(words[-2:]) & _HAVING or said.text == "有"):
        is_not = any(one.kind is Kind.NOT for one in items[max(0, back - 1) : back])
        return "no" if is_not else "have"
    return "with" if words == ["with"] and is_article else ""


def _thing_beside(items: list[Item], place: int) -> bool:
    """Whether a thing has the column: before, with nothing more said of the column, or after “的”."""
    after = items[place + 1 :]
    if after and after[0].text == _OF:
        content = saying(after)
        return bool(content) and content[0].kind in (Kind.MODEL, Kind.VALUE)
    has_thing = any(item.kind is Kind.MODEL for item in items[:place])
    return has_thing and _ends(after)


def _of_things(items: list[Item]) -> list[Item]:
    """“How many customers do we have on file”: the things themselves, where no column is asked for."""
    content = [item for item in saying(items) if item.kind is not Kind.EXISTS]
    kinds = {item.kind for item in content}
    if kinds & {*_COLUMNS} or Kind.MODEL not in kinds:
        return items
    last = [
        item for before, item in pairwise(content)
        if item.kind is Kind.FILLED and item.text.lower() in ("on file", "on record") and before.kind in (Kind.MODEL, Kind.VALUE)
    ]  # fmt: skip
    return [replace(item, kind=Kind.STOP) if any(item is one for one in last) else item for item in items]


def _of_company(items: list[Item]) -> list[Item]:
    """“有公司的客户”: a column that the layer does not have, though “公司” elsewhere is who asks."""
    return [
        replace(item, kind=Kind.UNKNOWN)
        if item.text == "公司"
        and item.kind is Kind.STOP
        and place
        and items[place - 1].text == "有"
        and items[place + 1 : place + 2]
        and items[place + 1].text == _OF
        else item
        for place, item in enumerate(items)
    ]
