"""Tell whether a block of a style sheet, or a whole sheet, is meant for a reader at a wide screen with light colours."""

import re
from operator import eq, ge, gt, le, lt

from knowledge.parsers.css_values import SCREEN_PX, px

_SIZES = {"width": SCREEN_PX[0], "inline-size": SCREEN_PX[0], "height": SCREEN_PX[1], "block-size": SCREEN_PX[1]}
_FEATURES = {"orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "hover": "hover",
             "any-hover": "hover", "pointer": "fine", "scripting": "enabled", "prefers-contrast": "no-preference"}  # fmt: skip
_OPERATORS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}
_FEATURE = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_RANGE = re.compile(r"(?:(.+?)\s*(<=?|>=?|=)\s*)?([a-z-]+)\s*(?:(<=?|>=?|=)\s*(.+))?")


def applies(kind: str, condition: str) -> bool:
    """Tell whether what stands in the block of an at-rule counts. kind, condition: in lower case."""
    if kind == "supports":
        return not condition.startswith("not")
    if kind == "container":
        condition = condition[condition.find("(") :]
    return kind in ("layer", "scope") or (kind in ("media", "container") and on_a_screen(condition))


def on_a_screen(queries: str) -> bool:
    """Tell whether a wide screen meets one of these media queries; no query is met by all."""
    return not queries.strip() or any(_meets(each.strip()) for each in queries.lower().split(","))


def _meets(query: str) -> bool:
    query, is_not = (query[4:], True) if query.startswith("not ") else (query, False)
    features = [_has(found.strip()) for found in _FEATURE.findall(query)]
    words = set(_FEATURE.sub(" ", query).split()) - {"and", "or", "only"}
    is_met = words <= {"screen", "all"} and (any(features) if " or " in query else all(features))
    return is_met is not is_not


def _has(feature: str) -> bool:
    name, colon, value = (part.strip() for part in feature.partition(":"))
    end, _, of = name.partition("-")
    if colon and end in ("min", "max") and of in _SIZES:
        feature = f"{of} {'>=' if end == 'min' else '<='} {value}"
    elif colon:
        return _FEATURES.get(name) == value or (name in _SIZES and _SIZES[name] == px(value))
    match = _RANGE.fullmatch(feature)
    if not match or match[3] not in _SIZES:
        return _FEATURES.get(feature, "none") not in ("none", "no-preference", "light")
    size = _SIZES[match[3]]
    sides = [(px(match[1]), match[2], size), (size, match[4], px(match[5]))]
    return all(a is not None and b is not None and _OPERATORS[how](a, b) for a, how, b in sides if how)
