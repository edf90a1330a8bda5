"""Write a result for people and models: the value first, then the table, then its meaning."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from business.logical_query.wording import Meaning
from business.postgres_session import Rows
from business.results.cells import Words, is_number, told, told_row
from business.run_query import QueryResult

TABLE_ROWS = 20  # in the text of an answer; the page shows all that came


def report(result: QueryResult, meaning: Meaning, language: str, *, said: str, words: Sequence[Words] = ()) -> str:
    """Return sentences and a Markdown table. said: headline and note. words: as `told_row`."""
    rows = result.answer.rows or Rows((), (), is_truncated=False, elapsed_ms=0)
    is_chinese = language.startswith("zh")
    parts = ["\n".join(filter(None, [said, _fact(rows, meaning, is_chinese=is_chinese)]))]
    if len(rows.rows) > 1 or len(rows.columns) > 1:
        parts.append(markdown_table(rows.columns, rows.rows[:TABLE_ROWS], words))
    parts += [_line("条件" if is_chinese else "Conditions", meaning.conditions, is_chinese=is_chinese)]
    parts += [_line("口径" if is_chinese else "Definitions", meaning.definitions, is_chinese=is_chinese)]
    return "\n\n".join(filter(None, parts))


def _fact(rows: Rows, meaning: Meaning, *, is_chinese: bool) -> str:
    """Return a single value, or its absence, in the form that `agent.attribution.tables` reads; "" for tables."""
    figure = (f"（{meaning.figure}）" if is_chinese else f" ({meaning.figure})") if meaning.figure else ""
    listed = ("；" if is_chinese else "; ").join(meaning.conditions)
    listed = (f"（{listed}）" if is_chinese else f" ({listed})") if listed else ""
    if not rows.rows:
        return f"没有符合条件的数据{listed}。" if is_chinese else f"No row fits{listed}."
    if (len(rows.rows), len(rows.columns)) != (1, 1):
        return ""
    value = rows.rows[0][0]
    if value is None:
        return f"没有数值{figure}{listed}。" if is_chinese else f"No value{figure}{listed}."
    unit = f" {meaning.unit}" if meaning.unit and is_number(value) else ""
    return f"{'数值：' if is_chinese else 'Value: '}{told(rows.columns[0], value, {})}{unit}{figure}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], words: Sequence[Words] = ()) -> str:
    """Return a table whose cells cannot break out of it. words: as `told_row` takes them."""
    lines = [" | ".join(map(_cell, columns)), " | ".join("---" for _ in columns)]
    lines += [" | ".join(map(_cell, told_row(columns, row, words))) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def plain(value: Any) -> Any:
    """Return a value as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal | float):
        return float(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _line(title: str, parts: Sequence[str], *, is_chinese: bool) -> str:
    colon, between = ("：", "；") if is_chinese else (": ", "; ")
    return f"{title}{colon}{between.join(parts)}" if parts else ""
