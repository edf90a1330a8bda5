"""The same question with another value: what was confirmed for Germany answers for Norway, where one literal says which."""

import re
from collections.abc import Iterator, Sequence

from business.guard.rewrite import literal
from business.linking.linker import tells_names
from business.semantic_layer.model import Dimension, SemanticLayer, Value

_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|\S")


def with_other_value(sql: str, before: str, now: str, layer: SemanticLayer) -> str:
    """The statement of one question for another, which differs from it in one value of one column; "" where that is not so."""
    old, new = _units(before), _units(now)
    found = {
        sql.replace(literal(one.value), literal(other.value))
        for dimension in _told(layer)
        for one, other in _exchanged(old, new, dimension)
        if sql.count(literal(one.value)) == 1 and all(column in sql for column in dimension.columns)
    }
    return found.pop() if len(found) == 1 else ""


def _units(text: str) -> list[str]:
    return _UNIT.findall(text)


def _told(layer: SemanticLayer) -> Iterator[Dimension]:
    for model in layer.semantic_models:
        yield from (each for each in model.dimensions if each.values and tells_names(each, model))


def _exchanged(old: Sequence[str], new: Sequence[str], dimension: Dimension) -> Iterator[tuple[Value, Value]]:
    """Pairs of values of which one stands in one question where the other stands in the other."""
    for value in dimension.values:
        for said in map(_units, _wordings(value)):
            for at in range(len(old) - len(said) + 1):
                rest = len(old) - at - len(said)
                is_around = list(old[at : at + len(said)]) == said and old[:at] == new[:at]
                if said and is_around and at + rest <= len(new) and old[len(old) - rest :] == new[len(new) - rest :]:
                    other = _value("".join(new[at : len(new) - rest]), dimension)
                    if other is not None and other.value != value.value:
                        yield value, other


def _value(text: str, dimension: Dimension) -> Value | None:
    return next((v for v in dimension.values if text in {"".join(_units(said)) for said in _wordings(v)}), None)


def _wordings(value: Value) -> list[str]:
    return [word.casefold() for word in (value.value, *value.synonyms)]
