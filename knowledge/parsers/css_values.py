"""Lengths, numbers and colours as styles write them: what they come to on a wide screen."""

import ast
import colorsys
import re
from collections.abc import Callable
from operator import add, mul, sub, truediv
from typing import Final

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
_PX_OF |= {f"{kind}v{axis}": px / 100 for kind in ("", "s", "l", "d") for axis, px in (
    ("w", SCREEN_PX[0]), ("h", SCREEN_PX[1]), ("i", SCREEN_PX[0]), ("b", SCREEN_PX[1]), ("min", SCREEN_PX[1]), ("max", SCREEN_PX[0])
)}  # fmt: skip
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
LENGTH: Final = re.compile(rf"({_NUMBER})([a-z%]*)")
_IN_FORMULA = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)")
_FORMULA = re.compile(r"(?:calc|min|max|clamp)\(.{1,200}\)")
_FUNCTION = re.compile(r"([a-z-]+)\((.*)\)")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {"calc": lambda values: values[0], "min": min, "max": max}
_SYSTEM: dict[str, Colour] = {"canvas": WHITE, "field": WHITE, "canvastext": (0, 0, 0), "fieldtext": (0, 0, 0)}
_INHERITED = frozenset({"inherit", "currentcolor", "unset", "revert", "revert-layer"})
_COLOUR_FUNCTIONS = frozenset(
    ("rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark", "var")
)
Shade = tuple[Colour, float]
"""A colour and how opaque it is, from 0 to 1."""


def px(value: str | None, *, em: float = 16.0) -> float | None:
    """A length in pixels; None for what is none. em: pixels that `em` stands for."""
    if not value:
        return None
    value = value.strip()
    units = {**_PX_OF, "em": em, "ex": em / 2, "ch": em / 2}
    if match := LENGTH.fullmatch(value):
        return float(match[1]) * units[match[2]] if match[2] in units else None
    if not _FORMULA.fullmatch(value):
        return None
    formula = _IN_FORMULA.sub(lambda found: repr(float(found[1]) * units.get(found[2], 0.0)), value)
    try:
        return _counted(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None


def _counted(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_counted(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _counted(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_counted(left), _counted(right))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]):
            values = [_counted(each) for each in args]
            if name == "clamp" and len(values) == 3:
                return max(values[0], min(values[1], values[2]))
            return _FUNCTIONS[name](values)
    raise ValueError("not a formula")


def number(value: str | None) -> float | None:
    """A number or a percentage, as a number; None for what is neither."""
    if value and (match := LENGTH.fullmatch(value.strip())):
        return float(match[1]) / (100 if match[2] == "%" else 1) if match[2] in ("", "%") else None
    return px(value) if value and _FORMULA.fullmatch(value.strip()) else None


def is_colour(value: str) -> bool:
    """Whether a browser would take this for a colour."""
    if value in _INHERITED or value in ("initial", "transparent"):
        return True
    function = _FUNCTION.fullmatch(value)
    return function[1] in _COLOUR_FUNCTIONS if function else shade(value) is not None or value in _SYSTEM


def shade(said: str) -> Shade | None:
    """None for what is not understood. Of spaces that are not red, green and blue, the grey that is as bright."""
    if said == "transparent":
        return WHITE, 0.0
    if said in _SYSTEM:
        return _SYSTEM[said], 1.0
    if function := _FUNCTION.fullmatch(said):
        return _made(function[1], function[2])
    from PIL import ImageColor

    try:
        red, green, blue, *opacity = ImageColor.getrgb(said)
    except ValueError:
        return None
    return (red, green, blue), opacity[0] / 255 if opacity else 1.0


def _made(name: str, inside: str) -> Shade | None:
    if name == "light-dark":
        return shade(split(inside)[0])
    if name == "color-mix":
        mixed = [shade(part.split()[0]) for part in split(inside)[1:]]
        first, second = mixed if len(mixed) == 2 else (None, None)
        return over(first[0], second[0], 0.5) and (over(first[0], second[0], 0.5), 1.0) if first and second else None
    words = re.split(r"[\s,/]+", inside.strip())
    space = words.pop(0) if name == "color" else ""
    found = [LENGTH.fullmatch("0" if word == "none" else word) for word in words]
    if len(found) not in (3, 4) or not all(found):
        return None
    values = [(float(match[1]), match[2]) for match in found if match]
    opacity = _share(values[3]) if len(values) == 4 else 1.0
    (first_value, unit), second_value, third = values[:3]
    colour: Colour | None
    match name:
        case "rgb" | "rgba":
            colour = _whole(*(value * 2.55 if of == "%" else value for value, of in values[:3]))
        case "color":
            colour = _whole(*(255 * _share(each) for each in values[:3])) if space else None
        case "hsl" | "hsla":
            colour = _whole(
                *(
                    255 * part
                    for part in colorsys.hls_to_rgb(first_value % 360 / 360, third[0] / 100, second_value[0] / 100)
                )
            )
        case "hwb":
            white, black = second_value[0] / 100, third[0] / 100
            colour = _whole(
                *(
                    255 * (part * max(0.0, 1 - white - black) + white)
                    for part in colorsys.hsv_to_rgb(first_value % 360 / 360, 1, 1)
                )
            )
        case "lab" | "lch":
            colour = _grey(((first_value + 16) / 116) ** 3)
        case "oklab" | "oklch":
            colour = _grey((first_value / 100 if unit == "%" else first_value) ** 3)
        case _:
            return None
    return (colour, opacity) if colour else None


def _share(value: tuple[float, str]) -> float:
    return value[0] / 100 if value[1] == "%" else value[0]


def _whole(red: float, green: float, blue: float) -> Colour:
    def bounded(value: float) -> int:
        return round(min(255.0, max(0.0, value)))

    return bounded(red), bounded(green), bounded(blue)


def _grey(luminance: float) -> Colour:
    luminance = min(1.0, max(0.0, luminance))
    value = 255 * (12.92 * luminance if luminance <= 0.0031308 else 1.055 * luminance ** (1 / 2.4) - 0.055)
    return _whole(value, value, value)


def over(colour: Colour, background: Colour, opacity: float) -> Colour:
    """A colour that lets some of its background through."""
    return _whole(*(opacity * a + (1 - opacity) * b for a, b in zip(colour, background, strict=True)))


def split(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand outside of brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == separator and depth <= 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]
