"""JSON from outside: nested no deeper than anything that is meant, and repaired where a comma or an end is missing."""

import json
import re
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


MOST_CUTS = 20  # places, from the end, at which what is broken is left out
_COMMA = re.compile(r",(?=\s*[}\]])")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|"', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}


def loads_repaired(text: str) -> Any:
    """As `loads`, with commas too many taken out, and with what a cut has left open closed: a member that is not whole is left out.

    Raises ValueError where that is not enough.
    """
    try:
        return loads(text)
    except ValueError:
        for candidate in _candidates(text):
            try:
                return loads(candidate)
            except ValueError:
                continue
        raise


def _candidates(text: str) -> list[str]:
    """The text closed where it ends, then where each of its last members ends."""
    open_: list[str] = []
    ends: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif open_ and sign == open_[-1]:
            open_.pop()
        elif sign == ",":
            ends.append((token.start(), "".join(reversed(open_))))
    closing = "".join(reversed(open_))
    is_whole = text.rstrip()[-1:] in ('"', "]", "}", ",")  # a number or a word may go on behind the cut
    found = [f"{text}{closing}"] if is_whole else []
    found += [f"{text[:place]}{closed}" for place, closed in reversed(ends[-MOST_CUTS:])]
    return [_without_commas(each) for each in found]


def _without_commas(text: str) -> str:
    """Without commas before a closing bracket; what stands in strings stays."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(part if place % 2 else _COMMA.sub("", part) for place, part in enumerate(parts))
