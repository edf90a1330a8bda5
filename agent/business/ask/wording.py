"""Items that stand for others: adjectives, verbs of trade, negated times.

“The cheapest product” is the lowest price, “best selling” the highest quantity
sold, “out of stock” a stock of 0, where the layer has such a column or measure. Where it has none the words stay unknown.
"""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.adjectives import ADJECTIVES, Adjective
from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item
from agent.business.ask.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, Ref, ValueRef
from agent.business.ask.units import key_of

_SOLD = ("units sold", "quantity sold", "销量")


def rephrased(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with adjectives, verbs of trade and negated times as what they mean."""
    items = _named(items, lexicon)
    items = [part for item in items for part in _spelled(item, lexicon)]
    items = _without_repetition(items)
    items = _of_money(items, lexicon)
    items = _compared(items)
    items = _spread(items)
    items = _never(items, lexicon)
    items = _sold(items, lexicon)
    items = _by_default_time(items, lexicon)
    if any(item.kind is Kind.WINDOW for item in items):
        items = [item for item in items if item.kind is not Kind.NEW]
    return _without_fillers(items)


def _without_fillers(items: list[Item]) -> list[Item]:
    """Without words that only repeat: “海鲜类”, “软件和服务两类”, “总人数”, orders “shipped” to a place."""
    content = [item for item in items if item.kind is not Kind.STOP]
    is_dated = any(item.kind in (Kind.WINDOW, Kind.MAX, Kind.MIN, Kind.NOT, Kind.ORDER) for item in content)
    gone: list[Item] = []
    for place, item in enumerate(content):
        last = content[place - 1] if place else None
        after = content[place + 1 : place + 3]
        kinds = [other.kind for other in after]
        if _is_filler(item, last, kinds, gone):
            gone.append(item)
        elif item.kind is Kind.SUM and kinds[:1] == [Kind.MODEL] and last and set(last.refs) & set(after[0].refs):
            gone += [item, after[0]]
        elif (
            item.kind is Kind.TIME
            and not is_dated
            and kinds
            and (kinds[0] is Kind.VALUE or kinds == [Kind.GROUP, Kind.VALUE])
        ):
            gone.append(item)
    return [item for item in items if not any(item is other for other in gone)]


def found(lexicon: Lexicon, words: tuple[str, ...], wanted: type[Ref]) -> Item | None:  # type: ignore[type-arg,unused-ignore]
    """The first of these words that the layer has, as a number column or a measure."""
    for word in words:
        refs = tuple(ref for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, wanted))
        if wanted is DimensionRef:
            refs = tuple(
                ref for ref in refs if isinstance(ref, DimensionRef) and lexicon.dimension(ref).type == "number"
            )
        if refs:
            return Item(Kind.QUANTITY if wanted is DimensionRef else Kind.MEASURE, word, refs)
    return None


def _spelled(item: Item, lexicon: Lexicon) -> list[Item]:
    """An adjective as its superlative or comparison and the column it is about."""
    if item.kind is Kind.ORDER and item.text.lower() == "orders by":  # of things that are called so
        things = tuple(ref for ref in lexicon.phrases.get(key_of("order"), ()) if isinstance(ref, ModelRef))
        return [Item(Kind.MODEL, "orders", things), Item(Kind.GROUP, "by")] if things else [item]
    if item.kind is not Kind.ADJECTIVE:
        return [item]
    adjective: Adjective = ADJECTIVES[key_of(item.text)]
    column = found(lexicon, adjective.columns, DimensionRef) or found(lexicon, adjective.measures, MeasureRef)
    if column is None:
        fallback = Kind.UNKNOWN if adjective.alone is None else adjective.alone
        return [replace(item, kind=fallback)]
    if adjective.kind is None:
        return [column]
    if adjective.kind is Kind.COMPARE:
        return [column, Item(Kind.COMPARE, item.text, sign="="), Item(Kind.NUMBER, "0", number=0.0)]
    return [Item(adjective.kind, item.text), column]


def _without_repetition(items: list[Item]) -> list[Item]:
    """“By each” groups once; a column that an adjective brought and that is named besides counts once; so does a time."""
    kept: list[Item] = []
    for item in items:
        last = kept[-1] if kept else None
        if last and item.kind is Kind.GROUP and last.kind is Kind.GROUP:
            continue
        if last and item.kind is last.kind is Kind.QUANTITY and set(item.refs) & set(last.refs):
            kept[-1] = item if len(item.refs) <= len(last.refs) else last
            continue
        if (
            len(kept) > 1
            and item.kind is kept[-2].kind is Kind.QUANTITY
            and kept[-1].kind in (Kind.MAX, Kind.MIN)
            and set(item.refs) & set(kept[-2].refs)
        ):
            continue  # “时长最长”, “标价最贵”
        kept.append(item)
    times = [item for item in kept if item.kind is Kind.TIME]
    common = set.intersection(*(set(item.refs) for item in times)) if times else set()
    if len(times) > 1 and common:
        kept = [item for item in kept if item.kind is not Kind.TIME or item is times[0]]
        kept[kept.index(times[0])] = replace(times[0], refs=tuple(ref for ref in times[0].refs if ref in common))
    return kept


def _compared(items: list[Item]) -> list[Item]:
    """After a comparison: 2000 is a number and no year; in “超过10个客户的地区” the customers are counted."""
    content = [item for item in items if item.kind is not Kind.STOP]
    said: dict[int, list[Item]] = {}
    for first, second, third in zip(content, content[1:], [*content[2:], None], strict=False):
        if first.kind is Kind.LIST and second.is_owned and third and third.kind in (Kind.MAX, Kind.MIN):
            owner = tuple(ModelRef(ref.model) for ref in second.refs)  # “哪个产品标价最贵”: the product
            said[id(second)] = [Item(Kind.MODEL, second.text, owner), replace(second, is_owned=False)]
        if first.kind is not Kind.COMPARE:
            continue
        if second.kind is Kind.WINDOW and second.text.isdigit():
            said[id(second)] = [Item(Kind.NUMBER, second.text, number=float(second.text))]
        elif second.kind is Kind.WINDOW:  # “higher than last year”
            said[id(first)] = [Item(Kind.EACH, first.text)]
        elif second.kind is Kind.NUMBER and third and third.kind is Kind.DIMENSION and third.is_owned:
            owner = tuple(ModelRef(ref.model) for ref in third.refs)
            said[id(third)] = [Item(Kind.MODEL, third.text, owner), replace(third, is_owned=False)]
    return [part for item in items for part in said.get(id(item), [item])]


def _is_filler(item: Item, last: Item | None, after: list[Kind], gone: list[Item]) -> bool:
    """A class word after a value (海鲜类), the number of the values before it (两类), a number asked for again (是哪两个)."""
    if last is None:
        return False
    if item.kind is Kind.SUFFIX:
        return last.kind is Kind.VALUE or last in gone
    if item.kind is not Kind.NUMBER:
        return False
    return (last.kind is Kind.VALUE and after[:1] == [Kind.SUFFIX]) or (last.kind is Kind.LIST and not after)


def _of_money(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Orders above 80,000 CNY”, “平均每张发票多少钱”: money is said of the column of amounts."""
    content = [item for item in items if item.kind is not Kind.STOP]
    kinds = [item.kind for item in content]
    said: dict[int, list[Item]] = {}
    for place, item in enumerate(content):
        if (
            kinds[place : place + 3] == [Kind.COMPARE, Kind.NUMBER, Kind.CURRENCY]
            and place
            and kinds[place - 1] is Kind.MODEL
        ):
            amount = _amount_of(content[place - 1], lexicon)
            said[id(item)] = [*([amount] if amount else []), item]
        if kinds[place : place + 3] == [Kind.AVG, Kind.GROUP, Kind.MODEL]:
            amount = _amount_of(content[place + 2], lexicon)
            after = kinds[place + 3 : place + 4]
            if after == [Kind.MUCH] and amount:
                said |= {id(item): [], id(content[place + 1]): [], id(content[place + 3]): [item, amount]}
            elif after == [Kind.QUANTITY]:
                said |= {id(item): [], id(content[place + 1]): [], id(content[place + 3]): [item, content[place + 3]]}
    items = [part for item in items for part in said.get(id(item), [item])]
    return [item for item in items if item.kind is not Kind.CURRENCY]


def _amount_of(model: Item, lexicon: Lexicon) -> Item | None:
    """The column of amounts of a table, where it has one."""
    amount = found(lexicon, ("amount", "order amount", "invoice amount", "金额"), DimensionRef)
    owners = {ref.model for ref in model.refs}
    refs = tuple(ref for ref in amount.refs if ref.model in owners) if amount else ()
    return replace(amount, refs=refs) if amount and refs else None


def _spread(items: list[Item]) -> list[Item]:
    """“客户的行业分布”: counted by that column. Where a grouping is named it says nothing more."""
    if any(item.kind is Kind.GROUP for item in items):
        return [item for item in items if item.kind is not Kind.SPREAD]
    content = [item for item in items if item.kind is not Kind.STOP]
    for column, spread in pairwise(content):
        if spread.kind is Kind.SPREAD and column.kind is Kind.DIMENSION:
            place = items.index(column)
            owner = (
                [Item(Kind.MODEL, column.text, tuple(ModelRef(ref.model) for ref in column.refs))]
                if column.is_owned
                else []
            )
            rest = [item for item in items[place + 1 :] if item is not spread]
            return [*items[:place], *owner, Item(Kind.GROUP, spread.text), replace(column, is_owned=False), *rest]
    return items


def _sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
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


def _never(items: list[Item], lexicon: Lexicon) -> list[Item]:
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
    if len(orders) != 1:
        return items
    return [Item(Kind.MODEL, verb.text, orders) if item is verb else item for item in items]


_LATEST = {"latest", "newest", "most recent", "earliest", "oldest", "最新", "最近", "最晚", "最早", "最新的", "最近的"}


def _by_default_time(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The latest order”: by the time its rows are counted by, where no other column is named."""
    content = [item for item in items if item.kind is not Kind.STOP]
    if any(item.kind in (Kind.TIME, Kind.QUANTITY, Kind.MEASURE, Kind.COUNT) for item in content):
        return items
    way = next((i for i in content if i.kind in (Kind.MAX, Kind.MIN) and i.text.lower() in _LATEST), None)
    models = [item for item in content if item.kind is Kind.MODEL]
    if way is None or len(models) != 1 or len(models[0].refs) != 1:
        return items
    name = models[0].refs[0].model
    default = lexicon.model(name).defaults.agg_time_dimension
    if not default:
        return items
    place = items.index(way) + 1
    return [*items[:place], Item(Kind.TIME, way.text, (DimensionRef(name, default),)), *items[place:]]


def _named(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """A quoted text that is a value of the index, as that value; not where its column or its thing stands beside it."""
    content = [item for item in items if item.kind is not Kind.STOP]
    said: dict[int, Item] = {}
    for place, item in enumerate(content):
        if item.kind is not Kind.QUOTED:
            continue
        beside = [*content[max(0, place - 1) : place], *content[place + 1 : place + 2]]
        exact = tuple(
            ref
            for ref in lexicon.phrases.get(key_of(item.text), ())
            if isinstance(ref, ValueRef) and ref.value == item.text
        )
        if exact and not any(_owns(other, exact, lexicon) for other in beside):
            said[id(item)] = Item(Kind.VALUE, item.text, exact)
    return [said.get(id(item), item) for item in items]


def _owns(item: Item, values: tuple[ValueRef, ...], lexicon: Lexicon) -> bool:
    """Whether a column, or a thing with a name, stands for one of the values' own tables."""
    if item.kind is Kind.DIMENSION:
        return any(
            (ref.model, ref.dimension) == (value.model, value.dimension)
            for ref in item.refs
            if isinstance(ref, DimensionRef)
            for value in values
        )
    return item.kind is Kind.MODEL and bool({ref.model for ref in item.refs} & {value.model for value in values})
