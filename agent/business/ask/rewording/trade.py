"""Verbs of buying, and of what else happens: “customers who bought something” have an order; when an order was closed is not known."""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.rewording.presence import come_to_be, had, tables_of
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, ValueRef
from agent.business.ask.words.spoken import found
from agent.business.ask.words.units import key_of
from agent.business.layer.model import SemanticModel

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
_RELATING = frozenset(  # that something belongs to someone, which a key says; of other verbs nothing is in the data
    key_of(verb)
    for verb in [
        "responsible for",
        " is responsible for",
        " are responsible for",
        " in charge of",
        " look after",
        " looks after",
        " looked after",
        " take care of",
        " takes care of",
        " assigned to",
        " handle",
        " handled",
        " process",
        " processed",
        " deliver",
        " delivered",
        " delivers",
        " 处理",
        " 负责",
        " 负责的",
        " 跟进",
        " 跟进的",
        " 对接",
        " 对接的",
        " 照管",
        " 送",
        " 送的",
        " 送过",
        " 送了",
        " 承运",
        " 承运的",
        " 运输",
        " 运输的",
    ]
)
_MOVING = frozenset(map(key_of, ("deliver", "delivered", "delivers", "送", "送过", "送了", "运输")))
_SORTS = frozenset("种 款 类".split())  # noqa: SIM905
_STILL = frozenset("still currently now 还 还在 仍 仍在".split())  # noqa: SIM905
_ON_SALE = ("in production", "on sale", "for sale", "active", "available", "在售", "在产")
_SOLD = ("units sold", "quantity sold", "销量")


def traded(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with verbs of trade as the table of trade, or without them where it is named, and without verbs between two tables.

    Raises NotUnderstood for what happened to the rows of one table alone: “orders closed last month” has another time; and for
    what is no matter of whose something is: “items returned by customers”.
    """
    items = had(_bought(_kinds_of_trade(items, lexicon), lexicon))
    if not any(item.kind is Kind.EVENT for item in items):
        return items
    if _are_orders_coming(items, lexicon):
        return [replace(item, kind=Kind.STOP) if item.kind is Kind.EVENT else item for item in items]
    items = come_to_be(items, lexicon)
    verbs = [key_of(item.text) for item in items if item.kind is Kind.EVENT]
    if not verbs:
        return items
    is_dated = any(item.kind in (Kind.WINDOW, Kind.PERIOD) for item in items) and any(verb in _MOVING for verb in verbs)
    if len(tables_of(items)) < 2 or is_dated or any(verb not in _RELATING for verb in verbs):
        raise NotUnderstood("what happened", unknown=tuple(item.text for item in items if item.kind is Kind.EVENT))
    return [replace(item, kind=Kind.STOP) if item.kind is Kind.EVENT else item for item in items]


def _kinds_of_trade(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Sell transactions”: of that kind, where a column of what follows has such a value."""
    said = list(items)
    for place, item in enumerate(items[:-1]):
        after = items[place + 1]
        if item.kind not in (Kind.BUY, Kind.SELL) or after.kind is not Kind.MODEL or len(after.refs) != 1:
            continue
        name = after.refs[0].model
        refs = tuple(
            ValueRef(name, one.name, value.value)
            for one in lexicon.model(name).dimensions
            for value in one.values
            if value.value.lower() == item.text.lower()
        )
        said[place] = Item(Kind.VALUE, item.text, refs) if refs else item
    return said


def _are_orders_coming(items: list[Item], lexicon: Lexicon) -> bool:
    """“Orders that came in yesterday”: an order is dated by the day it came in."""
    events = [item.text.lower() for item in items if item.kind is Kind.EVENT]
    orders = {
        ref for word in ("order", "订单") for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, ModelRef)
    }
    things = {ref for item in items if item.kind is Kind.MODEL for ref in item.refs}
    return all(event in _COMING for event in events) and bool(things & orders)


def _bought(items: list[Item], lexicon: Lexicon) -> list[Item]:
    verbs = [item for item in items if item.kind in (Kind.BUY, Kind.SELL)]
    if not verbs:
        return items
    owners = [item for item in items if item.kind is Kind.MODEL or (item.kind is Kind.TIME and item.is_owned)]
    named = {ref.model for item in owners for ref in item.refs}
    has_figure = any(
        item.kind in (Kind.MEASURE, Kind.QUANTITY)
        or (item.kind is Kind.TIME and not all(ref.model in named for ref in item.refs))
        for item in items
    )
    needs_rows = any(item.kind in (Kind.WINDOW, Kind.NOT, Kind.WEEKDAY) for item in items) or verbs[0].kind is Kind.BUY
    is_of_rows = bool(named) and not has_figure and needs_rows
    trade = _trade_between(named, lexicon) if is_of_rows else ""
    if not trade or trade in named:
        is_lost = (
            is_of_rows and not trade and len(named) == 1
        )  # “when did Fjordline last order”, and no table of orders is known
        kind = Kind.UNKNOWN if is_lost else Kind.STOP
        return [replace(item, kind=kind) if item.kind is Kind.BUY else item for item in items]
    row = Item(Kind.MODEL, verbs[0].text, (ModelRef(trade),))
    return [row if item is verbs[0] else item for item in items if item is verbs[0] or item not in verbs[1:]]


