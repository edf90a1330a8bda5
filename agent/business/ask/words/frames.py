"""Light words that are passed over only in their frame: “在杭州上班的员工”, “做销售代表的员工”, “软件和服务这两类”."""

from dataclasses import replace

from agent.business.ask.chinese.words import AFTER_NAMES, AFTER_PLACES, BEFORE_TITLES
from agent.business.ask.rewording.money import SPENT
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.units import key_of

_NAMED = (Kind.VALUE, Kind.QUOTED)
_DEAREST = {"最贵": Kind.MAX, "最昂贵": Kind.MAX, "最便宜": Kind.MIN, "最廉价": Kind.MIN}
_COUNTERS = frozenset("名个位家款首张笔种支项")
_ALSO = frozenset("但 但是 不过 却 可是 而且 并且 且 并 又 同时".split())  # noqa: SIM905
_CONDITION_ENDS = (Kind.VALUE, Kind.ADJECTIVE, Kind.NUMBER, Kind.AFTER, Kind.CURRENCY, Kind.WINDOW)
_CONDITIONS = (Kind.VALUE, Kind.QUANTITY, Kind.NOT, Kind.ADJECTIVE, Kind.FILLED)
_CLOSES = (Kind.DIMENSION, Kind.MODEL, Kind.SUFFIX, Kind.EACH, Kind.GROUP, Kind.WINDOW)


def framed(items: list[Item]) -> list[Item]:
    """The items with light words passed over where they fit, and unknown where they do not: they would say something there."""
    said: list[Item] = []
    for place, item in enumerate(items):
        before = next((one for one in reversed(items[:place]) if one.kind not in (Kind.STOP, Kind.FRAMED)), None)
        after = next((one for one in items[place + 1 :] if one.kind is not Kind.STOP), None)
        if item.kind is Kind.FRAMED:
            is_light = _fits(item, before, after, items[place - 1] if place else None) or _is_the_one(
                item, items, place
            )
            said.append(replace(item, kind=Kind.STOP if is_light else Kind.UNKNOWN))
        elif item.kind is Kind.EMPTY and place and items[place - 1].text == "公司":
            said.append(replace(item, kind=Kind.UNKNOWN))  # “公司为空”: a column that there is not
        elif _is_counter(item, items[place - 1] if place else None):
            said.append(replace(item, kind=Kind.STOP))
        elif item.kind is Kind.ADJECTIVE and key_of(item.text) in SPENT and _is_cost(items[:place], items[place + 1 :]):
            said.append(replace(item, kind=Kind.STOP))  # “运费花了多少”
        elif (
            item.kind is Kind.ADJECTIVE
            and item.text in _DEAREST
            and before is not None
            and before.kind is Kind.QUANTITY
        ):
            said.append(replace(item, kind=_DEAREST[item.text]))  # “运费最贵的订单”
        elif not _counts_again(item, before, after, items[:place]):
            said.append(item)
    return _one_condition_more(_without_doubles(said))


def _fits(item: Item, before: Item | None, after: Item | None, last: Item | None) -> bool:
    key = key_of(item.text)
    if key in AFTER_PLACES:
        if after is not None and after.kind is Kind.LIST and last is before and before is not None:
            return before.kind is Kind.MODEL  # “环境部署在哪些集群上”
        return any(one is not None and one.kind in (*_NAMED, Kind.DIMENSION) for one in (before, after))
    if key in BEFORE_TITLES:
        return after is not None and after.kind in _NAMED
    if key in AFTER_NAMES and item.text == "那" and before is None:
        return True  # “那上个月呢”
    return before is not None and before.kind in _NAMED and last is before


def _is_counter(item: Item, last: Item | None) -> bool:
    """“前三名”: a word that counts after a number, also where a column is called so."""
    counted = (Kind.NUMBER, Kind.COUNT, Kind.LIST)
    return item.kind is Kind.DIMENSION and item.text in _COUNTERS and last is not None and last.kind in counted


def _is_cost(before: list[Item], after: list[Item]) -> bool:
    """Whether what was spent is named just before or after: a column of numbers, or a figure."""
    light = (Kind.STOP, Kind.ALL, Kind.SUM)
    said = [one for one in before if one.kind not in light][-1:]
    said += [one for one in after if one.kind not in (*light, Kind.COUNT, Kind.MUCH)][:1]
    return any(one.kind in (Kind.MEASURE, Kind.QUANTITY) for one in said)


def _is_the_one(item: Item, items: list[Item], place: int) -> bool:
    """“东京的那家供应商叫什么”: the one that was just described, where it is asked who or which it is."""
    is_described = any(one.kind in (*_NAMED, Kind.MAX, Kind.MIN) for one in items[:place])
    asks = any(one.kind in (Kind.LIST, Kind.DIMENSION) for one in items[place:])
    return item.text.startswith("那") and is_described and asks and all(one.kind is not Kind.COUNT for one in items)


def _counts_again(item: Item, before: Item | None, after: Item | None, earlier: list[Item]) -> bool:
    """“华东和华南两个地区”: the number of the values before it, said again."""
    if item.kind is not Kind.NUMBER or before is None or before.kind is not Kind.VALUE:
        return False
    named = 0
    for one in reversed(earlier):
        if one.kind is Kind.VALUE:
            named += 1
        elif one.kind not in (Kind.AND, Kind.STOP, Kind.FRAMED):
            break
    return named > 1 and item.number == named and (after is None or after.kind in (*_CLOSES, Kind.AND, Kind.MEASURE))


def _without_doubles(items: list[Item]) -> list[Item]:
    """“美国客户和巴西客户”: the thing once, after both values."""
    content = [item for item in items if item.kind is not Kind.STOP]
    gone: list[Item] = []
    for place in range(len(content) - 4):
        kinds = [one.kind for one in content[place : place + 4]]
        if kinds == [Kind.VALUE, Kind.MODEL, Kind.AND, Kind.VALUE]:
            thing, last = content[place + 1], content[place + 4]
            gone += [thing] if last.kind is Kind.MODEL and last.refs == thing.refs else []
    return [item for item in items if not any(item is one for one in gone)]


def _one_condition_more(items: list[Item]) -> list[Item]:
    """“预算超过20万而且正在进行”, “停产但还有库存”: one condition more of the same thing."""
    said = []
    for place, item in enumerate(items):
        before = next((one for one in reversed(items[:place]) if one.kind is not Kind.STOP), None)
        after = next((one for one in items[place + 1 :] if one.kind is not Kind.STOP), None)
        is_between = before is not None and after is not None
        is_between = is_between and _ends_condition(before, items[:place]) and after.kind in _CONDITIONS  # type: ignore[union-attr]
        if not (item.kind is Kind.AND and item.text in _ALSO and is_between):
            said.append(item)
    return said


def _ends_condition(before: Item | None, earlier: list[Item]) -> bool:
    """Whether a condition ends here: a value, a number, or a column that another one is compared with."""
    content = [one for one in earlier if one.kind is not Kind.STOP]
    is_compared = [one.kind for one in content[-3:]] == [Kind.QUANTITY, Kind.COMPARE, Kind.QUANTITY]
    return is_compared or (before is not None and before.kind in _CONDITION_ENDS)
