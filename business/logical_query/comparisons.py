"""Comparisons of a column with values, as SQL."""

import re
from datetime import date, timedelta

from django.utils.translation import gettext as _

from business.guard.rewrite import quote_identifier, quote_literal
from business.logical_query.query import Filter, Inexpressible
from business.semantic_layer.model import Dimension

ORDERED = (">", ">=", "<", "<=")
_TEXT = {"contains": "%{}%", "not_contains": "%{}%", "starts_with": "{}%", "ends_with": "%{}"}
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T]00:00(?::00(?:\.0+)?)?)?")
_KEPT = {
    "day": (),
    "month": ("day", "week", "weekday", "hour"),
    "year": ("day", "week", "weekday", "hour", "month", "quarter"),
}


def build_comparison_sql(column: str, condition: Filter, *, is_number: bool = False, is_time: bool = False) -> str:
    """Return one comparison of a column with values."""
    op, values = condition.op, condition.values
    if op in ("is_null", "is_not_null"):
        return f"{column} IS {'NOT ' if op == 'is_not_null' else ''}NULL"
    if op in _TEXT:
        return _build_pattern_match(column, op, str(values[0]))
    if is_time:
        return _compare_by_days(column, condition)
    if op in ORDERED or is_number:
        sign = {"in": "=", "not_in": "<>", "!=": "<>"}.get(op, op)
        if len(values) > 1:
            listed = ", ".join(_format_operand(value, is_number=is_number) for value in values)
            return f"{column} {'NOT ' if op == 'not_in' else ''}IN ({listed})"
        return f"{column} {sign} {_format_operand(values[0], is_number=is_number)}"
    listed = ", ".join(dict.fromkeys(quote_literal(_format_plain_value(value)) for value in values))
    is_not = op in ("not_in", "!=")
    return f"({column}::text NOT IN ({listed}) OR {column} IS NULL)" if is_not else f"{column}::text IN ({listed})"


def _build_pattern_match(column: str, op: str, text: str) -> str:
    pattern = quote_literal(_TEXT[op].format(re.sub(r"([%_\\])", r"\\\1", text)))
    if op == "not_contains":
        return f"({column}::text NOT ILIKE {pattern} OR {column} IS NULL)"
    return f"{column}::text ILIKE {pattern}"


def _compare_by_days(column: str, condition: Filter) -> str:
    """Compare a time by whole days: until a day includes that day."""
    days = [parse_day(value) for value in condition.values]
    first, after = days[0], days[0] + timedelta(days=1)
    ordered = {">=": f">= '{first}'", "<": f"< '{first}'", ">": f">= '{after}'", "<=": f"< '{after}'"}
    if condition.op in ordered:
        return f"{column} {ordered[condition.op]}"
    on = " OR ".join(f"{column} >= '{day}' AND {column} < '{day + timedelta(days=1)}'" for day in days)
    return f"({on})" if condition.op in ("=", "in") else f"(NOT ({on}) OR {column} IS NULL)"


def parse_day(value: str | float | bool) -> date:
    """Return the day that a text names. Raises Inexpressible for anything else, also a time of day."""
    found = _DAY.fullmatch(str(value).strip())
    try:
        return date.fromisoformat(found[1] if found else "")
    except ValueError as error:
        raise Inexpressible(_("%(value)s is not a date.") % {"value": value}) from error


def _format_operand(value: str | float | bool, *, is_number: bool) -> str:
    return format_number_sql(value) if is_number else quote_literal(_format_plain_value(value))


def _format_plain_value(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def build_fixed_filter_sql(filters: dict[str, tuple[str, ...]], alias: str) -> str:
    """Return the conditions of a layer's own filters."""
    return " AND ".join(
        f"{alias}.{quote_identifier(column)}::text IN ({', '.join(map(quote_literal, values))})"
        for column, values in filters.items()
    )


def format_number_sql(value: str | float | bool) -> str:
    try:
        number = float(value)
    except ValueError as error:
        raise Inexpressible(_("%(value)s is not a number.") % {"value": value}) from error
    return str(int(number)) if number == int(number) else repr(number)


def require_supported_grain(time: Dimension, unit: str) -> None:
    """Raise Inexpressible for a grain finer than the time keeps: months have no days."""
    if unit in _KEPT[time.time_granularity]:
        raise Inexpressible(_("Of this time only the %(unit)s is kept.") % {"unit": time.time_granularity})


def find_coarsest_unit(start: date | None, end: date | None) -> str:
    """Return the coarsest calendar unit on whose boundaries the span begins and ends."""
    edges = [edge for edge in (start, end) if edge]
    if any(edge.day != 1 for edge in edges):
        return "day"
    return "month" if any(edge.month != 1 for edge in edges) else "year"
