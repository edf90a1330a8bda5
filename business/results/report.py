"""A result as people and models read it: the value first, then the table, then what it means."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import product, repeat
from typing import Any

from business.logical_query.wording import Meaning
from business.postgres_session import Rows
from business.results.cells import Words, told_row
from business.run_query import QueryResult
from business.semantic_layer.model import SemanticLayer

OF_COLUMN = ("sum", "avg", "min", "max")  # what is made of a column and keeps its unit
TABLE_ROWS = 20  # in the text of an answer; the page shows all that came


def report(
    result: QueryResult, meaning: Meaning | None, language: str, *, said: str, words: Sequence[Words] = ()
) -> str:
    """Sentences and a Markdown table. meaning: None where a model wrote the statement. said: the headline. words: as `told_row`."""
    rows = result.answer.rows or Rows((), (), is_truncated=False, elapsed_ms=0)
    is_chinese = language.startswith("zh")
    parts = [said]
    if len(rows.rows) > 1 or len(rows.columns) > 1:
        parts.append(markdown_table(rows.columns, rows.rows[:TABLE_ROWS], words))
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


def words_of_columns(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], layer: SemanticLayer, language: str
) -> tuple[dict[str, str], ...]:
    """For each column of a result what its values are called in a language, where the layer calls them something else.

    A value that means several things under one name of a column stays as it is.
    """
    said: dict[str, dict[str, set[str]]] = {}
    for model in layer.semantic_models:
        for dimension in model.dimensions:
            names = {dimension.name, dimension.expr.strip('"'), *([model.name] if dimension.is_name else [])}
            for name, value in product(names, dimension.values):
                said.setdefault(name, {}).setdefault(value.value, set()).add(value.said(language))
    found = []
    for name, column in zip(columns, zip(*rows, strict=True) if rows else repeat((), len(columns)), strict=True):
        called = said.get(name, {})
        there = {value for value in column if isinstance(value, str) and len(called.get(value, ())) == 1}
        words = {value: next(iter(called[value])) for value in sorted(there)}
        found.append({value: word for value, word in words.items() if word != value})
    return tuple(found)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], words: Sequence[Words] = ()) -> str:
    """A table whose cells cannot break out of it. words: as `told_row` takes them."""
    lines = [" | ".join(map(_cell, columns)), " | ".join("---" for _ in columns)]
    lines += [" | ".join(map(_cell, told_row(columns, row, words))) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


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
