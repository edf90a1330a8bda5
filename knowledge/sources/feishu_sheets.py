"""A spreadsheet of Feishu or Lark as one document: the sheets that people see, each with its title and its values as a table.

open.feishu.cn/document: sheets/v3 spreadsheet-sheet/query, sheets/v2 values of a range (at most 10 MB an answer).
"""

from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _

from knowledge.sources.answers import dug, listed
from knowledge.sources.base import Unreadable
from knowledge.sources.feishu_api import Feishu

ROWS = 2_000  # of one answer
MAX_CELLS = 1_000_000  # of a spreadsheet, empty ones included


def read_spreadsheet(api: Feishu, token: str, *, title: str) -> str:
    """Return the body of an HTML document. Raises Refused, Passing, Unreadable."""
    path = f"spreadsheets/{quote(token, safe='')}"
    sheets = [item for item in listed(api.ask(f"sheets/v3/{path}/sheets/query"), "sheets") if _is_seen(item)]
    if sum(_size(item)[0] * _size(item)[1] for item in sheets) > MAX_CELLS:
        raise Unreadable(_("“%(name)s” has more than %(most)d cells.") % {"name": title, "most": MAX_CELLS})
    parts = [f"<h1>{escape(title)}</h1>"]
    for sheet in sorted(sheets, key=lambda item: int(item.get("index") or 0)):
        parts.append(f"<h2>{escape(str(sheet.get('title') or ''))}</h2>")
        parts.append(_table([[_text(value) for value in row] for row in _rows(api, path, sheet)]))
    return "".join(parts)


def _is_seen(sheet: dict[str, Any]) -> bool:
    """Tell whether it is a visible sheet of cells (others hold a Base)."""
    return sheet.get("resource_type", "sheet") == "sheet" and not sheet.get("hidden")


def _size(sheet: dict[str, Any]) -> tuple[int, int]:
    rows, columns = (dug(sheet, "grid_properties", name) for name in ("row_count", "column_count"))
    return (rows if isinstance(rows, int) else 0), (columns if isinstance(columns, int) else 0)


def _rows(api: Feishu, path: str, sheet: dict[str, Any]) -> Iterator[list[Any]]:
    rows, columns = _size(sheet)
    options = {"valueRenderOption": "ToString", "dateTimeRenderOption": "FormattedString"}
    for start in range(1, rows + 1 if columns else 1, ROWS):
        cells = f"{sheet.get('sheet_id')}!A{start}:{_letters(columns)}{min(start + ROWS - 1, rows)}"
        reply = api.ask(f"sheets/v2/{path}/values/{quote(cells, safe='')}", **options)
        values = dug(reply, "valueRange", "values")
        yield from (row for row in values if isinstance(row, list)) if isinstance(values, list) else ()


def _letters(column: int) -> str:
    """Return the name of a column: 1 is A, 27 is AA."""
    before, last = divmod(column - 1, 26)
    return (_letters(before) if before else "") + chr(ord("A") + last)


def _text(value: Any) -> str:
    """Return the text of a cell, which may hold parts: links, mentions, choices."""
    if isinstance(value, list):
        return "".join(map(_text, value))
    if isinstance(value, dict):
        chosen = value.get("values")
        return (
            ", ".join(map(_text, chosen)) if isinstance(chosen, list) else _text(value.get("text") or value.get("link"))
        )
    return "" if value is None else str(value).strip()


def _table(rows: list[list[str]]) -> str:
    """Return a table whose first row is the header, without empty rows and columns at its end."""
    width = max(
        (len(row) - next((at for at, text in enumerate(reversed(row)) if text), len(row)) for row in rows), default=0
    )
    seen = [row[:width] for row in rows if any(row)]
    lines = (
        "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row)
        for row, tag in zip(seen, ["th", *["td"] * len(seen)], strict=False)
    )
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if seen else ""
