"""Words of the calendar that are a table's own columns: the `year` beside a title, the `day` of check-ins without a time."""

from dataclasses import replace

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef

_COLUMNS = (Kind.DIMENSION, Kind.QUANTITY, Kind.TIME)
_FIGURES = (Kind.COUNT, Kind.MEASURE, Kind.SUM, Kind.AVG, Kind.MAX, Kind.MIN, Kind.GROUP)
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905


def columns_of_periods(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with such words as columns: in a list of columns, and where the table has no time that it could be cut from."""
    said = [item for item in items if item.kind is not Kind.STOP]
    kinds = ModelRef | DimensionRef | MeasureRef
    named = dict.fromkeys(ref.model for item in items for ref in item.refs if isinstance(ref, kinds))
    found: list[Item] = []
    for item in items:
        column = None
        is_grouped = [one.kind for one in found[-2:]] == [Kind.GROUP, Kind.DIMENSION]
        if item.kind is Kind.PERIOD and is_grouped and _has(found[-1], item, lexicon):
            found.append(replace(item, kind=Kind.UNKNOWN))  # “each model year”: a column of a longer name, or two
            continue
        if item.kind is Kind.PERIOD and item.text.isascii():
            is_listed = _is_listed(said, item)
            columns = [one for name in named if (one := _column(name, item, lexicon, is_listed=is_listed))]
            column = columns[0] if len(columns) == 1 else None
        found.append(_as_column(item, column, lexicon) if column else item)
    return found


def _has(column: Item, period: Item, lexicon: Lexicon) -> bool:
    """Whether a table of the column has one that is called like the word."""
    tables = {ref.model for ref in column.refs if isinstance(ref, DimensionRef)}
    return any(one.name == period.sign for name in tables for one in lexicon.model(name).dimensions)


def _is_listed(said: list[Item], item: Item) -> bool:
    """Whether a word stands in a list of columns: “the title and year of …”, “make, model and year”."""
    place = next(n for n, one in enumerate(said) if one is item)
    before = [one for one in said[:place] if one.kind is not Kind.AND][-1:]
    is_shown = any(one.kind in (Kind.LIST, Kind.ASK) for one in said[:place])
    is_of_figures = any(one.kind in _FIGURES for one in said)
    is_beside = any(one.kind in _COLUMNS for one in before)
    is_order = any(one.kind is Kind.ORDER for one in before) and not is_of_figures
    return is_shown and (is_beside or is_order) and not any(one.kind is Kind.GROUP for one in said[:place])


def _column(model: str, item: Item, lexicon: Lexicon, *, is_listed: bool) -> DimensionRef | None:
    """The column of a table that the word may mean."""
    table = lexicon.model(model)
    for one in table.dimensions:
        is_days = item.sign == "weekday" and one.name == "day" and {v.value.lower() for v in one.values} <= _WEEKDAYS
        if (one.name == item.sign or (is_days and one.values)) and (is_listed or not table.defaults.agg_time_dimension):
            return DimensionRef(model, one.name)
    return None


def _as_column(item: Item, column: DimensionRef, lexicon: Lexicon) -> Item:
    is_number = lexicon.dimension(column).type == "number"
    return replace(item, kind=Kind.QUANTITY if is_number else Kind.DIMENSION, refs=(column,), sign="")
