"""Tables of every format as one shape: rows of cells, written as a Markdown pipe table."""

from collections.abc import Iterator, Sequence
from typing import Any

from knowledge.text.normalise import cleaned

_MAX_COLUMN_SPAN = 100
_MAX_ROW_SPAN = 1000
_INLINE = ("a", "abbr", "b", "code", "em", "font", "i", "mark", "s", "small", "span", "strong", "u")


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the header; blank rows and blank columns are left out; "" when every cell is blank.

    Newlines in cells become spaces, pipes are escaped.
    """
    cells = [[" ".join(cleaned(cell).replace("|", "\\|").split()) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    used = [i for i in range(width) if any(i < len(row) and row[i] for row in cells)]
    lines = ["| " + " | ".join(row[i] if i < len(row) else "" for i in used) + " |" for row in cells]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in used) + " |", *lines[1:]])


def join_inline(table: Any) -> None:
    """Let the words of a table's cells stand without the marks inside them: in <b>1</b>0 there is one number."""
    for element in list(table.iter(*_INLINE)):
        element.drop_tag()


def html_rows(table: Any) -> list[list[str]]:
    """Cells of an lxml `<table>` element; a cell that spans rows or columns is repeated in each of them."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column → rows still to fill, text
    for tr in _own_rows(table):
        row: list[str] = []
        for cell in tr.iterchildren("td", "th"):
            _fill(row, hanging)
            text = " ".join(cell.itertext())
            rowspan = _span(cell, "rowspan", _MAX_ROW_SPAN)
            for _ in range(_span(cell, "colspan", _MAX_COLUMN_SPAN)):
                if rowspan > 1:
                    hanging[len(row)] = (rowspan - 1, text)
                row.append(text)
        _fill(row, hanging)
        rows.append(row)
    return rows


def _own_rows(table: Any) -> Iterator[Any]:
    """The rows of a table without those of tables inside its cells."""
    for child in table.iterchildren("tr", "thead", "tbody", "tfoot"):
        if child.tag == "tr":
            yield child
        else:
            yield from child.iterchildren("tr")


def _fill(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Put the cells that hang down from rows above where the row has come to."""
    while (column := len(row)) in hanging:
        left, text = hanging.pop(column)
        if left > 1:
            hanging[column] = (left - 1, text)
        row.append(text)


def _span(cell: Any, name: str, limit: int) -> int:
    value = cell.get(name, "1").strip()
    return min(max(1, int(value)), limit) if value.isdecimal() and len(value) < 9 else 1
