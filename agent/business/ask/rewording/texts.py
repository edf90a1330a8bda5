"""Parts of names: “with ‘love’ in the title”, “名称包含“Rock””, “starting with "A"”; and names that are written without quotes."""

from collections.abc import Sequence
from dataclasses import replace

from agent.business.ask.words.beside import next_said
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.kinds import words_in
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef

_CONTAINING = words_in(
    "contain contains containing include includes including mention mentions mentioning 含 包含 含有 带 带有 包括 里有 中有 有 里带 里含"
)
_STARTING = words_in("startswith 开头")
_ENDING = words_in("endswith 结尾")
_BEING = words_in("is was are named called by 是 为 叫 写 填 的 由")
_WHOLE_CHARS = 3  # a word of fewer letters may have lost a sign: “J. S. Bach”


def partly(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with quoted parts of a text marked as what they are of it, and bare names beside their column as quoted."""
    items = _bare(_in_column(items), lexicon)
    said = list(items)
    for place, item in enumerate(items):
        if item.kind is Kind.QUOTED and not item.sign and (sign := _sign(items, place)):
            said[place] = replace(item, sign=sign)
    if any(item.kind is Kind.QUOTED and item.sign in ("starts", "ends") for item in said):
        said = [item for item in said if item.text.lower() not in _STARTING | _ENDING]
    return _of_the_thing(said, lexicon)


def _of_the_thing(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“名字带 Love 的歌”: what a thing is called, in a word that the layer has for other names."""
    models = {ref.model for item in items if item.kind is Kind.MODEL for ref in item.refs if isinstance(ref, ModelRef)}
    own = lexicon.model(models.pop()) if len(models) == 1 else None
    if own is None or own.name_dimension is None:
        return items
    name = DimensionRef(own.name, own.name_dimension.name)
    return [
        replace(item, refs=(name,))
        if item.kind is Kind.DIMENSION
        and not item.is_owned  # “whose journal names start with”: those of the journals
        and after
        and after.sign
        and _are_names(item, lexicon)
        and name not in item.refs
        else item
        for item, after in zip(items, _next_said(items), strict=True)
    ]


def _next_said(items: list[Item]) -> list[Item | None]:
    return [next_said(items, place) for place in range(len(items))]


def _are_names(item: Item, lexicon: Lexicon) -> bool:
    return all(isinstance(ref, DimensionRef) and lexicon.dimension(ref).is_name for ref in item.refs)


def _in_column(items: list[Item]) -> list[Item]:
    """“With ‘love’ in the name”: the column stands before its part, as elsewhere."""
    for place, item in enumerate(items[:-2]):
        rest = [one for one in items[place + 1 : place + 4] if one.text.lower() not in ("the", "their", "its")]
        is_in = item.kind is Kind.QUOTED and len(rest) > 1 and rest[0].text.lower() == "in"
        if is_in and rest[1].kind is Kind.DIMENSION:
            column = next(n for n, one in enumerate(items) if one is rest[1])
            own = next_said(items, column)
            if own is not None and own.kind in (Kind.QUOTED, Kind.VALUE):
                continue  # “"Jane" in the city "New York"”: the column has a value of its own
            after = items[column + 1 :]
            return [*items[:place], rest[1], replace(item, sign="contains"), *after]
    return items


def _sign(items: Sequence[Item], place: int) -> str:
    """How a quoted text is said to be of the column beside it; "" for all of it."""
    before = [one.text.lower() for one in items[max(0, place - 3) : place]]
    words = [one.text.lower() for one in items[place + 1 : place + 2]]
    if set(before) & _STARTING or set(words[:1]) & _STARTING:
        return "starts"
    if set(before) & _ENDING or set(words[:1]) & _ENDING:
        return "ends"
    is_text = any(one.kind is Kind.DIMENSION for one in items[max(0, place - 4) : place])
    is_part = bool(before) and before[-1] in _CONTAINING and (is_text or before[-1] != "有")
    return "contains" if is_part else ""


def _bare(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“作曲是 Kurt Cobain 的”: capital words that stand for nothing, right beside a column of free text."""
    for place, item in enumerate(items):
        if item.kind is not Kind.DIMENSION or not all(_is_free(ref, lexicon) for ref in item.refs):
            continue
        first = place + 1
        while first < len(items) and items[first].text.lower() in _BEING:
            first += 1
        end = first
        while end < len(items) and _is_capital(items[end]):
            end += 1
        if end - first > 1 and (end == len(items) or items[end].kind is not Kind.UNKNOWN):
            name = Item(Kind.QUOTED, " ".join(one.text for one in items[first:end]), sign="like")
            return [*items[: place + 1], name, *items[end:]]
        begin = place
        while begin and _is_capital(items[begin - 1]):
            begin -= 1
        if place - begin > 1 and not item.text.isascii() and (not begin or items[begin - 1].kind is not Kind.UNKNOWN):
            name = Item(Kind.QUOTED, " ".join(one.text for one in items[begin:place]), sign="like")
            return [*items[:begin], item, name, *items[place + 1 :]]
    return items


def _is_free(ref: object, lexicon: Lexicon) -> bool:
    return isinstance(ref, DimensionRef) and not lexicon.dimension(ref).values and not lexicon.dimension(ref).is_name


def _is_capital(item: Item) -> bool:
    return item.kind is Kind.UNKNOWN and item.text[:1].isupper() and len(item.text) >= _WHOLE_CHARS
