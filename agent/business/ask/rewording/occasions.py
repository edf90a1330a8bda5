"""First and last by time, and how long things take: what is meant by the time or the length of a table's rows."""

from dataclasses import replace

from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef

_LATEST_EN = ("latest", "newest", "last", "earliest", "first", "most recent", "the most recent", "the first")
_LATEST_ZH = (
    "最新 最近 最晚 最早 最新的 最近的 最后 最后一个 最后一笔 最后一次 最近一个 最近一笔 最近一次 最近一张 最近的一笔 "
    "最近的一个 最近的一次 第一个 第一笔 第一次 第一位 第一家 第一张 首个 首位 首次 首笔 最早一个 最早一笔 "
    "最近一首 最近一位 最近一家 最近一名 最后一张 最后一位 最后一家 最后一名 上一笔 上一张 上一次 头一个 头一笔 头一张 头一次 头一位 最先"
)
_LATEST = frozenset((*_LATEST_EN, *_LATEST_ZH.split()))
_SIZES = {1: "ms millisecond 毫秒", 1_000: "second sec 秒 秒钟", 60_000: "minute min 分钟", 3_600_000: "hour 小时"}
_MS = {word: size for size, words in _SIZES.items() for word in words.split()}
_UNITS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}


def by_default_time(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The latest order”: by the time its rows are counted by, where no other column is named."""
    content = [item for item in items if item.kind is not Kind.STOP]
    if any(item.kind in (Kind.QUANTITY, Kind.MEASURE, Kind.COUNT, Kind.GROUP, Kind.PERIOD) for item in content):
        return items
    way = next((i for i in content if i.kind in (Kind.MAX, Kind.MIN, Kind.TOP) and i.text.lower() in _LATEST), None)
    models = [item for item in content if item.kind is Kind.MODEL]
    models = _beside(way, content) if way is not None and len(models) > 1 else models
    if way is None or len(models) != 1 or len(models[0].refs) != 1:
        return items
    named = [
        item
        for before, item in zip([None, *content], content, strict=False)
        if item.kind is Kind.TIME and (before is None or before.kind is not Kind.NOT)
    ]
    first = replace(way, kind=Kind.MIN) if way.kind is Kind.TOP else way
    ref = models[0].refs[0]
    default = lexicon.model(ref.model).defaults.agg_time_dimension
    if named or not default:
        return [first if item is way else item for item in items] if named else items
    time = Item(Kind.TIME, way.text, (DimensionRef(ref.model, default),))
    numbers = [
        item for item in content[content.index(way) + 1 :][:1] if item.kind is Kind.NUMBER and way.text.isascii()
    ]
    anchor = numbers[0] if numbers else way
    said = {id(way): [first], id(anchor): [first if anchor is way else anchor, time]}
    return [part for item in items for part in said.get(id(item), [item])]


def _beside(way: Item, content: list[Item]) -> list[Item]:
    """“The last 10 orders of German customers”: of several things the one right after it, or after its number."""
    after = content[content.index(way) + 1 :][:2]
    after = after[1:] if after and after[0].kind is Kind.NUMBER else after[:1]
    return [item for item in after if item.kind is Kind.MODEL]


def without_default_time(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“How many employees joined each year”: periods are those of the time that rows are counted by; it says nothing more."""
    content = [item for item in items if item.kind is not Kind.STOP]
    models = [item for item in content if item.kind is Kind.MODEL]
    times = [item for item in content if item.kind is Kind.TIME]
    is_counted = {Kind.PERIOD, Kind.COUNT} <= {item.kind for item in content}
    is_else = any(item.kind in (Kind.MEASURE, Kind.NOT) for item in content)
    refs = times[0].refs if len(times) == 1 else ()
    if is_else or not is_counted or len(refs) != 1 or not isinstance(refs[0], DimensionRef):
        return items
    owner = ModelRef(refs[0].model)
    if refs[0].dimension != lexicon.model(owner.model).defaults.agg_time_dimension:
        return items
    if times[0].is_owned and not models:
        return [Item(Kind.MODEL, item.text, (owner,)) if item is times[0] else item for item in items]
    is_named = len(models) == 1 and models[0].refs == (owner,)
    return [item for item in items if item is not times[0]] if is_named else items


def lasting(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Longer than 5 minutes”: a number in the unit of the column, which is the only one of such a unit where none is named."""
    items = [
        replace(item, kind=Kind.DURATION)
        if item.text.lower() == "min" and before and before.kind is Kind.NUMBER
        else item
        for before, item in zip([None, *items], items, strict=False)
    ]
    content = [item for item in items if item.kind is not Kind.STOP]
    said: dict[int, list[Item]] = {}
    for place, item in enumerate(content[1:], 1):
        number = content[place - 1]
        if item.kind is not Kind.DURATION or number.kind is not Kind.NUMBER:
            continue
        named = [other for other in content if other.kind is Kind.QUANTITY]
        columns = [ref for other in named for ref in other.refs] or _lasting_columns(content, lexicon)
        units = {lexicon.dimension(ref).unit for ref in columns if isinstance(ref, DimensionRef)}
        size = _MS.get(item.text.lower().removesuffix("s") if len(item.text) > 2 else item.text.lower())
        if len(columns) != 1 or len(units) != 1 or size is None or (unit := units.pop()) not in _UNITS:
            return items
        converted = replace(number, number=number.number * size / _UNITS[unit])
        sign = content[place - 2] if place > 1 and content[place - 2].kind is Kind.COMPARE else None
        column = [] if named else [Item(Kind.QUANTITY, item.text, tuple(columns))]
        said[id(item)] = []
        said[id(number)] = [converted] if sign else [*column, converted]
        if sign:
            said[id(sign)] = [*column, sign]
    return [part for item in items for part in said.get(id(item), [item])]


def _lasting_columns(content: list[Item], lexicon: Lexicon) -> list[DimensionRef]:
    names = {ref.model for item in content if item.kind is Kind.MODEL for ref in item.refs if isinstance(ref, ModelRef)}
    return [
        DimensionRef(name, dimension.name)
        for name in sorted(names)
        for dimension in lexicon.model(name).dimensions
        if dimension.type == "number" and dimension.unit in _UNITS
    ]
