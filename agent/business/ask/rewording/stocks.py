"""How many pieces there are of something that is called by its name: “how many Chai are in stock”, “Chai 还有多少库存”."""

from agent.business.ask.words.beside import saying
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ValueRef

_PIECES = frozenset(("stock", "units in stock", "units on order", "库存", "在订数量", "库存量"))
_MANY = (Kind.COUNT, Kind.MUCH)


def in_pieces(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with a column of pieces added up, where it is asked how many of a thing there are; “in stock” of a name is no condition."""
    content = saying(items)
    many = next((item for item in content if item.kind in _MANY), None)
    column = next((item for item in content if item.kind is Kind.QUANTITY and _counts_pieces(item, lexicon)), None)
    said = (Kind.SUM, Kind.AVG, Kind.MAX, Kind.MIN, Kind.GROUP, Kind.MEASURE, Kind.TOP, Kind.LIST)
    if many is None or column is None or any(item.kind in said for item in content):
        return items
    place, at = content.index(column), content.index(many)
    is_condition = [item.kind for item in content[place + 1 : place + 3]] == [Kind.COMPARE, Kind.NUMBER]
    is_stock = is_condition and content[place + 1].sign == ">" and content[place + 2].number == 0
    is_asked = not is_condition and abs(at - place) == 1
    is_named = _is_named(content, column, lexicon)
    if not (is_stock or is_asked) or (not is_named and (is_stock or place < at)):
        return items
    gone = [many, *(content[place + 1 : place + 3] if is_stock else [])]
    rest = [item for item in items if not any(item is one for one in gone)]
    place = next(n for n, item in enumerate(rest) if item is column)
    return [*rest[:place], Item(Kind.SUM, "total"), *rest[place:]]


def _counts_pieces(item: Item, lexicon: Lexicon) -> bool:
    return any(isinstance(ref, DimensionRef) and _PIECES & set(lexicon.dimension(ref).words()) for ref in item.refs)


def _is_named(content: list[Item], column: Item, lexicon: Lexicon) -> bool:
    """Whether the things of the column are called by their names, and are not counted themselves."""
    owners = {ref.model for ref in column.refs if isinstance(ref, DimensionRef)}
    values = [ref for item in content if item.kind is Kind.VALUE for ref in item.refs if isinstance(ref, ValueRef)]
    names = [ref for ref in values if ref.model in owners and lexicon.dimension(ref).is_name]
    return bool(names) and all(item.kind is not Kind.MODEL for item in content)
