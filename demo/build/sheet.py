"""Writes a source as XLSX: every level-2 heading is a sheet, its table starts in A1, its notes stand below."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from demo.build.archive import write_archive
from demo.build.source import Heading, Items, Paragraph, SourceFile, SourceTable

NUMBER = re.compile(r"-?\d{1,3}(,\d{3})*(\.\d+)?|-?\d+(\.\d+)?")
WIDEST = 48  # characters; longer text wraps


def write_xlsx(source: SourceFile, target: Path) -> None:
    """Write `source` to `target`. Raises ValueError when something stands before the first sheet's heading."""
    workbook = Workbook()
    workbook.remove(workbook.active)
    workbook.properties.title = source.properties.title
    workbook.properties.creator = source.properties.author
    for block in source.blocks:
        if isinstance(block, Heading):
            workbook.create_sheet(block.text)
            continue
        if not workbook.worksheets:
            raise ValueError(f"{target.name}: a workbook starts with a level-2 heading that names its first sheet")
        sheet = workbook.worksheets[-1]
        match block:
            case SourceTable(rows=rows):
                _add_table(sheet, rows)
            case Paragraph(text=text):
                _add_notes(sheet, (text,))
            case Items(texts=texts):
                _add_notes(sheet, texts)
    built = BytesIO()
    workbook.save(built)
    write_archive(built, source.properties, target)


def _add_table(sheet: Any, rows: tuple[tuple[str, ...], ...]) -> None:
    for row in rows:
        sheet.append([_parse_cell_value(text) for text in row])
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DCEBE9")
    for column in range(1, len(rows[0]) + 1):
        for place, row in enumerate(rows[1:], start=2):
            cell = sheet.cell(place, column)
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.number_format = _choose_number_format(row[column - 1])
        width = max(sum(1 if character.isascii() else 2 for character in row[column - 1]) for row in rows)
        sheet.column_dimensions[get_column_letter(column)].width = min(width + 3, WIDEST)
    sheet.freeze_panes = "A2"


def _choose_number_format(text: str) -> str:
    """Return the format that shows a cell as its source has it: a year has no thousands."""
    if not NUMBER.fullmatch(text):
        return "@"
    return ("#,##0" if "," in text else "0") + (".##" if "." in text else "")


def _add_notes(sheet: Any, texts: tuple[str, ...]) -> None:
    sheet.append([])
    for text in texts:
        sheet.append([text])


def _parse_cell_value(text: str) -> str | int | float:
    """Return a number if the cell is one, so that the sheet calculates; everything else stays text."""
    if not NUMBER.fullmatch(text):
        return text
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)
