"""Absence said otherwise: an empty playlist has no entries, a shipper never used has no orders."""

from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item
from agent.business.ask.joins import Joins
from agent.business.ask.lexicon import Lexicon, ModelRef


def absent(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Empty” and “never used” as “without rows of the table that points to it”; unknown where there is none, or several."""
    content = [item for item in items if item.kind is not Kind.STOP]
    said = next((item for item in content if item.kind in (Kind.EMPTY, Kind.USE)), None)
    if said is None:
        return items
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
