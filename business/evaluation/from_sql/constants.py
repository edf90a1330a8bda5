"""Constants of a statement: texts, numbers, and days that are counted from others."""

import re
from contextlib import suppress
from datetime import date, timedelta

from sqlglot import exp

from business.evaluation.from_sql.sources import NotConverted
from business.logical_query.comparisons import day_of
from business.logical_query.errors import Inexpressible
from business.logical_query.query import Period
from business.logical_query.times import period_days

_UNITS = {"day": 1, "week": 7, "month": 1, "quarter": 3, "year": 12}
_AMOUNT = re.compile(r"(\d+)\s*([a-z]*)")


def constant(node: exp.Expr, today: date) -> str | int | float | bool:
    """The value of an expression without columns. Raises NotConverted."""
    node = node.unnest()
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg):
        value = constant(node.this, today)
        if isinstance(value, int | float):
            return -value
        raise _unknown(node)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else number(node)
    if isinstance(node, exp.Cast) and not node.is_type("date", "timestamp", "timestamptz"):
        return constant(node.this, today)
    return day(node, today).isoformat()


def number(node: exp.Expr) -> int | float:
    text = str(node.this)
    return int(text) if text.isdigit() else float(text)


def day(node: exp.Expr, today: date) -> date:
    """The day that an expression is. Raises NotConverted, for a time of the day, too."""
    node = node.unnest()
    match node:
        case exp.CurrentDate():
            return today
        case exp.Cast():
            return day(node.this, today)
        case exp.Literal() if node.is_string:
            with suppress(Inexpressible):
                return day_of(str(node.this))
        case exp.Add() | exp.Sub():
            return _moved(day(node.this, today), node.expression, -1 if isinstance(node, exp.Sub) else 1)
        case exp.TimestampTrunc() | exp.DateTrunc():
            unit = str(node.args["unit"].name).lower()
            if unit in _UNITS:
                return period_days(Period.model_validate({"unit": unit}), day(node.this, today))[0]
    raise _unknown(node)


def _moved(start: date, by: exp.Expr, sign: int) -> date:
    if isinstance(by, exp.Literal) and not by.is_string:
        return start + timedelta(days=sign * int(number(by)))
    if not isinstance(by, exp.Interval):
        raise _unknown(by)
    found = _AMOUNT.fullmatch(f"{by.this.name} {by.args['unit'].name if by.args.get('unit') else ''}".strip().lower())
    unit = found[2].rstrip("s") if found else ""
    if found is None or unit not in _UNITS:
        raise _unknown(by)
    count = sign * int(found[1]) * _UNITS[unit]
    if unit in ("day", "week"):
        return start + timedelta(days=count)
    month = start.year * 12 + start.month - 1 + count
    try:
        return date(month // 12, month % 12 + 1, start.day)
    except ValueError:  # a shorter month
        raise _unknown(by) from None


def _unknown(node: exp.Expr) -> NotConverted:
    return NotConverted(f"{node.sql('postgres')} is no constant")
