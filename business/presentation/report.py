"""Write a result as text, for people and models, and as the rows of a file."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import get_language

from business.connections.postgres_session import FetchedRows
from business.logical_query.wording import QueryWording
from business.presentation.headline import format_reach, format_truncation_note
from business.results.cells import Words, format_cell, format_row, is_number
from business.results.shown_query import QueryShown
from business.statements.run_query import QueryResult

TABLE_ROWS = 20  # that a model reads; the page shows all that came
FIRST_ROWS = 10  # in an answer as text, for programs and chat platforms


def build_report(
    result: QueryResult, meaning: QueryWording, language: str, *, text: str, words: Sequence[Words] = ()
) -> str:
    """Return sentences and a Markdown table. text: headline and note. words: as `format_row`."""
    rows = result.answer.rows or FetchedRows((), (), is_truncated=False, elapsed_ms=0)
    is_chinese = language.startswith("zh")
    parts = ["\n".join(filter(None, [text, _format_fact(rows, meaning, is_chinese=is_chinese)]))]
    if len(rows.rows) > 1 or len(rows.columns) > 1:
        parts.append(format_markdown_table(rows.columns, rows.rows[:TABLE_ROWS], words))
    parts += [_format_line("条件" if is_chinese else "Conditions", meaning.conditions, is_chinese=is_chinese)]
    parts += [_format_line("口径" if is_chinese else "Definitions", meaning.definitions, is_chinese=is_chinese)]
    return "\n\n".join(filter(None, parts))


def format_first_rows(result: QueryShown, number: int, *, is_chinese: bool) -> str:
    """Return the first rows that a result's sentence does not list, as a Markdown table; "" where it says all.

    number: of the citation that leads to the rest.
    """
    table, meaning = result.table, result.meaning
    is_listed = meaning.value or meaning.headline != (meaning.title or meaning.headline)
    if is_listed or not table.rows or (len(table.rows), len(table.columns)) == (1, 1):
        return ""
    shown = format_markdown_table(table.columns, table.rows[:FIRST_ROWS], table.words, labels=table.labels)
    total = table.total or len(table.rows)
    if total <= FIRST_ROWS:
        return shown
    rest = (
        "此处显示 {1:,} 行中的 {0} 行，更多见 [{2}]。"
        if is_chinese
        else "Shown here: {} of {:,} rows; more under [{}]."
    )
    return f"{shown}\n\n{rest.format(FIRST_ROWS, total, number)}"


def _format_fact(rows: FetchedRows, meaning: QueryWording, *, is_chinese: bool) -> str:
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
    return f"{'数值：' if is_chinese else 'Value: '}{format_cell(rows.columns[0], value, {})}{unit}{figure}"


def format_markdown_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], words: Sequence[Words] = (), labels: Sequence[str] = ()
) -> str:
    """Return a table whose cells cannot break out of it. words: as `format_row` takes them. labels: of the columns."""
    lines = [" | ".join(map(_escape_cell, labels or columns)), " | ".join("---" for _ in columns)]
    lines += [" | ".join(map(_escape_cell, format_row(columns, row, words))) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def convert_to_json_value(value: Any) -> Any:
    """Return a value as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal | float):
        return float(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _escape_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _format_line(title: str, parts: Sequence[str], *, is_chinese: bool) -> str:
    colon, between = ("：", "；") if is_chinese else (": ", "; ")
    return f"{title}{colon}{between.join(parts)}" if parts else ""


def build_export_rows(result: QueryShown) -> list[tuple[object, ...]]:
    """Return column names and rows, then after an empty row their total and org units, in the page's language."""
    table, is_chinese = result.table, (get_language() or "en").startswith("zh")
    cut = format_truncation_note(len(table.rows), table.total, is_chinese=is_chinese) if table.total is not None else ""
    notes = [note for note in (cut, format_reach(result.reach, is_chinese=is_chinese)) if note]
    below: list[tuple[object, ...]] = [(), *((note,) for note in notes)] if notes else []
    return [table.columns, *table.rows, *below]


def build_export_name(source: str, result: QueryShown) -> str:
    """Return the name of its file; source: the name of the data source."""
    table = result.table
    part = f"-first-{len(table.rows)}-of-{table.total}" if table.total is not None else ""
    return f"{source}-{result.query_id}{part}.csv"
