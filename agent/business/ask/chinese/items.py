"""How Chinese says it, item by item: a total after its column, what there still is of something, lines without a discount."""

from dataclasses import replace

from agent.business.ask.words.beside import Mend, next_said, saying
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef, ValueRef
from agent.business.ask.words.spoken import found

_TOTALS = frozenset("总数 总量 总计 合计 总额 总和 之和".split())  # noqa: SIM905
_ABOUT = frozenset("大概 大约 差不多 大致 大体".split())  # noqa: SIM905
_HAVING = frozenset("有 还有 仍有 尚有 有着".split())  # noqa: SIM905
_UNDISCOUNTED = frozenset("没打折 没打过折 没有打折 没打过折扣 没有折扣 无折扣 未打折 不打折 没优惠".split())  # noqa: SIM905
_DISCOUNT = ("discount", "折扣")
_PAIR = 2
_FIGURES = (Kind.MEASURE, Kind.QUANTITY, Kind.COUNT, Kind.SUM, Kind.AVG)
_WAYS = (Kind.SUM, Kind.AVG, Kind.MAX, Kind.MIN)


def said_in_chinese(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with what Chinese says in another order as it is said elsewhere."""
    if all(item.text.isascii() for item in items):
        return items
    for mend in _MENDS:
        items = mend(items, lexicon)
    return items


def _totals(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“库存总数”: all of the stock."""
    said = list(items)
    for place, item in enumerate(items[:-1]):
        total, before = items[place + 1], saying(items[:place])[-1:]
        after = next_said(items, place + 1)
        is_total = item.kind is Kind.QUANTITY and total.kind in (Kind.COUNT, Kind.SUM) and total.text in _TOTALS
        is_total |= (
            item.kind is Kind.QUANTITY and total.kind is Kind.ALL and after is not None and after.kind is Kind.MAX
        )
        if is_total and _is_added(item, lexicon) and not (before and before[0].kind in _WAYS):
            said[place : place + 2] = [Item(Kind.SUM, total.text), item]
    return said


def _most_in_all(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“库存最多的类别”: of all of theirs; “库存最多的产品” is of one."""
    things = [_models(one) for one in items if one.kind is Kind.MODEL]
    said: list[Item] = []
    for place, item in enumerate(items):
        after, before = next_said(items, place), saying(items[:place])[-1:]
        is_most = item.kind is Kind.QUANTITY and after is not None and after.text == "最多" and not item.is_owned
        is_of_others = bool(things) and not any(_models(item) & one for one in things)
        if is_most and is_of_others and _is_added(item, lexicon) and not (before and before[0].kind in _WAYS):
            said.append(Item(Kind.SUM, "总"))
        said.append(item)
    return said


def _models(item: Item) -> set[str]:
    return {ref.model for ref in item.refs if isinstance(ref, DimensionRef | ModelRef | ValueRef)}


def _is_added(item: Item, lexicon: Lexicon) -> bool:
    return all(isinstance(ref, DimensionRef) and lexicon.is_amount(ref) for ref in item.refs) or any(
        "库存" in word for ref in item.refs if isinstance(ref, DimensionRef) for word in lexicon.dimension(ref).words()
    )


def _still_some(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“仍有在订数量的产品”: more than none."""
    said: list[Item] = []
    for place, item in enumerate(items):
        before, after = items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None
        is_of = after is not None and (after.text == "的" or after.kind is Kind.AND)
        thing = any(one.kind in (Kind.MODEL, Kind.VALUE) for one in items[place + 1 :])
        has = before is not None and before.text in _HAVING and before.kind is Kind.STOP
        if item.kind is Kind.QUANTITY and has and is_of and thing and _is_added(item, lexicon):
            is_not = place > 1 and items[place - 2].kind is Kind.NOT
            said += [item] if is_not else [item, Item(Kind.COMPARE, ">", sign=">"), Item(Kind.NUMBER, "0", number=0.0)]
        else:
            said.append(item)
    return said


def _undiscounted(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“没有打折的订单明细”: of a line it is a discount of 0; of an order it could be one of its lines."""
    discount = found(lexicon, _DISCOUNT, DimensionRef)
    said: list[Item] = []
    for place, item in enumerate(items):
        is_word = item.kind is Kind.ADJECTIVE and item.text in _UNDISCOUNTED
        thing = next_said(items, place)
        of_it = thing is not None and thing.kind is Kind.MODEL and discount is not None
        if (
            is_word
            and of_it
            and discount
            and thing
            and {r.model for r in thing.refs} == {r.model for r in discount.refs}
        ):  # type: ignore[attr-defined,unused-ignore]
            said += [discount, Item(Kind.COMPARE, "=", sign="="), Item(Kind.NUMBER, "0", number=0.0)]
        else:
            said.append(item)
    return said


def _severally(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“A 与 B 各自的销售额”: one figure for each."""
    return [
        Item(Kind.EACH, "分别")
        if item.kind is Kind.STOP
        and item.text in ("各自的", "各自")
        and (after := next_said(items, place)) is not None
        and after.kind in _FIGURES
        and _are_several(items[:place])
        else item
        for place, item in enumerate(items)
    ]


def _are_several(before: list[Item]) -> bool:
    return any(sum(item.kind is kind for item in before) > 1 for kind in (Kind.VALUE, Kind.WINDOW))


def _about(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“大约20万的项目” is no number; “大概有多少” asks for one."""
    return [
        replace(item, kind=Kind.UNKNOWN)
        if item.kind is Kind.STOP
        and item.text in _ABOUT
        and (after := next_said(items, place)) is not None
        and after.kind in (Kind.NUMBER, Kind.COMPARE)
        else item
        for place, item in enumerate(items)
    ]


def _values_against_another(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“华东比华南销售额高多少”: of two values, side by side; only two times are a change from one to the other."""
    said = saying(items)
    columns = [
        {(r.model, r.dimension) for r in i.refs if isinstance(r, ValueRef)} for i in said if i.kind is Kind.VALUE
    ]
    is_change = any(item.kind is Kind.CHANGE for item in said)
    is_of_times = any(item.kind is Kind.PREVIOUS for item in said) or sum(i.kind is Kind.WINDOW for i in said) > 1
    if not is_change or is_of_times:
        return items
    if len(columns) != _PAIR or not columns[0] & columns[1]:  # “今年销售额比华南高多少”: whose is against it
        return [_unknown_before_value(item, next_said(items, place)) for place, item in enumerate(items)]
    beside = {Kind.THAN: Item(Kind.AND, "和"), Kind.CHANGE: Item(Kind.EACH, "对比")}
    return [beside.get(item.kind, item) for item in items]


def _unknown_before_value(item: Item, after: Item | None) -> Item:
    is_against = item.kind is Kind.THAN and after is not None and after.kind is Kind.VALUE
    return replace(item, kind=Kind.UNKNOWN) if is_against else item


def _each_of_a_kind(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“每位销售代表的订单数”: for each thing of that kind, where the value is none's name."""
    for place in range(len(items) - 1):
        group, value = items[place : place + 2]
        if group.kind is not Kind.GROUP or value.kind is not Kind.VALUE:
            continue
        models = _models(value)
        is_name = any(isinstance(ref, ValueRef) and lexicon.dimension(ref).is_name for ref in value.refs)
        after = next_said(items, place + 1)
        if len(models) == 1 and not is_name and not (after and _models(after) & models):
            thing = Item(Kind.MODEL, value.text, (ModelRef(models.pop()),))
            return [*items[:place], value, group, thing, *items[place + 2 :]]
    return items


def _more_of_another(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“哪些歌手出了10张以上的专辑”: which of the first have so many of the second."""
    said = saying(items)
    kinds = [item.kind for item in said]
    if kinds == [Kind.LIST, Kind.MODEL, Kind.NUMBER, Kind.AFTER, Kind.MODEL] and said[1].refs != said[4].refs:
        return [said[4], said[2], said[3], said[1]]
    return items


_MENDS: tuple[Mend, ...] = (
    _values_against_another,
    _each_of_a_kind,
    _more_of_another,
    _totals,
    _most_in_all,
    _still_some,
    _undiscounted,
    _severally,
    _about,
)
