"""A safe calculator over decimals: numbers, percentages, units and dates. No other code is run.

The text is parsed with Python's own grammar, and a walk over the few node types that are arithmetic computes the value.
Length, nodes, digits, exponents and processor time are all bounded.
"""

import ast
import operator
import re
import time
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, DecimalException, localcontext
from typing import Final

from agent.arithmetic.units import CHINESE, NAMES, TEMPERATURES, Quantity, convert_temperature, make_unit_quantity
from knowledge.text.chinese_script import simplify_chinese
from knowledge.text.normalise import normalise_text

LENGTH, NODES, EXPONENT, CPU_S = 500, 200, 1_000, 0.1
PRECISION = Context(prec=34, Emax=999, Emin=-999)

Value = Decimal | Quantity | date


class Unworkable(Exception):
    """The text is not arithmetic, or too long; the message tells the caller how to correct it."""


def evaluate_expression(text: str) -> Value:
    """Return the value of an expression. Raises Unworkable."""
    expression, target = _split_target_unit(_normalise_expression(text))
    if not expression or len(expression) > LENGTH:
        raise Unworkable(f"An expression has 1 to {LENGTH} characters.")
    if target in TEMPERATURES:
        return _evaluate_temperature(expression, target)
    try:
        source = _convert_to_python(expression)
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unworkable("This is no arithmetic. Write it like (3 + 4) * 2, 15% of 2300 or 5 km to m.") from None
    with localcontext(PRECISION):
        try:
            value = _Walk(source).of(tree)
        except (DecimalException, OverflowError, ZeroDivisionError, ValueError) as error:
            raise Unworkable(_explain_error(error)) from None
    return _convert_to_unit(value, target) if target else value