def _trade_between(named: set[str], lexicon: Lexicon) -> str:
    """What is bought by whom: the table of trade that belongs to all that is named; "" where it is named itself."""
    if len(named) == 1:
        return trade_of(next(iter(named)), lexicon)
    joins = Joins(lexicon.layer)
    if joins.base_for(named) is not None:
        return ""
    traded_in = [
        model.name
        for model in lexicon.layer.semantic_models
        if _has_sums(model) and all(joins.up(model.name, name) is not None for name in named)
    ]
    return traded_in[0] if len(traded_in) == 1 else ""


def untraded(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Tracks sold per genre”: where no table keeps sums, as in a draft, nothing is known to be bought or sold.

    But “customers who bought a car” are joined by what keeps both, and “quantity ordered” is a column.
    """
    if any(map(_has_sums, lexicon.layer.semantic_models)):
        return items
    items = _kinds_of_trade(items, lexicon)
    named = {ref.model for item in items if item.kind is Kind.MODEL for ref in item.refs}
    is_joined = len(named) > 1 and Joins(lexicon.layer).base_for(named) is None
    if is_joined or any(item.kind is Kind.QUANTITY for item in items):
        return items
    return [replace(item, kind=Kind.UNKNOWN) if item.kind in (Kind.BUY, Kind.SELL) else item for item in items]


def sorts_sold(items: list[Item]) -> list[Item]:
    """“How many different products were sold”, “卖过多少种产品”: products, not pieces."""
    kinds = {item.kind for item in items}
    are_sorts = Kind.DISTINCT in kinds or any(
        first.kind is Kind.COUNT and second.text in _SORTS for first, second in pairwise(items)
    )
    if not are_sorts or not {Kind.COUNT, Kind.MODEL} <= kinds:
        return items
    return [replace(item, kind=Kind.BUY) if item.kind is Kind.SELL else item for item in items]


def sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“How many gateways did we sell”, “which product sold the most”: the quantity sold, not the number of rows."""
    if not any(item.kind is Kind.SELL for item in items):
        return items
    items = _still_sold(items, lexicon)
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


def _still_sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Items that are still being sold”: those of the value that is called so. Raises NotUnderstood where nothing is."""
    said: list[Item] = []
    for place, item in enumerate(items):
        before = [one.text.lower() for one in items[max(0, place - 3) : place]]
        is_still = item.kind is Kind.SELL and before and (before[-1] == "being" or before[-1] in _STILL)
        if not is_still or not _STILL & set(before):
            said.append(item)
            continue
        refs = {ref for word in _ON_SALE for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, ValueRef)}
        if len(refs) != 1:
            raise NotUnderstood("what is still sold", unknown=(item.text,))
        said.append(Item(Kind.VALUE, item.text, tuple(refs)))
    return said


def most_sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Which artist sold the most tracks”: by the figure that is called “tracks sold”, where there is one of that name."""
    content = [item for item in items if item.kind is not Kind.STOP]
    kinds = [item.kind for item in content]
    for place in range(len(content) - 2):
        if (
            kinds[place] is not Kind.SELL
            or kinds[place + 1] not in (Kind.MAX, Kind.MIN)
            or kinds[place + 2] is not Kind.MODEL
        ):
            continue
        verb, _way, thing = content[place : place + 3]
        figure = found(lexicon, (f"{thing.text} {verb.text}",), MeasureRef)
        if figure is not None:
            return [figure if item is thing else item for item in items if item is not verb]
    return items


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
    thing = next(iter(named)) if len(named) == 1 else Joins(lexicon.layer).base_for(named) or ""  # “古典流派里的曲目”
    if len(orders) != 1 and thing and (trade := trade_of(thing, lexicon)) not in ("", *named):
        orders = (ModelRef(trade),)
    if len(orders) != 1:
        return items
    return [Item(Kind.MODEL, verb.text, orders) if item is verb else item for item in items]


def _has_sums(model: SemanticModel) -> bool:
    return any(measure.agg != "count" for measure in model.measures)


def trade_of(model: str, lexicon: Lexicon) -> str:
    """The nearest table of sums that points to a table: what was bought; "" where there is none, or two are as near.

    Every table of a draft counts its rows: that is no sum.
    """
    joins = Joins(lexicon.layer)
    ways = sorted(
        (len(way), other.name)
        for other in lexicon.layer.semantic_models
        if _has_sums(other) and (way := joins.up(other.name, model)) is not None
    )
    if not ways or ways[0][0] == 0:
        return ways[0][1] if ways else ""
    return ways[0][1] if len(ways) == 1 or ways[0][0] < ways[1][0] else ""
