"""What is easily read as something else: such a question is handed on rather than answered with a wrong number."""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.words.beside import saying
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef, ValueRef

_ALL = frozenset("all every 所有 全部 全 都 均 全都".split())  # noqa: SIM905
_HELD = frozenset("owned led managed run headed supported handled supplied shipped made placed sold bought".split())  # noqa: SIM905


def require_plain(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items without per cent signs that only repeat a column's unit. Raises NotUnderstood for what is in doubt."""
    _require_some(items)
    _require_one_meaning(items)
    return _in_percent(_held(items), lexicon)


def require_own_news(items: list[Item]) -> None:
    """“今年新增的客户中有多少下过单”: the year is when the customers came, not when they ordered. Raises NotUnderstood."""
    things = {item.refs for item in items if item.kind is Kind.MODEL}
    if len(things) > 1 and any(item.kind is Kind.NEW for item in items):
        raise NotUnderstood("a time of another thing")


def _in_percent(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“A discount above 10%” is no share of rows: it is 10 or 0.1, as the column's unit says. Raises NotUnderstood."""
    content = saying(items)
    signs = [
        after
        for before, after in pairwise(content)
        if before.kind is Kind.NUMBER and after.kind is Kind.SHARE and after.text == "%"
    ]
    if not signs:
        return items
    columns = {ref for item in content if item.kind is Kind.QUANTITY for ref in item.refs}
    if len(columns) != 1 or any(
        not isinstance(ref, DimensionRef) or lexicon.dimension(ref).unit != "%" for ref in columns
    ):
        raise NotUnderstood("a percentage of what")
    return [item for item in items if not any(item is sign for sign in signs)]


def _require_some(items: list[Item]) -> None:
    """“Customers whose orders are all paid” are not those who have a paid one. Raises NotUnderstood."""
    things = [place for place, item in enumerate(items) if item.kind is Kind.MODEL]
    refs = {ref for place in things for ref in items[place].refs}
    for place, item in enumerate(items):
        if item.text.lower() not in _ALL or len(refs) < 2:
            continue
        is_chinese = not item.text.isascii()
        value = any(one.kind is Kind.VALUE for one in items[place + 1 : place + 4])
        before = [one for one in things if one < place]
        after = [one for one in things if one > place]
        is_of_theirs = (
            bool(after) and (len(after) > 1 or bool(before)) and value if is_chinese else bool(before) and value
        )
        if is_of_theirs and (not is_chinese or _tells_of_all(items, place)):
            raise NotUnderstood("all of them, or some")


def _tells_of_all(items: list[Item], place: int) -> bool:
    """Whether a word for all stands beside what all is said of: “所有订单都”, “订单全部”."""
    after = items[place + 1] if place + 1 < len(items) else None
    is_before_value = after is not None and after.kind is Kind.VALUE
    is_after_thing = place > 0 and items[place - 1].kind is Kind.MODEL
    return is_before_value and is_after_thing


def _held(items: list[Item]) -> list[Item]:
    """“Projects owned by employees in Hangzhou” are not counted by employee: the employees are said to be in Hangzhou."""
    said = []
    for place, item in enumerate(items):
        after = saying(items[place + 1 :])[:2]
        is_held = item.kind is Kind.GROUP and item.text.lower() == "by" and place > 0
        is_held = is_held and items[place - 1].text.lower() in _HELD
        if is_held and [one.kind for one in after] == [Kind.MODEL, Kind.VALUE]:
            said.append(replace(item, kind=Kind.STOP))
        else:
            said.append(item)
    return said


def _require_people_left(items: list[Item]) -> None:
    """“Budget left on paused projects” is what remains, not of those who left. Raises NotUnderstood."""
    things = {ref.model for item in items if item.kind is Kind.MODEL for ref in item.refs if isinstance(ref, ModelRef)}
    is_who = any(item.text.lower() in ("who", "anyone", "anybody") for item in items)
    for item in items:
        owners = {ref.model for ref in item.refs if isinstance(ref, ValueRef)}
        if item.kind is Kind.VALUE and item.text.lower() == "left" and not owners & things and not is_who:
            raise NotUnderstood("what is left, or who")


def _require_one_meaning(items: list[Item]) -> None:
    """“Not shipped to Germany”, “stock value”, “how many units are in stock”: of the place, of money, of no sale. Raises NotUnderstood."""
    content = saying(items)
    _require_people_left(items)
    for first, second, third in zip(content, content[1:], content[2:], strict=False):
        if [first.kind, second.kind, third.kind] == [Kind.NOT, Kind.TIME, Kind.VALUE]:
            raise NotUnderstood("not yet, or not there")
    for first, second in pairwise(items):
        if first.kind is Kind.QUANTITY and second.text.lower() in ("value", "worth") and second.kind is Kind.STOP:
            raise NotUnderstood("the number, or its value")
    is_held = any(item.kind is Kind.COMPARE and item.text.lower() == "in stock" for item in items)
    if is_held and any(item.kind is Kind.MEASURE for item in items):
        raise NotUnderstood("sold, or in stock")
