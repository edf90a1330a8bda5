"""Absence said otherwise: an empty playlist has no entries, a shipper never used has no orders."""

from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import Lexicon, ModelRef


def absent(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Empty” and “never used” as “without rows of the table that points to it”; unknown where there is none, or several."""
    content = [item for item in items if item.kind is not Kind.STOP]
    said = next((item for item in content if item.kind in (Kind.EMPTY, Kind.USE)), None)
    if said is None:
        return items
    if _is_what_we_use(said, items):
        return [item for item in items if item is not said]
    if said.kind is Kind.EMPTY and _is_of_column(said, content):
        return items
    used_for = _rows_used_for(said, content, lexicon)
    if used_for is not None:
        return [part for item in items if item is not said for part in used_for.get(id(item), [item])]
    negations = [item for item in content if item.kind is Kind.NOT]
    is_negative = said.kind is Kind.EMPTY or said.text.lower() == "unused"
    things = {
        ref.model for item in content if item.kind is Kind.MODEL for ref in item.refs if isinstance(ref, ModelRef)
    }
    pointing = {step.many for step in Joins(lexicon.layer).steps if things == {step.one}}
    if len(negations) != (0 if is_negative else 1) or len(pointing) != 1:
        return [Item(Kind.UNKNOWN, item.text) if item is said else item for item in items]
    without = [Item(Kind.NOT, said.text), Item(Kind.MODEL, said.text, (ModelRef(pointing.pop()),))]
    return [part for item in items if item not in negations for part in (without if item is said else [item])]


def _is_what_we_use(said: Item, items: list[Item]) -> bool:
    """“Every shipper we used”: all that orders have to do with; not “which shippers have we used”."""
    place = items.index(said)
    before = [one.text.lower() for one in items[max(0, place - 1) : place]]
    is_clause = place > 1 and items[place - 2].kind is Kind.MODEL and before == ["we"]
    return said.kind is Kind.USE and is_clause and all(item.kind is not Kind.NOT for item in items)


def _is_of_column(said: Item, content: list[Item]) -> bool:
    """“邮箱为空的客户”: a column of the thing is empty, not the thing."""
    place = content.index(said)
    return place > 0 and content[place - 1].kind in (Kind.DIMENSION, Kind.QUANTITY, Kind.TIME)


def _rows_used_for(said: Item, content: list[Item], lexicon: Lexicon) -> dict[int, list[Item]] | None:
    """“Carriers never used for an order”: without those orders, which point to them; None where that is not what is said."""
    negations = [item for item in content if item.kind is Kind.NOT]
    things = [item for item in content if item.kind is Kind.MODEL and len(item.refs) == 1]
    place = content.index(said)
    rows = content[place + 1] if place + 1 < len(content) else None
    others = {one.refs[0].model for one in things if one is not rows and isinstance(one.refs[0], ModelRef)}
    if (
        said.kind is not Kind.USE
        or len(negations) != 1
        or rows not in things
        or rows is not content[-1]
        or len(others) != 1
    ):
        return None
    assert rows is not None  # it is one of the things
    points = any(
        isinstance(ref, ModelRef) and step.many == ref.model and {step.one} == others
        for ref in rows.refs
        for step in Joins(lexicon.layer).steps
    )
    return {id(negations[0]): [], id(rows): [negations[0], rows]} if points else None
