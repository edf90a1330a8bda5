"""XLSX by calamine: a sheet is a heading and its tables; formats and other facts about cells come from its parts (`xlsx_parts`)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from knowledge.parsers import detect
from knowledge.parsers.base import ParseFailed, ParseLimits, Rejected, parsers
from knowledge.parsers.blocks import (
    Block,
    ParsedDocument,
    build_block,
    build_hidden_block,
    mark_link,
    remove_link_marks,
)
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.office.number_formats import format_number, format_plain_number
from knowledge.parsers.office.time_formats import format_iso, format_time
from knowledge.parsers.office.xlsx_parts import SheetParts, read_sheet_parts
from knowledge.parsers.office.xlsx_styles import Style
from knowledge.parsers.precheck import check_ooxml, check_sheets
from knowledge.parsers.tables import EMPTY, MAX_HEADER_ROWS, Cell, Row, build_table_blocks, may_name_column

_CHART = re.compile(r"xl/charts/chart\d*\.xml")
_CODE = re.compile(r"\(?0\d|\(?\d+[-) ]+\d+(?![\d/])")  # no amount: leading zeros, or digits in groups; 1 1/2 is one


class XlsxParser:
    name = "xlsx"
    mime_types = ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",)
    extensions = (".xlsx",)
    preload = ("python_calamine",)

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "xl/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.sheet_xml_bytes)
        check_sheets(path, limits)
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

        blocks: list[Block] = []
        formulas, seen = 0, set[str]()
        try:
            with CalamineWorkbook.from_path(path) as workbook:
                parts = read_sheet_parts(path)
                for known in workbook.sheets_metadata:
                    of_sheet = parts.get(known.name, SheetParts())
                    found = _build_sheet_blocks(workbook.get_sheet_by_name(known.name), of_sheet)
                    is_seen = known.visible == SheetVisibleEnum.Visible
                    if is_seen:
                        formulas += of_sheet.formulas
                        seen.add(known.name)
                    blocks += found if is_seen else (replace(item, hidden=HiddenReason.SHEET) for item in found)
        except PasswordError as error:
            raise Rejected("encrypted") from error
        except CalamineError as error:
            raise ParseFailed("damaged", format="XLSX") from error
        return ParsedDocument.of(
            blocks, losses=filter_losses({"formulas": formulas, "charts": _count_separate_charts(path, seen)})
        )


def _count_separate_charts(path: Path, sheets: set[str]) -> int:
    """Count the charts of other data than cells of these sheets; the data of the others is read there."""
    from lxml import etree

    count = 0
    with ZipFile(path) as archive:
        for part in filter(_CHART.fullmatch, archive.namelist()):
            tree = etree.fromstring(archive.read(part), etree.XMLParser(recover=True, resolve_entities=False))
            series = [] if tree is None else list(tree.iter("{*}ser"))
            sources = [item.findtext(f"{{*}}{of}//{{*}}f") or "" for item in series for of in ("val", "yVal")]
            named = {source.rpartition("!")[0].strip("'").replace("''", "'") for source in sources if source}
            count += bool(series) and not named & sheets
    return count


def _build_sheet_blocks(sheet: Any, parts: SheetParts) -> list[Block]:
    """Return the blocks of a sheet; hidden text follows its tables."""
    if sheet.start is None:
        return []
    read = _CellSheet(sheet, parts)
    unseen = read.taken_out()
    blocks = [found for table in _split_tables(read.seen()) for found in read.blocks_of(table)]
    return [*build_block("heading", remove_link_marks(sheet.name), level=1), *blocks, *unseen] if blocks else unseen


@dataclass
class _SheetArea:
    """Rows of a sheet that make a table, or several. numbers: their rows in the sheet, from 0."""

    rows: list[Row]
    numbers: list[int]

    def cut(self, first: int, last: int) -> "_SheetArea":
        return _SheetArea(self.rows[first:last], self.numbers[first:last])


@dataclass
class _Looks:
    """The emphasis of cells, and whether the file says that they name columns (True) or that none does (False)."""

    fills: dict[Cell, str] = field(default_factory=dict)
    stated: dict[Cell, bool] = field(default_factory=dict)


class _CellSheet:
    """The cells of one sheet. top, left: the place of the first one."""

    def __init__(self, sheet: Any, parts: SheetParts) -> None:
        self._top, self._left = sheet.start
        self._parts = parts
        self._looks = _Looks()
        values = sheet.to_python(skip_empty_area=True)
        self._add_styles(values)
        self._rows: list[Row] = [
            [item if isinstance(item, Cell) else _build_cell(item) for item in row] for row in values
        ]
        for place, text in parts.texts.items():
            self._update_cell(place, text=remove_link_marks(text))
        for place, address in parts.links.items():
            if cell := self._find_cell(place):
                self._update_cell(place, text=mark_link(cell.text, address))
        self._fill_merged_ranges(sheet.merged_cell_ranges or ())
        self._state()

    def _find_cell(self, place: tuple[int, int]) -> Cell | None:
        """Return the non-empty cell at a row and column of the sheet."""
        r, c = place[0] - self._top, place[1] - self._left
        cell = self._rows[r][c] if 0 <= r < len(self._rows) and 0 <= c < len(self._rows[r]) else EMPTY
        return None if cell is EMPTY else cell

    def _update_cell(self, place: tuple[int, int], **said: Any) -> None:
        if cell := self._find_cell(place):
            self._rows[place[0] - self._top][place[1] - self._left] = replace(cell, **said)

    def _add_styles(self, values: list[list[Any]]) -> None:
        """Format the values of styled cells as shown, and keep their emphasis."""
        styled = iter(self._parts.styled)
        for r, c, number in zip(styled, styled, styled, strict=True):
            row, column = r - self._top, c - self._left
            if not (0 <= row < len(values) and 0 <= column < len(values[row])) or values[row][column] in ("", None):
                continue
            style = self._parts.styles[number]
            values[row][column] = cell = _build_cell(values[row][column], style)
            if style.fill:
                self._looks.fills[cell] = style.fill

    def _fill_merged_ranges(self, ranges: Sequence[Any]) -> None:
        """Put the first cell of a merged range into all of its places: values of the others are never shown."""
        for (row, column), (last_row, last_column) in ranges:
            first = self._find_cell((row, column)) or EMPTY
            for r in range(max(row - self._top, 0), min(last_row - self._top + 1, len(self._rows))):
                cells = self._rows[r]
                for c in range(max(column - self._left, 0), min(last_column - self._left + 1, len(cells))):
                    cells[c] = first

    def _state(self) -> None:
        """Store the header rows that the file states: those of tables and filters; none for tables without header."""
        for ranges, is_name in ((self._parts.headers, True), (self._parts.headless, False)):
            for top, left, bottom, right in ranges:
                for r in range(top, min(bottom + 1, self._top + len(self._rows))):
                    cells = (self._find_cell((r, c)) for c in range(max(left, 0), min(right + 1, self._left + 16_384)))
                    self._looks.stated |= {cell: is_name for cell in cells if cell}

    def taken_out(self) -> list[Block]:
        """Blank the hidden cells; return them as blocks, with hidden rows and columns."""
        parts, cells = self._parts, dict[HiddenReason, list[str]]()
        for place, reason in parts.cells.items():
            if cell := self._find_cell(place):
                cells.setdefault(reason, []).append(cell.text)
                self._rows[place[0] - self._top][place[1] - self._left] = EMPTY
        cells.setdefault(HiddenReason.STRUCK, []).extend(text for text in parts.struck.values() if text.strip())
        by_row = [row for r, row in enumerate(self._rows, self._top) if r in parts.rows]
        seen = [row for r, row in enumerate(self._rows, self._top) if r not in parts.rows]
        by_column = [[cell for c, cell in enumerate(row, self._left) if c in parts.columns] for row in seen]
        return [
            *build_table_blocks(by_row, header_rows=0, hidden=HiddenReason.ROW),
            *(build_table_blocks(by_column, header_rows=0, hidden=HiddenReason.COLUMN) if parts.columns else ()),
            *(found for reason, texts in cells.items() for found in build_hidden_block("\n".join(texts), reason)),
        ]

    def seen(self) -> _SheetArea:
        """Return the rows and columns that are not hidden."""
        parts = self._parts
        numbers = [r for r in range(self._top, self._top + len(self._rows)) if r not in parts.rows]
        rows = [self._rows[r - self._top] for r in numbers]
        if parts.columns:
            rows = [[cell for c, cell in enumerate(row, self._left) if c not in parts.columns] for row in rows]
        return _SheetArea(rows, numbers)

    def blocks_of(self, area: _SheetArea) -> list[Block]:
        """Return a table with its header as the file states it: directly, or by frozen rows, bold letters or a fill."""
        stated = [self._looks.stated.get(cell) for row in area.rows[:1] for cell in row if cell is not EMPTY]
        if stated and all(item is False for item in stated):
            return build_table_blocks(area.rows, header_rows=0)
        named = self._count_stated_rows(area) or self._count_frozen_rows(area) or self._count_filled_rows(area)
        if not named:
            return build_table_blocks(area.rows)
        changed: dict[Cell, Cell] = {EMPTY: EMPTY}
        rows = [
            [changed.setdefault(cell, replace(cell, is_name=r < named)) for cell in row]
            for r, row in enumerate(area.rows[: named + 1])
        ]
        return build_table_blocks([*rows, *area.rows[named + 1 :]])

    def _count_stated_rows(self, area: _SheetArea) -> int:
        """Return the number of header rows that the file states, with rows above them; 0 where it states none."""
        for r, row in enumerate(area.rows[: MAX_HEADER_ROWS * 3]):
            cells = [cell for cell in row if cell is not EMPTY]
            if cells and all(self._looks.stated.get(cell) for cell in cells):
                return r + 1
        return 0

    def _count_frozen_rows(self, area: _SheetArea) -> int:
        """Return the number of frozen rows, if they are names: people also freeze other rows."""
        count = sum(number < self._parts.frozen for number in area.numbers)
        titles = _count_title_rows(area.rows)
        may_be = 0 < count - titles <= MAX_HEADER_ROWS and count < len(area.rows)
        texts = [cell.plain for row in area.rows[titles:count] for cell in row if cell is not EMPTY]
        return count if may_be and all(map(may_name_column, texts)) else 0

    def _count_filled_rows(self, area: _SheetArea) -> int:
        """Return how many top rows have a fill that no other row has; a table with stripes has none."""
        titles, fills = _count_title_rows(area.rows), self._looks.fills
        coloured = [
            {fills.get(cell, "") for cell in row if cell is not EMPTY} if self._may_be_names(row) else {""}
            for row in area.rows[titles : titles + MAX_HEADER_ROWS]
        ]
        count = next((at for at, colour in enumerate(coloured) if "" in colour), len(coloured))
        below = Counter(fills[cell] for row in area.rows[titles + count :] for cell in row if cell in fills)
        is_used = any(fill in below for colour in coloured[:count] for fill in colour)
        return 0 if is_used or not count or titles + count >= len(area.rows) else titles + count

    def _may_be_names(self, row: Row) -> bool:
        texts = [cell.plain for cell in row if cell is not EMPTY]
        return bool(texts) and all(map(may_name_column, texts))


def _count_title_rows(rows: Sequence[Row]) -> int:
    """Return how many top rows hold a single text."""
    return next((r for r, row in enumerate(rows) if len({*row} - {EMPTY}) > 1), 0)


_PLAIN = Style()


def _build_cell(value: Any, style: Style = _PLAIN) -> Cell:
    """Return a cell as it is shown; without a format numbers have all their digits, and days no midnight.

    exact: the number itself, but for codes (00042, 123-45-6789), or the day.
    """
    shown = exact = ""
    match value:
        case "" | None:
            return EMPTY
        case bool():
            shown = "TRUE" if value else "FALSE"
        case int() | float():
            exact = format_plain_number(value)
            shown = (format_number(value, style.code) if style.code else None) or exact
            exact = "" if shown == exact or _CODE.match(shown) else exact
        case date() | time() | timedelta():
            shown = format_time(value, style.code)
            exact = format_iso(value) if isinstance(value, date) else ""
        case _:
            shown = remove_link_marks(str(value))
    return Cell(shown, "" if exact == shown else exact, style.is_bold)


# --- tables of a sheet ---------------------------------------------------------------------------------------------


def _split_tables(area: _SheetArea) -> Iterator[_SheetArea]:
    """Yield the tables of a sheet, separated by blank columns, and by blank rows before a new header."""
    for item in _split_by_blank_rows(area):
        parts = _split_by_blank_columns(item)
        if len(parts) == 1:
            yield item
        else:
            for part in parts:
                yield from _split_tables(part)


def _split_by_blank_rows(area: _SheetArea) -> Iterator[_SheetArea]:
    """Yield the rows between blank rows; text after a blank row begins a table only if like a header."""
    kept = _SheetArea([], [])
    after_blank = False
    for row, number in zip(area.rows, area.numbers, strict=True):
        is_blank = all(cell is EMPTY for cell in row)
        if not is_blank:
            if after_blank and kept.rows and _is_header(row, kept.rows[-1]):
                yield kept
                kept = _SheetArea([], [])
            kept.rows.append(row)
            kept.numbers.append(number)
        after_blank = is_blank
    if kept.rows:
        yield kept


def _split_by_blank_columns(area: _SheetArea) -> list[_SheetArea]:
    """Yield columns separated by two blank ones, or by one where the heights differ; else one is only a spacer."""
    width = max(map(len, area.rows))
    columns = [[r for r, row in enumerate(area.rows) if i < len(row) and row[i] is not EMPTY] for i in range(width)]
    filled = [i for i, column in enumerate(columns) if column]
    starts = [filled[0]]
    for last, i in pairwise(filled):
        heights_differ = (columns[i][0], columns[i][-1]) != (columns[last][0], columns[last][-1])
        if i - last > 2 or (i - last == 2 and heights_differ):
            starts.append(i)
    return [_SheetArea([row[a:b] for row in area.rows], area.numbers) for a, b in pairwise([*starts, filled[-1] + 1])]


def _is_header(row: Row, before: Row) -> bool:
    """Tell whether a row after a blank one begins another table: names after values, or other columns."""
    filled = [i for i, cell in enumerate(row) if cell is not EMPTY]
    if all(before[i] is EMPTY for i in filled):
        return True
    goes_on = len(filled) > 1 and [i for i, cell in enumerate(before) if cell is not EMPTY] == filled
    were_names = all(may_name_column(cell.plain) and not cell.is_name for cell in (*row, *before) if cell is not EMPTY)
    return all(may_name_column(row[i].plain) for i in filled) and not (goes_on and were_names)


parsers.add(XlsxParser.name, XlsxParser())
