"""Whether a block of a style sheet, or a whole sheet, is meant for a reader at a wide screen with light colours."""

import re
from operator import eq, ge, gt, le, lt

from knowledge.parsers.css_values import SCREEN_PX, px

_SIZES = {"width": SCREEN_PX[0], "inline-size": SCREEN_PX[0], "device-width": SCREEN_PX[0]}
_SIZES |= {"height": SCREEN_PX[1], "block-size": SCREEN_PX[1], "device-height": SCREEN_PX[1]}
_FEATURES = {"orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference"}
_FEATURES |= {"hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine", "scripting": "enabled"}
_FEATURES |= {
    "color": "8",
    "display-mode": "browser",
    "update": "fast",
    "forced-colors": "none",
    "prefers-contrast": "no-preference",
}
_OPERATORS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_BLOCKS = re.compile(r"@(media|container|supports|layer|scope)\b")
_FEATURE = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_RANGE = re.compile(r"(?:(.+?)\s*(<=?|>=?|=)\s*)?([a-z-]+)\s*(?:(<=?|>=?|=)\s*(.+))?")


def applies(prelude: str) -> bool:
    """Whether what stands in a block counts. prelude: of an at-rule, in lower case."""
    kind = _BLOCKS.match(prelude)
    if not kind:
        return False
    condition = prelude[kind.end() :].strip()
    match kind[1]:
        case "media":
            return on_a_screen(condition)
        case "container":
            return on_a_screen(condition[condition.find("(") :])
        case "supports":
            return not condition.startswith("not")
        case _:
            return True


def on_a_screen(queries: str) -> bool:
    """Whether a wide screen meets one of these media queries; no query is met by all."""
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
        length = px(value)
        return length is not None and (_SIZES[of] >= length if end == "min" else _SIZES[of] <= length)
    if colon:
        return _FEATURES.get(name) == value or (name in _SIZES and _SIZES[name] == px(value))
    match = _RANGE.fullmatch(feature)
    if not match or match[3] not in _SIZES:
        return _FEATURES.get(feature, "none") not in ("none", "no-preference", "light")
    size, results = _SIZES[match[3]], [True]
    for operator, bound in ((_MIRRORED.get(match[2] or ""), match[1]), (match[4], match[5])):
        if operator:
            bound_px = px(bound)
            results.append(bound_px is not None and _OPERATORS[operator](size, bound_px))
    return all(results)
