"""Items that stand for others: adjectives, verbs of trade, negated times.

“The cheapest product” is the lowest price, “best selling” the highest quantity
sold, “out of stock” a stock of 0, where the layer has such a column or measure. Where it has none the words stay unknown.
"""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.chinese.items import said_in_chinese
from agent.business.ask.rewording.absence import absent
from agent.business.ask.rewording.asking import asked
from agent.business.ask.rewording.called_so import columns_of_periods
from agent.business.ask.rewording.charge import in_charge
from agent.business.ask.rewording.doubts import require_own_news, require_plain
from agent.business.ask.rewording.kept import kept
from agent.business.ask.rewording.listed import listed_columns
from agent.business.ask.rewording.money import of_money, spent_by_us
from agent.business.ask.rewording.occasions import by_default_time, lasting, without_default_time
from agent.business.ask.rewording.spans import spanned
from agent.business.ask.rewording.stocks import in_pieces
from agent.business.ask.rewording.texts import partly
from agent.business.ask.rewording.trade import most_sold, never, sold, sorts_sold, traded, untraded
from agent.business.ask.words.adjectives import ADJECTIVES, Adjective
from agent.business.ask.words.frames import framed
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, ValueRef
from agent.business.ask.words.light_words import lightened
from agent.business.ask.words.spoken import found
from agent.business.ask.words.units import key_of

_COUNTING = {Kind.COMPARE, Kind.GROUP}  # “more than one order”, “by region, one order”: a number of things


