"""Verbs of buying, and of what else happens: “customers who bought something” have an order; when an order was closed is not known."""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item
from agent.business.ask.joins import Joins
from agent.business.ask.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, ValueRef
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.spoken import found
from agent.business.ask.units import key_of

_COMING = frozenset(
    (
        "came in",
        "come in",
        "comes in",
        "coming in",
        "received",
        "receive",
        "receives",
        "收到",
        "收到了",
        "接到",
        "接到了",
    )
)
_SOLD = ("units sold", "quantity sold", "销量")


def traded(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with verbs of trade as the table of trade, or without them where it is named, and without verbs between two tables.

    Raises NotUnderstood for what happened to the rows of one table alone: “orders closed last month” has another time.
    """
    items = _bought(items, lexicon)
    if not any(item.kind is Kind.EVENT for item in items):
        return items
    if _are_orders_coming(items, lexicon):
        return [replace(item, kind=Kind.STOP) if item.kind is Kind.EVENT else item for item in items]
    if len(_tables(items)) < 2:
        raise NotUnderstood("what happened", unknown=tuple(item.text for item in items if item.kind is Kind.EVENT))
    return [replace(item, kind=Kind.STOP) if item.kind is Kind.EVENT else item for item in items]


def _are_orders_coming(items: list[Item], lexicon: Lexicon) -> bool:
    """“Orders that came in yesterday”: an order is dated by the day it came in."""
    events = [item.text.lower() for item in items if item.kind is Kind.EVENT]
    orders = {
        ref for word in ("order", "订单") for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, ModelRef)
    }
    things = {ref for item in items if item.kind is Kind.MODEL for ref in item.refs}
    return all(event in _COMING for event in events) and bool(things) and things <= orders


def _bought(items: list[Item], lexicon: Lexicon) -> list[Item]:
    verbs = [item for item in items if item.kind in (Kind.BUY, Kind.SELL)]
    if not verbs:
        return items
    named = {ref.model for item in items if item.kind is Kind.MODEL for ref in item.refs}
    has_figure = any(item.kind in (Kind.MEASURE, Kind.QUANTITY, Kind.TIME) for item in items)
    needs_rows = any(item.kind in (Kind.WINDOW, Kind.NOT, Kind.WEEKDAY) for item in items) or verbs[0].kind is Kind.BUY
    trade = trade_of(next(iter(named)), lexicon) if len(named) == 1 and not has_figure and needs_rows else ""
    if not trade or trade in named:
        return [replace(item, kind=Kind.STOP) if item.kind is Kind.BUY else item for item in items]
    row = Item(Kind.MODEL, verbs[0].text, (ModelRef(trade),))
    return [row if item is verbs[0] else item for item in items if item is verbs[0] or item not in verbs[1:]]


def sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“How many gateways did we sell”, “which product sold the most”: the quantity sold, not the number of rows."""
    if not any(item.kind is Kind.SELL for item in items):
        return items
    kinds = [item.kind for item in items if item.kind is not Kind.STOP]
    verbs = [item.text.lower() for item in items if item.kind is Kind.SELL]
    is_past = any(item.text.lower() == "did" for item in items) or Kind.WINDOW in kinds or Kind.PERIOD in kinds
    if all(verb in ("sell", "sells") for verb in verbs) and Kind.COUNT in kinds and not is_past:
        return [
            item for item in items if item.kind is not Kind.SELL
        ]  # “how many songs do we sell”: what there is to buy
    asks = Kind.COUNT in kinds or Kind.MAX in kinds or Kind.MIN in kinds
    if Kind.MEASURE in kinds or Kind.QUANTITY in kinds or not asks:
        return [item for item in items if item.kind is not Kind.SELL]
    measure = found(lexicon, _SOLD, MeasureRef)
    if measure is None:
        return items
    if Kind.COUNT in kinds:
        rest = [item for item in items if item.kind not in (Kind.SELL, Kind.COUNT)]
        place = next(n for n, item in enumerate(items) if item.kind is Kind.COUNT)
        return [*rest[:place], measure, *rest[place:]]
    return [measure if item.kind is Kind.SELL else item for item in items]


def never(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Never ordered”, “没有下单”: said of another thing than the rows of that time, it is about whether there are such rows."""
    content = [item for item in items if item.kind is not Kind.STOP]
    named = {ref.model for item in content if item.kind is Kind.MODEL for ref in item.refs}
    for first, second in pairwise(content):
        if first.kind is not Kind.NOT:
            continue
        if second.kind is Kind.SELL or second.text.lower() == "ordered":
            return _never_ordered(items, second, named, lexicon)
        if second.kind is not Kind.TIME:
            continue
        owners = {ref.model for ref in second.refs if isinstance(ref, DimensionRef)}
        own = next(iter(owners)) if len(owners) == 1 else ""
        default = lexicon.model(own).defaults.agg_time_dimension if own else ""
        if named and own and own not in named and DimensionRef(own, default) in second.refs:
            return [Item(Kind.MODEL, second.text, (ModelRef(own),)) if item is second else item for item in items]
    return items


def _never_ordered(items: list[Item], verb: Item, named: set[str], lexicon: Lexicon) -> list[Item]:
    """A thing that was never ordered or sold has no order."""
    refs = [
        ref for word in ("order", "订单") for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, ModelRef)
    ]
    orders = tuple(dict.fromkeys(ref for ref in refs if ref.model not in named))
    if len(orders) != 1 and len(named) == 1 and (trade := trade_of(next(iter(named)), lexicon)) not in ("", *named):
        orders = (ModelRef(trade),)
    if len(orders) != 1:
        return items
    return [Item(Kind.MODEL, verb.text, orders) if item is verb else item for item in items]


def trade_of(model: str, lexicon: Lexicon) -> str:
    """The nearest table of sums that points to a table: what was bought; "" where there is none, or two are as near."""
    joins = Joins(lexicon.layer)
    ways = sorted(
        (len(way), other.name)
        for other in lexicon.layer.semantic_models
        if other.measures and (way := joins.up(other.name, model)) is not None
    )
    if not ways or ways[0][0] == 0:
        return ways[0][1] if ways else ""
    return ways[0][1] if len(ways) == 1 or ways[0][0] < ways[1][0] else ""


def _tables(items: list[Item]) -> set[str]:
    """The tables that are named, each word counted by the first it may mean."""
    wanted = (Kind.MODEL, Kind.MEASURE, Kind.VALUE, Kind.DIMENSION)
    found = set()
    for item in items:
        if item.kind in wanted and item.refs:
            ref = item.refs[0]
            assert isinstance(ref, ModelRef | MeasureRef | DimensionRef | ValueRef)
            found.add(ref.model)
    return found
