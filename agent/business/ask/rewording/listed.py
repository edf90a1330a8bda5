"""“Number, customer and amount”, “names and dates”: in a list of columns, the key and the time of the things that are listed."""

from dataclasses import replace

from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.beside import text_of
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon
from agent.business.layer.model import SemanticModel

_TIMES = frozenset(("date", "dates", "日期"))
_KEYS = frozenset(("number", "numbers", "编号", "号码", "单号"))
_COLUMNS = frozenset((Kind.MODEL, Kind.DIMENSION, Kind.QUANTITY, Kind.TIME, Kind.AND, Kind.STOP))


def listed_columns(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with such words as the columns they name; where no one table is listed they stay unknown."""
    if not any(_is_generic(item) for item in items):
        return items
    named = {ref.model for item in items if item.kind is Kind.MODEL for ref in item.refs}  # type: ignore[attr-defined,unused-ignore]
    times = [item.refs[0].model for item in items if item.kind is Kind.TIME and len(item.refs) == 1]
    thing = Joins(lexicon.layer).base_for(sorted(named) or times)
    if thing is None:
        return items
    return [
        _column(item, lexicon.model(thing)) if _is_generic(item) and _is_listed(items, place) else item
        for place, item in enumerate(items)
    ]


def _is_generic(item: Item) -> bool:
    return item.kind is Kind.UNKNOWN and text_of(item) in _TIMES | _KEYS


def _is_listed(items: list[Item], place: int) -> bool:
    """Whether it stands among columns of which the last is joined by “and”."""
    first = last = place
    while first > 0 and (items[first - 1].kind in _COLUMNS or _is_generic(items[first - 1])):
        first -= 1
    while last + 1 < len(items) and (items[last + 1].kind in _COLUMNS or _is_generic(items[last + 1])):
        last += 1
    return any(item.kind is Kind.AND for item in items[first : last + 1])


def _column(item: Item, model: SemanticModel) -> Item:
    if text_of(item) in _TIMES:
        time = model.defaults.agg_time_dimension
        return replace(item, kind=Kind.TIME, refs=(DimensionRef(model.name, time),)) if time else item
    primary = model.primary
    keys = [one for one in model.dimensions if primary is not None and one.columns == (primary.expr,)]
    return (
        replace(item, kind=Kind.DIMENSION, refs=(DimensionRef(model.name, keys[0].name),)) if len(keys) == 1 else item
    )