def rephrased(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with adjectives, verbs of trade and negated times as what they mean."""
    items = columns_of_periods(items, lexicon)
    items = kept(spanned(partly(items, lexicon), lexicon), lexicon)
    items = said_in_chinese(items, lexicon)
    items = asked(framed(_named(lightened(items, lexicon), lexicon)), lexicon)
    items = listed_columns(in_charge(items, lexicon), lexicon)
    items = absent(_opened(spent_by_us(items)), lexicon)
    items = [part for item in items for part in _spelled(item, lexicon)]
    items = _without_repetition(items)
    items = in_pieces(lasting(items, lexicon), lexicon)
    items = of_money(require_plain(items, lexicon), lexicon)
    items = _each_aggregate(items)
    items = _compared(items)
    items = _spread(items)
    items = never(items, lexicon)
    items = untraded(items, lexicon)
    items = sold(most_sold(sorts_sold(items), lexicon), lexicon)
    items = traded(items, lexicon)
    items = _outside(items)
    items = without_default_time(by_default_time(items, lexicon), lexicon)
    if any(item.kind is Kind.WINDOW for item in items):
        require_own_news(items)
        items = [item for item in items if item.kind is not Kind.NEW]
    return _asked_for(_without_fillers(_over_each(items)))


def _opened(items: list[Item]) -> list[Item]:
    """Without an “and” at the beginning: “还有多少订单没有发货”; with “各” after several times as “分别”."""
    while items and items[0].kind in (Kind.AND, Kind.STOP):
        items = items[1:]
    asking = [Kind.COUNT, Kind.LIST]
    items = [
        item
        for place, item in enumerate(items)
        if item.text != "还有" or not any(after.kind in asking for after in items[place + 1 : place + 2])
    ]
    verbs = [item.text.lower() for item in items if item.kind is Kind.STOP]
    if (
        "do" in verbs[1:] and "did" in verbs[: verbs[1:].index("do") + 1]
    ):  # “what did … do”: of deeds nothing is in a table
        items = [replace(i, kind=Kind.UNKNOWN) if i.kind is Kind.STOP and i.text.lower() == "do" else i for i in items]
    content = [item for item in items if item.kind is not Kind.STOP]
    if sum(item.kind is Kind.WINDOW for item in content) < 2:
        return items
    for item, after in zip(content, [*content[1:], None], strict=True):
        is_last = after is None or after.kind in (Kind.ASK, Kind.COUNT, Kind.MUCH)
        if item.kind is Kind.GROUP and item.text.lower() in ("各", "各自", "each") and is_last:
            return [Item(Kind.EACH, "分别") if other is item else other for other in items]
    return items


def _over_each(items: list[Item]) -> list[Item]:
    """“On average, how many units does one order contain?”, “一首歌平均多长”: an average of one thing is over each of them."""
    kinds = {item.kind for item in items}
    if Kind.AVG not in kinds or kinds & _COUNTING:
        return items
    content = [item for item in items if item.kind is not Kind.STOP]
    ones = [
        one
        for one, thing in pairwise(content)
        if one.kind is Kind.NUMBER and one.number == 1 and thing.kind is Kind.MODEL
    ]
    return [Item(Kind.GROUP, "per") if any(item is one for one in ones) else item for item in items]


def _asked_for(items: list[Item]) -> list[Item]:
    """“How many … are there” asks how many, not whether."""
    if any(
        item.kind in (Kind.COUNT, Kind.MUCH, Kind.LIST, Kind.MEASURE, Kind.MAX, Kind.MIN, Kind.TOP, Kind.WHEN)
        or (item.kind is Kind.ASK and item.text.lower() == "what")
        for item in items
    ):
        items = [replace(item, kind=Kind.STOP) if item.kind is Kind.EXISTS else item for item in items]
    is_whether = items and items[-1].text in ("吗", "么") and any(item.text == "有" for item in items)
    if is_whether and not any(item.kind is Kind.COUNT for item in items):
        return [Item(Kind.EXISTS, "有"), *items]
    return items


def _outside(items: list[Item]) -> list[Item]:
    """“除华东以外”, “华东以外”: not those values."""
    for place, item in enumerate(items):
        if item.kind is Kind.NOT and item.text in ("以外", "之外", "外"):
            first = place
            while first and items[first - 1].kind in (
                Kind.VALUE,
                Kind.AND,
                Kind.OR,
                Kind.STOP,
                Kind.DIMENSION,
                Kind.SUFFIX,
            ):
                first -= 1
            is_said = first > 0 and items[first - 1].kind is Kind.NOT
            rest = [*items[first:place], *items[place + 1 :]]
            return [*items[:first], *([] if is_said else [item]), *rest]
    return items


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
    kept = [_owner(item) if any(item is other for other in gone) else item for item in items]
    return [item for item in kept if item is not None]


def _owner(item: Item) -> Item | None:
    """The table that a column was named with; None for a column without."""
    refs = tuple(ModelRef(ref.model) for ref in item.refs)
    return Item(Kind.MODEL, item.text, refs) if item.is_owned else None


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
        return [column, Item(Kind.COMPARE, item.text, sign=adjective.sign), Item(Kind.NUMBER, "0", number=0.0)]
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


def _each_aggregate(items: list[Item]) -> list[Item]:
    """“Highest, lowest and average price”: each is of the column that stands after the last; “the highest average” is one."""
    aggregates = (Kind.SUM, Kind.AVG, Kind.MAX, Kind.MIN)
    content = [item for item in items if item.kind is not Kind.STOP]
    said: dict[int, list[Item]] = {}
    for place, item in enumerate(content):
        after = [other for other in content[place + 1 :] if other.kind is not Kind.AND]
        is_next = (
            len(after) > 1
            and item.kind in aggregates
            and after[0].kind in aggregates
            and item.kind is not after[0].kind
        )
        is_one = item.kind in (Kind.MAX, Kind.MIN) and [i.kind in aggregates for i in content].count(True) == 2
        is_one = is_one and place > 0 and content[place - 1].kind in (Kind.DIMENSION, Kind.MODEL, Kind.PERIOD)
        if is_one and any(other.kind in (Kind.AVG, Kind.SUM) for other in content[place + 1 : place + 2]):
            continue
        column = next((other for other in after if other.kind not in aggregates), None)
        if is_next and column is not None and column.kind is Kind.QUANTITY:
            said[id(item)] = [item, column]
    return [part for item in items for part in said.get(id(item), [item])]


def _spread(items: list[Item]) -> list[Item]:
    """“客户的行业分布”: counted by that column. Where a grouping is named it says nothing more."""
    if any(item.kind is Kind.GROUP for item in items):
        return [item for item in items if item.kind is not Kind.SPREAD]
    content = [item for item in items if item.kind is not Kind.STOP]
    if any(item.kind is Kind.SPREAD for item in content):  # “项目状态 数量 分布”
        items = [item for item in items if item.kind is not Kind.COUNT]
        content = [item for item in content if item.kind is not Kind.COUNT]
    for column, spread in pairwise(content):
        if spread.kind is Kind.SPREAD and column.kind is Kind.DIMENSION:
            place = items.index(column)
            owner = (
                [Item(Kind.MODEL, column.text, tuple(ModelRef(ref.model) for ref in column.refs))]
                if column.is_owned or (len(column.refs) == 1 and not any(one.kind is Kind.MODEL for one in content))
                else []
            )
            rest = [item for item in items[place + 1 :] if item is not spread]
            return [*items[:place], *owner, Item(Kind.GROUP, spread.text), replace(column, is_owned=False), *rest]
    return items


def _named(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """A quoted text that is a value of the index, as that value; not where its column or its thing stands beside it."""
    content = [item for item in items if item.kind is not Kind.STOP]
    said: dict[int, Item] = {}
    for place, item in enumerate(content):
        if item.kind is not Kind.QUOTED or item.sign:
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
