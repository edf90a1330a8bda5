"""Lengths, numbers and colours as styles write them: what they come to on a wide screen. Colours are read by tinycss2."""

import ast
import re
from collections.abc import Callable, Sequence
from operator import add, mul, sub, truediv
from typing import Any, Final

from tinycss2.color5 import parse_color

from knowledge.parsers.hidden import WHITE, Colour

SCREEN_PX = (1280.0, 720.0)  # width and height that styles are asked about
PX_PER_POINT = 96 / 72

_PX_OF = {
    "px": 1.0,
    "pt": PX_PER_POINT,
    "pc": 16.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "lh": 20.0,
    "rlh": 20.0,
}
_PX_OF |= {"cm": 37.8, "mm": 3.78, "q": 0.945, "in": 96.0, "": 1.0, "%": SCREEN_PX[0] / 100}
_PX_OF |= {f"{kind}v{axis}": SCREEN_PX[axis in "hb" or len(axis) > 1] / 100 for kind in ("", "s", "l", "d")
           for axis in ("w", "h", "i", "b", "min", "max")}  # fmt: skip
LENGTH: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_IN_FORMULA = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_FORMULA = re.compile(r"(?:calc|min|max|clamp)\(.{1,200}\)")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "calc": lambda values: values[0], "min": min, "max": max, "clamp": lambda v: max(v[0], min(v[1], v[2])),
}  # fmt: skip
_SYSTEM: dict[str, Colour] = {"canvas": WHITE, "field": WHITE, "canvastext": (0, 0, 0), "fieldtext": (0, 0, 0)}
_INHERITED = frozenset({"inherit", "currentcolor", "unset", "revert", "revert-layer", "initial"})
Shade = tuple[Colour, float]
"""A colour and its opacity, from 0 to 1."""


def parse_length(value: str | None, *, em: float = 16.0) -> float | None:
    """Return a length in pixels; None for anything else. em: pixels that `em` stands for."""
    value = (value or "").strip()
    units = {**_PX_OF, "em": em, "ex": em / 2, "ch": em / 2}
    if match := LENGTH.fullmatch(value):
        return float(match[1]) * units[match[2]] if match[2] in units else None
    if not _FORMULA.fullmatch(value):
        return None
    formula = _IN_FORMULA.sub(lambda found: repr(float(found[1]) * units.get(found[2], 0.0)), value)
    try:
        return _evaluate_expression(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError):
        return None


def _evaluate_expression(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate_expression(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate_expression(left), _evaluate_expression(right))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]):
            return _FUNCTIONS[name]([_evaluate_expression(argument) for argument in args])
    raise ValueError("not a formula")


def parse_number(value: str | None) -> float | None:
    """Return a number or a percentage, as a number; None for what is neither."""
    if value and (match := LENGTH.fullmatch(value.strip())):
        return float(match[1]) / (100 if match[2] == "%" else 1) if match[2] in ("", "%") else None
    return parse_length(value) if value and _FORMULA.fullmatch(value.strip()) else None


def is_colour(value: str) -> bool:
    """Tell whether a browser would take this for a colour."""
    return value in _INHERITED or "var(" in value or parse_shade(value) is not None


def parse_shade(text: str) -> Shade | None:
    """Read a colour; None for an unknown one."""
    if text in _SYSTEM:
        return _SYSTEM[text], 1.0
    try:
        colour = parse_color(text)
        red, green, blue = _convert_to_rgb(colour)
    except (ValueError, TypeError, AttributeError, ArithmeticError):  # also for "currentcolor"
        return None
    return _round_colour(255 * red, 255 * green, 255 * blue), float(colour.alpha)


def _convert_to_rgb(colour: Any) -> Sequence[float]:
    """Return red, green and blue from 0 to 1; for other colour spaces, the grey of equal brightness."""
    for space in ("srgb", "xyz-d65", "xyz-d50"):
        try:
            found = tuple(colour.to(space).coordinates)
        except NotImplementedError:
            continue
        bright = min(1.0, max(0.0, found[1]))
        grey = 12.92 * bright if bright <= 0.0031308 else 1.055 * bright ** (1 / 2.4) - 0.055
        return found if space == "srgb" else (grey,) * 3
    return tuple(colour.coordinates)


def _round_colour(red: float, green: float, blue: float) -> Colour:
    def bounded(value: float) -> int:
        return round(min(255.0, max(0.0, value)))

    return bounded(red), bounded(green), bounded(blue)


def blend_colours(colour: Colour, background: Colour, opacity: float) -> Colour:
    """Mix a translucent colour with its background."""
    return _round_colour(*(opacity * a + (1 - opacity) * b for a, b in zip(colour, background, strict=True)))


def split_outside_brackets(text: str, separator: str = ",") -> list[str]:
    """Return the parts between separators outside of brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == separator and depth <= 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]
