"""Reading of JSON from outside, of requests and of remote programs; excessive JSON is refused.

Nested no deeper than MAX_LEVELS, no number that nothing here counts with, no half of a character; and repaired where a comma or an
end is missing.
"""

import json
import re
from math import isfinite
from typing import Any

MAX_LEVELS = 50  # the deepest body of the API has five; Python's recursion ends near a thousand
MAX_DIGITS = 40  # of a whole number; an id of 128 bits has 39
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")  # of a pair, perhaps: written out, or as it is

_UNKEPT = re.compile("[\x00\ud800-\udfff]")  # NUL, halves of a pair


class NestedTooDeeply(ValueError):
    """JSON nested too deeply to be read."""


class HalfCharacter(ValueError):
    """JSON with one surrogate of a pair, which no database keeps and no socket sends."""


def load_json(text: str | bytes) -> Any:
    """Parse JSON as `json.loads` does; bytes are UTF-8. Raises ValueError: NestedTooDeeply, HalfCharacter, or too large a number."""
    text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    value = _parse_bounded_json(text)
    if _HALF.search(text):
        _require_whole_characters(value)
    return value


def load_answer_json(text: str | bytes) -> Any:
    """Parse a program's answer as `load_json` does, removing characters that no database stores, so that the rest is kept."""
    return remove_forbidden_characters(
        _parse_bounded_json(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    )


def remove_forbidden_characters(value: Any) -> Any:
    """Return JSON or YAML without characters that no database stores or socket sends: both may hold them escaped."""
    if isinstance(value, str):
        return _UNKEPT.sub("", value)
    if isinstance(value, list):
        return [remove_forbidden_characters(item) for item in value]
    if isinstance(value, dict):
        return {remove_forbidden_characters(name): remove_forbidden_characters(item) for name, item in value.items()}
    return value


def _parse_bounded_json(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_parse_number, parse_float=_parse_number, parse_int=_parse_whole_number)
    except RecursionError:
        raise NestedTooDeeply(f"nested more than {MAX_LEVELS} levels deep") from None
    return require_shallow(value)


def _parse_number(text: str) -> float:
    """Parse a number. Raises ValueError for NaN, Infinity and overflow, which no database stores as JSON."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:20]} is no number of JSON")
    return value


def _parse_whole_number(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:20]}… has more than {MAX_DIGITS} digits")
    return int(text)


def _require_whole_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HalfCharacter("a text holds half of a character") from None


def require_shallow(value: Any) -> Any:
    """Return the value. Raises NestedTooDeeply. Walks without recursion."""
    level, found = 0, [value]
    while found := [inner for one in found for inner in _list_children(one)]:
        level += 1
        if level > MAX_LEVELS:
            raise NestedTooDeeply(f"nested more than {MAX_LEVELS} levels deep")
    return value


def _list_children(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


MAX_CUTS = 20  # places, from the end, at which what is broken is left out
_COMMA = re.compile(r",(?=\s*[}\]])")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|"', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}


def load_repaired_json(text: str) -> Any:
    """Parse as `load_answer_json`, after removing surplus commas and closing truncated JSON; an incomplete member is left out.

    Raises ValueError where that is not enough.
    """
    try:
        return load_answer_json(text)
    except ValueError:
        for candidate in _iterate_candidates(text):
            try:
                return load_answer_json(candidate)
            except ValueError:
                continue
        raise


def _iterate_candidates(text: str) -> list[str]:
    """Yield the text closed at its end, then at the end of each of its last members."""
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
    found += [f"{text[:place]}{closed}" for place, closed in reversed(ends[-MAX_CUTS:])]
    return [_remove_surplus_commas(item) for item in found]


def _remove_surplus_commas(text: str) -> str:
    """Return the text without commas before closing brackets; strings stay as they are."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(part if place % 2 else _COMMA.sub("", part) for place, part in enumerate(parts))
