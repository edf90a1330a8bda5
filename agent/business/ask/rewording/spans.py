"""Days between two times of a row: “average days from order to shipment”, “从下单到发货平均几天”, “平均发货天数”."""

from dataclasses import dataclass

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.kinds import words_in
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef
from agent.business.ask.words.made import span_name
from agent.business.ask.words.units import key_of

_DAYS = words_in("day days 天")
_LENGTHS = words_in("时长 周期 用时 耗时 多久 有多久 多长 间隔")
_OPENING = words_in("between from 从 自 自从 介于")
_JOINING = words_in("and to until till 到 至 和 与 跟")
_TO = words_in("to until till 到 至")
_AFTER = words_in("后 以后 之后 after")
# what only says that the days go by
_PASSING = words_in(
    "take takes took taken taking pass passes passed elapse elapses elapsed lie lies go goes went need needs needed it there is are was "
    "were do does did we 需要 要 用 用了 花 花了 经过 相隔 隔 相差 才 才能 时间 之间 间隔 耗时 用时 一般 通常 大概 是 有 的"
)
_QUIET = words_in("the a an its their our of in 的 usually typically")
_EVENTS = {
    "shipment": "shipped", "shipping": "shipped", "ship": "shipped", "dispatch": "shipped", "ordering": "ordered", "order": "ordered",
    "placing": "ordered", "placement": "ordered", "shipped": "shipped", "发出": "发货", "出货": "发货",
}  # fmt: skip
_WAYS = (Kind.AVG, Kind.MAX, Kind.MIN)


@dataclass(frozen=True)
class _Found:
    """Where the two times stand, and the number that they make."""

    begin: int
    stop: int
    ref: DimensionRef


def spanned(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with days between two times as one number of their table; unchanged where no such two times are named."""
    if not any(_is_length(item) for item in items):
        return items
    content = [item for item in items if item.text.lower() not in _QUIET]
    found = _from_to(content, lexicon) or _after(content, lexicon) or _of_one(content, lexicon)
    return _with_days(content, found) if found else items


def _is_length(item: Item) -> bool:
    return item.text.lower() in _DAYS or item.text in _LENGTHS


def _from_to(content: list[Item], lexicon: Lexicon) -> _Found | None:
    """“Between order date and shipped date”, “下单到发货”."""
    for place in range(1, len(content) - 1):
        if content[place].text.lower() not in _JOINING:
            continue
        is_opened = place > 1 and content[place - 2].text.lower() in _OPENING
        ref = _span(content[place - 1], content[place + 1], lexicon)
        if ref is not None and (is_opened or content[place].text.lower() in _TO):
            return _Found(place - 1 - is_opened, place + 2, ref)
    return None


def _after(content: list[Item], lexicon: Lexicon) -> _Found | None:
    """“下单后几天发货”: the second time stands after the days."""
    for place, item in enumerate(content[:-1]):
        rest = content[place + 2 :]
        days = next((n for n, one in enumerate(rest) if _is_length(one)), None)
        if days is None or content[place + 1].text not in _AFTER:
            continue
        last = next((n for n, one in enumerate(rest[days:], days) if one.kind is Kind.TIME), None)
        ref = _span(item, rest[last], lexicon) if last is not None else None
        if ref is not None and last is not None:
            del content[place + 2 + last]
            return _Found(place, place + 2, ref)
    return None


def _of_one(content: list[Item], lexicon: Lexicon) -> _Found | None:
    """“平均发货天数”, “days to ship”: since the time that the rows are counted by."""
    for place, item in enumerate(content[:-1]):
        after, last = content[place + 1], content[place + 2] if place + 2 < len(content) else None
        is_han = item.kind is Kind.TIME and after.text == "天" and last is not None and last.text == "数"
        is_length = item.kind is Kind.TIME and after.text in _LENGTHS - {"多久", "有多久", "多长"}
        is_to = item.text.lower() in ("day", "days") and after.text.lower() == "to" and last is not None
        event = last if is_to else item if is_han or is_length else None
        for end in _times_of(event, lexicon) if event else ():
            start = DimensionRef(end.model, lexicon.model(end.model).defaults.agg_time_dimension)
            ref = DimensionRef(end.model, span_name(start.dimension, end.dimension))
            if ref in lexicon.made:
                return _Found(place + is_to, place + 1 + is_to * 2, ref)
    return None


def _span(first: Item, last: Item, lexicon: Lexicon) -> DimensionRef | None:
    """The days from a time to another one of the same table; None where there is none, or two tables have them."""
    pairs = [
        DimensionRef(start.model, span_name(start.dimension, end.dimension))
        for start in _times_of(first, lexicon)
        for end in _times_of(last, lexicon)
        if start.model == end.model and start != end
    ]
    found = list(dict.fromkeys(ref for ref in pairs if ref in lexicon.made))
    return found[0] if len(found) == 1 else None


def _times_of(item: Item, lexicon: Lexicon, *, is_thing: bool = False) -> list[DimensionRef]:
    """The time columns that an item names, a thing by the time its rows are counted by."""
    if item.kind is Kind.TIME:
        return [ref for ref in item.refs if isinstance(ref, DimensionRef)]
    event = "" if is_thing else _EVENTS.get(item.text.lower(), "")
    if event == "ordered":
        refs = lexicon.phrases.get(("order",), ())
        return _times_of(
            Item(Kind.MODEL, "order", tuple(ref for ref in refs if isinstance(ref, ModelRef))), lexicon, is_thing=True
        )
    named = [ref for ref in lexicon.phrases.get(key_of(event), ()) if isinstance(ref, DimensionRef)] if event else []
    if named:
        return [ref for ref in named if lexicon.dimension(ref).type == "time"]
    models = [ref.model for ref in item.refs if isinstance(ref, ModelRef)] if item.kind is Kind.MODEL else []
    return [DimensionRef(name, time) for name in models if (time := lexicon.model(name).defaults.agg_time_dimension)]


def _with_days(content: list[Item], found: _Found) -> list[Item]:
    """The number of days in place of its times, beside the word that says which of them, or before what it is compared with."""
    number = Item(Kind.QUANTITY, "number of days", (found.ref,))
    rest = [*content[: found.begin], number, *content[found.stop :]]
    days = next(place for place, item in enumerate(rest) if _is_length(item))
    is_number = days > 0 and rest[days - 1].kind is Kind.NUMBER
    beside = {days} | {
        place for place in (days - 1, days + 1) if 0 <= place < len(rest) and rest[place].kind is Kind.COUNT
    }
    rest = [item for place, item in enumerate(rest) if place not in beside]
    rest = [item for item in rest if item is number or item.text.lower() not in _PASSING]
    if is_number:
        return _moved(rest, number, before=(Kind.COMPARE, Kind.NUMBER))
    way = next((item for item in rest if item.kind in _WAYS), None)
    if way is None:
        return rest
    rest.remove(number)
    place = rest.index(way)
    return [*rest[: place + 1], number, *rest[place + 1 :]]


def _moved(rest: list[Item], number: Item, *, before: tuple[Kind, ...]) -> list[Item]:
    others = [item for item in rest if item is not number]
    place = next(n for n, item in enumerate(others) if item.kind in before)
    return [*others[:place], number, *others[place:]]
