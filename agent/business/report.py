"""A result as people and models read it: the value first, then the table, then what it means."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from agent.business.ask.describe import Meaning
from agent.business.layer.model import SemanticLayer
from agent.business.queries import QueryResult
from agent.business.session import Rows

OF_COLUMN = ("sum", "avg", "min", "max")  # what is made of a column and keeps its unit
TABLE_ROWS = 20  # in the text of an answer; the page shows all that came


def report(result: QueryResult, meaning: Meaning | None, language: str, *, said: str) -> str:
    """Sentences and a Markdown table. meaning: None where a model wrote the statement. said: the headline."""
    rows = result.answer.rows or Rows((), (), is_truncated=False, elapsed_ms=0)
    is_chinese = language.startswith("zh")
    parts = [said]
    if len(rows.rows) > 1 or len(rows.columns) > 1:
        parts.append(markdown_table(rows.columns, rows.rows[:TABLE_ROWS]))
    if meaning is not None:
        parts += [_line("条件" if is_chinese else "Conditions", meaning.conditions, is_chinese=is_chinese)]
        parts += [_line("口径" if is_chinese else "Definitions", meaning.definitions, is_chinese=is_chinese)]
    return "\n\n".join(filter(None, parts))


def units_of_columns(columns: Sequence[str], layer: SemanticLayer) -> tuple[str, ...]:
    """The unit of each column of a result as the layer names it; "" for none, and for a name that means several things."""
    said: dict[str, set[str]] = {}
    for model in layer.semantic_models:
        for measure in model.measures:
            said.setdefault(measure.name, set()).add(measure.unit)
        for dimension in model.dimensions:
            made = (f"{agg}_{dimension.name}"[:60] for agg in OF_COLUMN)
            for name in {dimension.name, dimension.expr.strip('"'), *made}:
                said.setdefault(name, set()).add(dimension.unit)
    return tuple(next(iter(said[name])) if len(said.get(name, ())) == 1 else "" for name in columns)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table whose cells cannot break out of it."""
    lines = [" | ".join(map(_cell, columns)), " | ".join("---" for _ in columns)]
    lines += [" | ".join(_cell(spoken(value)) for value in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def spoken(value: Any) -> str:
    """A value for people: numbers grouped, times without fractions of seconds."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if isinstance(value, Decimal | float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    return value.isoformat(timespec="minutes") if isinstance(value, datetime) else str(value)


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal | float):
        return float(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _line(title: str, parts: Sequence[str], *, is_chinese: bool) -> str:
    return (
        f"{title}{'：' if is_chinese else ': '}{'；'.join(parts) if is_chinese else '; '.join(parts)}" if parts else ""
    )
