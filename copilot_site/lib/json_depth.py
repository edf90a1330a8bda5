"""JSON from outside, nested no deeper than anything that is meant: what reads it further may recurse."""

import json
from math import isfinite
from typing import Any

MOST_LEVELS = 50  # the deepest body of the API has five; Python's recursion ends near a thousand


class NestedTooDeeply(ValueError):
    """JSON, and more levels of it than are read."""


def loads(text: str) -> Any:
    """As `json.loads`. Raises ValueError, for what is nested more than MOST_LEVELS deep and for numbers that JSON does not have, too."""
    try:
        value = json.loads(text, parse_constant=_number, parse_float=_number)
    except RecursionError:
        raise NestedTooDeeply(f"nested more than {MOST_LEVELS} levels deep") from None
    return require_shallow(value)


def _number(text: str) -> float:
    """Raises ValueError for NaN and Infinity, which Python writes and reads, and for what is as large: no database keeps them as JSON."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:20]} is no number of JSON")
    return value


def require_shallow(value: Any) -> Any:
    """The value itself. Raises NestedTooDeeply. Walks without recursion."""
    level, found = 0, [value]
    while found := [inner for one in found for inner in _within(one)]:
        level += 1
        if level > MOST_LEVELS:
            raise NestedTooDeeply(f"nested more than {MOST_LEVELS} levels deep")
    return value


def _within(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
