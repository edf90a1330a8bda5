"""XLSX by calamine: a sheet is a heading and its tables, merged cells filled, titles above tables as text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from knowledge.parsers import detect
from knowledge.parsers.base import ParseFailed, Rejected, parsers
from knowledge.parsers.blocks import Block, ParsedDocument, block, hidden_block
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.number_formats import formatted, plain
from knowledge.parsers.precheck import check_ooxml, check_sheets
from knowledge.parsers.tables import pipe_table
from knowledge.parsers.xlsx_parts import SheetParts, sheet_parts

Rows = list[list[str]]
_CODE = re.compile(r"\(?0\d|\(?\d+[-) ]+\d+(?![\d/])")  # no amount: leading zeros, or digits in groups; 1 1/2 is one


class _Number(str):
    """What a cell shows of a number: €1,234.50 is one, and no word. exact: the number itself, but for codes (00042, 123-45-6789)."""

    exact: str

    def __new__(cls, shown: str, value: float) -> Self:
        number = super().__new__(cls, shown)
        number.exact = shown if _CODE.match(shown) else plain(value)
        return number


class XlsxParser:
    name = "xlsx"
    mime_types = ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",)
    extensions = (".xlsx",)
    preload = ("python_calamine",)
    is_heavy = False

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "xl/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.sheet_xml_bytes)
        check_sheets(path, limits)
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

        blocks: list[Block] = []
        try:
            with CalamineWorkbook.from_path(path) as workbook:
                parts = sheet_parts(path)
                for known in workbook.sheets_metadata:
                    found = _sheet(workbook.get_sheet_by_name(known.name), parts.get(known.name, SheetParts()))
                    is_seen = known.visible == SheetVisibleEnum.Visible
                    blocks += found if is_seen else (replace(each, hidden=HiddenReason.SHEET) for each in found)
        except PasswordError as error:
            raise Rejected("encrypted") from error
        except CalamineError as error:
            raise ParseFailed("damaged", format="XLSX") from error
        return ParsedDocument.of(blocks)


def _sheet(sheet: Any, parts: SheetParts) -> list[Block]:
    """The blocks of a sheet; what is hidden in it follows its tables."""
    if sheet.start is None:
        return []
    values = sheet.to_python(skip_empty_area=True)
    rows = [[_shown(value) for value in row] for row in values]
    _as_formatted(rows, values, sheet.start, parts)
    _fill_merged(rows, sheet)
    rows, unseen = _without_hidden(rows, sheet.start, parts)
    blocks = [found for table in _tables(rows) for found in _table(table)]
    return [*block("heading", sheet.name, level=1), *blocks, *unseen] if blocks else unseen


def _as_formatted(rows: Rows, values: Sequence[Sequence[Any]], start: tuple[int, int], parts: SheetParts) -> None:
    """Write numbers as their cells show them, and texts with their superscripts. start: row and column of the first cell."""
    top, left = start

    def holds(r: int, c: int) -> bool:
        return 0 <= r - top < len(values) and 0 <= c - left < len(values[r - top])

    places = iter(parts.formatted)
    for r, c, code in zip(places, places, parts.codes, strict=True):
        value = values[r - top][c - left] if holds(r, c) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and (said := formatted(value, code)):
            rows[r - top][c - left] = _Number(said, value)
    for (r, c), text in parts.texts.items():
        if holds(r, c):
            rows[r - top][c - left] = text


def _without_hidden(rows: Rows, start: tuple[int, int], parts: SheetParts) -> tuple[Rows, list[Block]]:
    """The rows without hidden rows, columns and cells, and these as blocks. start: row and column of the first cell."""
    top, left = start
    cells: dict[HiddenReason, list[str]] = {}
    for (r, c), reason in parts.cells.items():
        if 0 <= r - top < len(rows) and 0 <= c - left < len(rows[r - top]) and rows[r - top][c - left]:
            cells.setdefault(reason, []).append(rows[r - top][c - left])
            rows[r - top][c - left] = ""
    by_row = [row for r, row in enumerate(rows) if r + top in parts.rows]
    rows = [row for r, row in enumerate(rows) if r + top not in parts.rows]
    by_column = [[cell for c, cell in enumerate(row) if c + left in parts.columns] for row in rows]
    seen = [[cell for c, cell in enumerate(row) if c + left not in parts.columns] for row in rows]
    unseen = [
        *block("table", pipe_table(by_row), hidden=HiddenReason.ROW),
        *block("table", pipe_table(by_column), hidden=HiddenReason.COLUMN),
        *(found for reason, texts in cells.items() for found in hidden_block("\n".join(texts), reason)),
    ]
    return seen, unseen


def _shown(value: Any) -> str:
    """A cell as a person reads it: numbers with all their digits, dates without midnight."""
    match value:
        case bool():
            shown = "TRUE" if value else "FALSE"
        case int() | float():
            shown = _Number(plain(value), value)
        case datetime():
            shown = value.isoformat(sep=" ", timespec="minutes").removesuffix(" 00:00")
        case _:
            shown = str(value)
    return shown


def _fill_merged(rows: Rows, sheet: Any) -> None:
    """Write the text of a merged range into each of its cells, so that every row says all it means."""
    top, left = sheet.start
    for (row, column), (last_row, last_column) in sheet.merged_cell_ranges or ():
        inside = [
            (r, c)
            for r in range(max(row, top) - top, min(last_row - top + 1, len(rows)))
            for c in range(max(column, left) - left, min(last_column - left + 1, len(rows[r])))
        ]
        holds_first = inside and inside[0] == (row - top, column - left)
        text = (
            rows[inside[0][0]][inside[0][1]] if holds_first else ""
        )  # else the first cell is empty, and none of the others is seen
        for r, c in inside:
            rows[r][c] = text


def _tables(rows: Rows) -> Iterator[Rows]:
    """Tables of one sheet: apart by blank columns, and by blank rows where a new header follows."""
    for area in _apart_by_rows(rows):
        parts = _apart_by_columns(area)
        if len(parts) == 1:
            yield area
        else:
            for part in parts:
                yield from _tables(part)


def _apart_by_rows(rows: Rows) -> Iterator[Rows]:
    """Rows between blank rows; what follows a blank row belongs to the same table unless it begins like a header."""
    area: Rows = []
    after_blank = False
    for row in rows:
        if any(row):
            if after_blank and area and _is_header(row, area[-1]):
                yield area
                area = []
            area.append(row)
        after_blank = not any(row)
    if area:
        yield area


def _apart_by_columns(rows: Rows) -> list[Rows]:
    """Columns between two or more blank ones, or between one where the heights differ; else it is only a spacer."""
    columns = [[r for r, row in enumerate(rows) if i < len(row) and row[i]] for i in range(max(map(len, rows)))]
    filled = [i for i, column in enumerate(columns) if column]
    starts = [filled[0]]
    for last, i in pairwise(filled):
        heights_differ = (columns[i][0], columns[i][-1]) != (columns[last][0], columns[last][-1])
        if i - last > 2 or (i - last == 2 and heights_differ):
            starts.append(i)
    return [[row[a:b] for row in rows] for a, b in pairwise([*starts, filled[-1] + 1])]


def _is_header(row: list[str], before: list[str]) -> bool:
    """Words in every filled cell, or other columns filled than before."""
    filled = [i for i, cell in enumerate(row) if cell]
    return all(not _is_number(row[i]) for i in filled) or not any(before[i] for i in filled)


def _is_number(text: str) -> bool:
    return isinstance(text, _Number) or text.replace(".", "", 1).replace("-", "", 1).isdecimal()


def _table(rows: Rows) -> list[Block]:
    """Lines with one text above a table are its title; the rest is the table, or text when it is a single cell."""
    titles = 0
    while titles < len(rows) - 1 and len({cell for cell in rows[titles] if cell}) == 1 and len(rows[titles]) > 1:
        titles += 1
    blocks = [found for row in rows[:titles] for found in block("paragraph", next(filter(None, row)))]
    body = rows[titles:]
    if len(body) == 1 and sum(map(bool, body[0])) == 1:
        return [*blocks, *block("paragraph", next(filter(None, body[0])))]
    shown, exact = pipe_table(body), pipe_table([[getattr(cell, "exact", cell) for cell in row] for row in body])
    return [*blocks, *block("table", shown, exact=exact if exact != shown else "")]


parsers.add(XlsxParser.name, XlsxParser())
