"""How Chinese says it, item by item: a total after its column, what there still is of something, lines without a discount."""

from dataclasses import replace

from agent.business.ask.beside import Mend, next_said, saying
from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item
from agent.business.ask.lexicon import DimensionRef, Lexicon
from agent.business.ask.spoken import found

_TOTALS = frozenset("总数 总量 总计 合计 总额 总和 之和".split())  # noqa: SIM905
_ABOUT = frozenset("大概 大约 差不多 大致 大体".split())  # noqa: SIM905
_HAVING = frozenset("有 还有 仍有 尚有 有着".split())  # noqa: SIM905
_UNDISCOUNTED = frozenset("没打折 没打过折 没有打折 没打过折扣 没有折扣 无折扣 未打折 不打折 没优惠".split())  # noqa: SIM905
_DISCOUNT = ("discount", "折扣")
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
        is_total = item.kind is Kind.QUANTITY and total.kind in (Kind.COUNT, Kind.SUM) and total.text in _TOTALS
        if is_total and _is_added(item, lexicon) and not (before and before[0].kind in _WAYS):
            said[place : place + 2] = [Item(Kind.SUM, total.text), item]
    return said


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


_MENDS: tuple[Mend, ...] = (_totals, _still_some, _undiscounted, _severally, _about)