def format_value(value: Value) -> str:
    """Return a value for display: no trailing zeros, at most 15 significant digits with decimals, with its unit."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Quantity):
        return f"{_format_decimal(value.within(value.unit))} {value.unit}"
    return _format_decimal(value)


def _format_decimal(number: Decimal) -> str:
    if number == number.to_integral_value() and abs(number) < Decimal(10) ** PRECISION.prec:
        return f"{number.to_integral_value():f}"
    rounded = Context(prec=15).plus(number).normalize()
    exponent = rounded.as_tuple().exponent
    small = isinstance(exponent, int) and -30 <= exponent <= 30
    return f"{rounded:f}" if small else str(rounded)


_SIGNS = str.maketrans(
    {"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "，": ",", "。": ".", "^": "**", "?": " ", "=": " "}
)
_ASKED = re.compile(
    r"^\s*(?:please\s+)?(?:calculate|compute|what\s+is|what's|how\s+much\s+is|convert|请?计算(?:一下)?|请问|算一下|算)[\s:]*"
    r"|(?:等于|是)?多少\s*$|等于几\s*$",
    re.IGNORECASE,
)
_TARGET = re.compile(r"^(.*\S)\s*(?:\b(?:to|in|as)\b|→|->|换算成|转换成|折合|转成)\s*([A-Za-z°]+[23]?|[一-鿿]+)\s*$")
_DATE = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b|(\d{4})年(\d{1,2})月(\d{1,2})[日号]")
_THOUSANDS = re.compile(r"(?<![\w.(])\d{1,3}(?:,\d{3})+(?![\d])")
_OF = re.compile(r"%\s*(?:of|的)", re.IGNORECASE)
_OF_CHINESE = re.compile(r"(\d[\d.]*)\s*的\s*(\d[\d.]*)\s*%")
_PERCENT = re.compile(r"(\d[\d.]*)\s*%(?!\s*[\w(.])")
_UNIT_NAMES = "|".join(sorted(map(re.escape, [*NAMES, *CHINESE]), key=len, reverse=True))
_MEASURED = re.compile(rf"(\d[\d.]*|\))\s*({_UNIT_NAMES})(?![A-Za-z0-9_])")


def _normalise_expression(text: str) -> str:
    plain = simplify_chinese(unicodedata.normalize("NFKC", normalise_text(text))).translate(_SIGNS)
    before = None
    while before != plain:
        before, plain = plain, _ASKED.sub("", plain).strip()
    return plain


def _split_target_unit(text: str) -> tuple[str, str]:
    """Split the text into the expression and its target unit, "" for none. Raises Unworkable for an unknown unit."""
    found = _TARGET.match(text)
    if not found:
        return text, ""
    target = CHINESE.get(found[2], found[2])
    if target not in NAMES and target not in TEMPERATURES:
        raise Unworkable(f"There is no unit called {found[2]!r}. Known are: {', '.join(sorted(NAMES))}.")
    return found[1], target


def _convert_to_python(text: str) -> str:
    text = _DATE.sub(lambda m: "date({}, {}, {})".format(*(int(part) for part in m.groups() if part)), text)
    text = _THOUSANDS.sub(lambda m: m[0].replace(",", ""), text)
    text = _OF_CHINESE.sub(r"\1*\2%", text)
    text = _OF.sub("% *", text)
    text = re.sub(r"(\d[\d.]*)\s*%\s*\*", r"(\1/100) *", text)
    text = _PERCENT.sub(r"(\1/100)", text)
    return _MEASURED.sub(_multiply_by_unit, text).strip()


def _multiply_by_unit(found: re.Match[str]) -> str:
    unit = CHINESE.get(found[2], found[2])
    return f")*{unit}" if found[1] == ")" else f"({found[1]}*{unit})"


def _evaluate_temperature(text: str, target: str) -> Decimal:
    found = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*(°?[CFK]|celsius|fahrenheit|kelvin)", text)
    if not found:
        raise Unworkable("Write a temperature like 36.6 C to F.")
    with localcontext(PRECISION):
        return convert_temperature(Decimal(found[1]), found[2], target)


def _convert_to_unit(value: Value, target: str) -> Quantity:
    dimension = NAMES[target][0]
    if not isinstance(value, Quantity):
        raise Unworkable(f"Only a quantity can be shown in {target}: say the unit of the number, too.")
    if value.dimension != dimension:
        raise Unworkable(f"{value.unit} measures {value.dimension} and {target} measures {dimension}.")
    return Quantity(value.value, dimension, target)


def _floor_divide(left: Decimal, right: Decimal) -> Decimal:
    """Return the floor of a number, as models and people mean by //; Decimal's own // truncates towards zero."""
    whole = left // right
    return whole - 1 if left % right and (left < 0) != (right < 0) else whole


_OPERATORS: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
_NUMBERS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": _floor_divide, "%": lambda left, right: left - right * _floor_divide(left, right),
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., Decimal]]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sum": lambda *values: sum(values, Decimal(0)),
    "avg": lambda *values: sum(values, Decimal(0)) / len(values),
    "sqrt": Decimal.sqrt,
    "ln": Decimal.ln,
    "log10": Decimal.log10,
    "floor": lambda value: value.to_integral_value(ROUND_FLOOR),
    "ceil": lambda value: value.to_integral_value(ROUND_CEILING),
    "round": lambda value, digits=Decimal(0): value.quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP),
}


