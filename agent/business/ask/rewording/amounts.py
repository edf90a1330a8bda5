"""Numbers as English says them: exactly so many, none, all of it, the headcount, the total of a column."""

from dataclasses import replace

from agent.business.ask.rewording.money import amount_of
from agent.business.ask.words.beside import Mend, next_said, saying, text_of
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ValueRef
from agent.business.ask.words.spoken import found
from agent.business.ask.words.units import key_of

_HAVING = frozenset("with have has had having place placed make made contain containing own owns".split())  # noqa: SIM905
_PRICES = frozenset(("price", "cost", "discount"))
_HEADS = frozenset((("headcount",), ("head", "count")))


def _without_such(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Categories without discontinued products”: without things that have the value, not with things that have it not."""
    content = saying(items)
    for place, item in enumerate(content[:-2]):
        value, thing = content[place + 1], content[place + 2]
        is_such = item.kind is Kind.NOT and value.kind is Kind.VALUE and thing.kind is Kind.MODEL
        others = [one for one in content[:place] if one.kind is Kind.MODEL and not set(one.refs) & set(thing.refs)]
        if is_such and others and text_of(item) not in ("not", "are not", "is not", "were not", "was not", "non"):
            swapped = {id(value): thing, id(thing): value}
            return [swapped.get(id(one), one) for one in items]
    return items


def _how_much_of(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“How much stock do we hold”: all of it."""
    content = saying(items)
    for place, item in enumerate(content):
        rest = [one for one in content[place + 1 :] if one.kind is not Kind.VALUE][:1]
        if item.kind is Kind.MUCH and rest and rest[0].kind is Kind.QUANTITY and not any(
            one.kind in (Kind.SUM, Kind.AVG, Kind.MAX, Kind.MIN, Kind.MEASURE) for one in content
        ) and not _PRICES & set(key_of(rest[0].text)):  # fmt: skip
            return [Item(Kind.SUM, "total") if one is item else one for one in items]
    return items


def _exactly(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Customers with 3 orders”: exactly so many; “zero stock”: a stock of 0."""
    items = [
        replace(item, kind=Kind.NUMBER, number=0.0)
        if item.kind is Kind.NOT
        and text_of(item) in ("no", "with no")
        and (after := next_said(items, place))
        and after.kind is Kind.QUANTITY
        else item
        for place, item in enumerate(items)
    ]
    said: list[Item] = []
    for place, item in enumerate(items):
        after = next_said(items, place)
        before = items[place - 1] if place else None
        is_number = item.kind is Kind.NUMBER and after is not None
        if is_number and item.number == 0 and after and after.kind is Kind.QUANTITY:
            continue
        is_of_things = is_number and before is not None and before.kind is Kind.STOP and text_of(before) in _HAVING
        if (
            is_of_things
            and after
            and after.kind is Kind.MODEL
            and any(one.kind in (Kind.MODEL, Kind.DIMENSION) for one in said)
        ):
            said.append(Item(Kind.COMPARE, item.text, sign="="))
        said.append(item)
        is_none = (
            item.kind is Kind.QUANTITY and before is not None and before.kind is Kind.NUMBER and before.number == 0
        )
        if is_none:
            said += [Item(Kind.COMPARE, "=", sign="="), before]  # type: ignore[list-item,unused-ignore]
    return said


def _amount_of_all(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The total amount of orders cancelled this year”: of their amounts, not their number."""
    content = saying(items)
    said = next((item for item in content if item.kind is Kind.SUM and "amount" in text_of(item)), None)
    things = [item for item in content if item.kind is Kind.MODEL]
    if said is None or not things or any(item.kind in (Kind.QUANTITY, Kind.MEASURE, Kind.COUNT) for item in content):
        return items
    amount = amount_of(things[0], lexicon)
    return [part for item in items for part in ([item, amount] if item is said and amount else [item])]


def _heads(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“The headcount in Hangzhou” is a number of people."""
    if any(item.kind is Kind.COUNT for item in items):
        return items
    return [
        part
        for item in items
        for part in (
            [Item(Kind.COUNT, "number of"), item] if item.kind is Kind.MODEL and key_of(item.text) in _HEADS else [item]
        )
    ]


def _in_all(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Total stock across all products” is one number; across all of a column is one per value, unless a total is asked for."""
    said = []
    for place, item in enumerate(items):
        after = next_said(items, place)
        is_all = item.kind is Kind.GROUP and text_of(item) == "across all" and after is not None
        said.append(replace(item, kind=Kind.ALL) if is_all and after and after.kind is Kind.MODEL else item)
    return said


def _the_total(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Freight to France in 1998”: where the layer adds that very column up as a figure, it is the figure that is meant."""
    content = saying(items)
    numbers = [item for item in content if item.kind is Kind.QUANTITY]
    others = [item for item in content if item.kind not in (Kind.QUANTITY, Kind.VALUE, Kind.WINDOW, Kind.ASK)]
    values = [ref for item in content if item.kind is Kind.VALUE for ref in item.refs if isinstance(ref, ValueRef)]
    if len(numbers) != 1 or others or len(content) < 2 or any(lexicon.dimension(ref).is_name for ref in values):
        return items
    refs = numbers[0].refs
    if len(refs) != 1 or not isinstance(refs[0], DimensionRef):
        return items
    own = lexicon.dimension(refs[0])
    totals = [
        MeasureRef(refs[0].model, measure.name)
        for measure in lexicon.model(refs[0].model).measures
        if measure.agg == "sum" and measure.expr == own.expr and not measure.filter
    ]
    total = Item(Kind.MEASURE, numbers[0].text, tuple(totals))
    return [total if item is numbers[0] and len(totals) == 1 else item for item in items]


def _below_reorder(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Below the reorder level”: the stock is."""
    numbers = [item for item in items if item.kind is Kind.QUANTITY]
    stock = found(lexicon, ("units in stock", "stock"), DimensionRef)
    if len(numbers) != 1 or "reorder" not in key_of(numbers[0].text) or stock is None:
        return items
    content = saying(items)
    before = content[content.index(numbers[0]) - 1]
    return [
        part for item in items for part in ([stock, item] if item is before and item.kind is Kind.COMPARE else [item])
    ]


def _worth(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The average worth of an order”, “average order value”: of what each sold, where the orders have no amount of their own."""
    content = saying(items)
    things = [item for item in content if item.kind is Kind.MODEL]
    averages = [item for item in content if item.kind is Kind.AVG]
    said = next((i for i in items if text_of(i) in ("worth", "value") and i.kind in (Kind.UNKNOWN, Kind.STOP)), None)
    figures = (Kind.QUANTITY, Kind.MEASURE, Kind.GROUP, Kind.COUNT, Kind.DIMENSION)
    revenue = found(lexicon, ("revenue", "sales"), MeasureRef)
    if said is None or len(things) != 1 or len(averages) != 1 or any(item.kind in figures for item in content):
        return items
    if revenue is None or amount_of(things[0], lexicon):
        return items
    per = [Item(Kind.GROUP, "per"), things[0]]
    return [part for item in items if item is not said for part in (
        [item, revenue] if item is averages[0] else per if item is things[0] else [item]
    )]  # fmt: skip


AMOUNTS: tuple[Mend, ...] = (
    _worth,
    _exactly,
    _heads,
    _in_all,
    _below_reorder,
    _without_such,
    _how_much_of,
    _amount_of_all,
    _the_total,
)
