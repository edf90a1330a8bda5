"""Format a value of a result for people: grouped numbers, plain years, and the layer's names of values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import repeat
from typing import Any

from copilot_site.lib.text.one_line import fold_to_one_line

_OF_YEARS = ("year", "period", "extract", "date_part")  # the last two are PostgreSQL's names for `extract(year …)`
Words = Mapping[str, str]


def is_number(value: object) -> bool:
    """Return whether a value is a number, not a boolean."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def is_year(column: str, value: Any) -> bool:
    """Return whether a number is a year by its column's name: it is not grouped, and names a time."""
    name = column.lower()
    is_named_so = name in _OF_YEARS or (name.endswith(("_year", " year", "年份")) and not name.endswith("per_year"))
    return is_named_so and is_number(value) and 1000 <= value < 10_000 and value == int(value)


def format_value(value: Any) -> str:
    """Return a value for people: numbers grouped, times without fractions of seconds."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if isinstance(value, Decimal | float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    return value.isoformat(timespec="minutes") if isinstance(value, datetime) else fold_to_one_line(str(value))


def format_cell(column: str, value: Any, words: Words) -> str:
    """Return a value of a column for people. words: its values' names, where they differ."""
    if is_year(column, value):
        return str(int(value))
    return fold_to_one_line(words.get(value, value)) if isinstance(value, str) else format_value(value)


def format_row(columns: Sequence[str], row: Sequence[Any], words: Sequence[Words] = ()) -> list[str]:
    """Return the values of a row for people. words: by column; empty for no other names."""
    known = words or tuple(repeat({}, len(columns)))
    return [format_cell(*cell) for cell in zip(columns, row, known, strict=True)]