class _Walk:
    """One evaluation; counts its nodes and its time."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes = 0
        self._end = time.thread_time() + CPU_S

    def of(self, node: ast.expr) -> Value:
        self._nodes += 1
        if self._nodes > NODES or time.thread_time() > self._end:
            raise Unworkable("This is too much for one calculation; split it up.")
        match node:
            case ast.Constant(value=bool() | str() | bytes() | complex() | None):
                raise Unworkable("Only numbers, units and dates can be calculated with.")
            case ast.Constant(value=int() | float()):
                return +Decimal(ast.get_source_segment(self._source, node) or "")
            case ast.Name(id=name):
                return self._resolve_name(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
                return self._apply_sign(self.of(inner), negative=isinstance(sign, ast.USub))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return apply_operator(self.of(left), _OPERATORS[type(op)], self.of(right))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call_function(name, [self.of(argument) for argument in args])
        raise Unworkable("Only + - * / // % ** ( ), functions like round(x, 2), units and dates are known.")

    @staticmethod
    def _resolve_name(name: str) -> Value:
        if name == "pi":
            return Decimal("3.141592653589793238462643383279503")
        if name in NAMES:
            return make_unit_quantity(name)
        raise Unworkable(f"{name!r} is neither a unit nor a function.")

    @staticmethod
    def _apply_sign(value: Value, *, negative: bool) -> Value:
        if isinstance(value, date):
            raise Unworkable("A date has no sign.")
        if isinstance(value, Quantity):
            return Quantity(-value.value if negative else value.value, value.dimension, value.unit)
        return -value if negative else value

    @staticmethod
    def _call_function(name: str, values: list[Value]) -> Value:
        if name == "today" and not values:
            return date.today()  # noqa: DTZ011 - the person's calendar day, in the zone that the site is set to
        if name == "workdays" and len(values) == 2:
            return _count_workdays(*values)
        numbers = [value for value in values if isinstance(value, Decimal)]
        if not numbers or len(numbers) != len(values):
            raise Unworkable(f"{name}() takes numbers.")
        if name == "date" and len(numbers) == 3:
            return date(*(int(number) for number in numbers))
        if name not in _FUNCTIONS:
            raise Unworkable(f"There is no function {name}(). Known are: {', '.join(_FUNCTIONS)}, today, workdays.")
        try:
            return _FUNCTIONS[name](*numbers)
        except TypeError:
            raise Unworkable(f"{name}() does not take {len(numbers)} numbers.") from None


def apply_operator(left: Value, sign: str, right: Value) -> Value:
    """Apply an operator to two values. Raises Unworkable where they do not go together."""
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return _raise_to_power(left, right) if sign == "**" else _NUMBERS[sign](left, right)
    if isinstance(left, date):
        return _add_to_date(left, sign, right)
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        if left.dimension != right.dimension:
            raise Unworkable(f"{left.unit} measures {left.dimension} and {right.unit} measures {right.dimension}.")
        if sign in "+-":
            return Quantity(_NUMBERS[sign](left.value, right.value), left.dimension, left.unit)
        if sign == "/":
            return left.value / right.value
    if isinstance(left, Quantity) and isinstance(right, Decimal) and sign in {"*", "/"}:
        return Quantity(_NUMBERS[sign](left.value, right), left.dimension, left.unit)
    if isinstance(left, Decimal) and isinstance(right, Quantity) and sign == "*":
        return Quantity(left * right.value, right.dimension, right.unit)
    raise Unworkable("These do not go together: add like to like, multiply by plain numbers.")


def _raise_to_power(base: Decimal, exponent: Decimal) -> Decimal:
    if abs(exponent) > EXPONENT:
        raise Unworkable(f"Exponents go up to {EXPONENT}.")
    if not base and exponent < 0:
        raise ZeroDivisionError
    return base**exponent


def _add_to_date(day: date, sign: str, other: Value) -> Value:
    if isinstance(other, date) and sign == "-":
        return Quantity(Decimal((day - other).days) * 86_400, "time", "days")
    if isinstance(other, Quantity) and other.dimension == "time" and sign in "+-":
        step = timedelta(days=int(other.value // 86_400))
        return day + step if sign == "+" else day - step
    raise Unworkable("To a date one adds days or weeks; a date less a date gives days.")


def _count_workdays(first: Value, last: Value) -> Quantity:
    """Count the days from Monday to Friday between two dates, both included; holidays are not known."""
    if not isinstance(first, date) or not isinstance(last, date):
        raise Unworkable("workdays() takes two dates.")
    if abs((last - first).days) > 40_000:
        raise Unworkable("workdays() counts up to a hundred years.")
    low, high = min(first, last), max(first, last)
    count = sum((low + timedelta(days=step)).weekday() < 5 for step in range((high - low).days + 1))
    return Quantity(Decimal(count) * 86_400, "time", "days")


def _explain_error(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError):
        return "Division by zero has no value."
    if isinstance(error, ValueError):
        return "There is no such date."
    return "The value is too large, too small, or not defined."
