"""Tables for spreadsheets: CSV that is sent while it is made, and whose cells no spreadsheet takes for formulas."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from copilot_site.lib.storage.files import SentInParts

# Match the start of a formula: in a cell, and after what another spreadsheet may take for the end of one. Excel separates by semicolons in
# German and Dutch, and then reads the quotes of later cells as text: quotes alone end nothing. Full-width signs too: spreadsheets with an
# East Asian input method take them for their ASCII forms.
_START = r"""(?<![^;\t\r\n])%s(?=[ '"]*[=+\-@＝＋－＠])"""
_FORMULA, _ESCAPED = re.compile(_START % ""), re.compile(_START % "'")
ROWS_A_PART = 200  # sent together: a hop between threads for each part


class _Echo:
    """A file that returns what is written to it."""

    def write(self, text: str) -> str:
        return text


def escape_cell(value: object) -> str:
    """Return the value as text; an apostrophe precedes each part that a spreadsheet would calculate. Numbers stay as they are."""
    if isinstance(value, int | float):
        return str(value)
    text = "" if value is None else str(value)
    return _FORMULA.sub("'", text)


def unescape_cell(text: str) -> str:
    """Undo `escape_cell`, for a file of ours that is read again."""
    return _ESCAPED.sub("", text)


def write_csv_parts(rows: Iterable[Sequence[object]], *, bom: bool = True) -> Iterator[str]:
    """Yield the rows as CSV in parts of ROWS_A_PART lines; bom: the first begins with Excel's mark of UTF-8."""
    writer = csv.writer(_Echo())
    lines = ["\ufeff"] if bom else []
    for row in rows:
        lines.append(cast("str", writer.writerow([escape_cell(value) for value in row])))
        if len(lines) >= ROWS_A_PART:
            yield "".join(lines)
            lines = []
    yield "".join(lines)


class CsvDownload(SentInParts):
    """A CSV file that is made while it is sent."""

    def __init__(self, rows: Iterable[Sequence[object]], *, filename: str) -> None:
        super().__init__(
            write_csv_parts(rows),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"},
        )
