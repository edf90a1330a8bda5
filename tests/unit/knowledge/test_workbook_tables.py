"""Workbooks: names of columns by what the file states, cells as they are shown, and what is not read is told."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.table import Table

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.formats.xlsx import XlsxParser
from knowledge.parsers.hidden import HiddenReason
from knowledge.text.pipe_table import parse_cells

WORDS = [["Name", "Town", "Colour"], ["Anna", "Bonn", "red"], ["Bo", "Kiel", "blue"], ["Cy", "Ulm", "green"]]


def parsed(folder: Path, rows: list[list[Any]], change: Callable[[Any], object] = lambda sheet: None) -> ParsedDocument:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    change(sheet)
    book.save(folder / "a.xlsx")
    return XlsxParser().parse(folder / "a.xlsx", ParseLimits())


def lines(document: ParsedDocument) -> list[list[str]]:
    return [parse_cells(line) for block in document.blocks if block.kind == "table" for line in block.text.split("\n")]


def _bold(sheet: Any) -> None:
    for cell in sheet[1]:
        cell.font = Font(bold=True)


def _filled(sheet: Any) -> None:
    for cell in sheet[1]:
        cell.fill = PatternFill("solid", fgColor="FFDDEEFF")


def _striped(sheet: Any) -> None:
    for row in (1, 3):
        for cell in sheet[row]:
            cell.fill = PatternFill("solid", fgColor="FFDDEEFF")


MARKS: dict[str, Callable[[Any], object]] = {
    "table": lambda sheet: sheet.add_table(Table(displayName="T", ref="A1:C4")),
    "frozen": lambda sheet: setattr(sheet, "freeze_panes", "A2"),
    "filter": lambda sheet: setattr(sheet.auto_filter, "ref", "A1:C4"),
    "bold": _bold,
    "fill": _filled,
}


def test_what_the_file_states_names_the_columns_and_where_nothing_tells_there_are_no_names(tmp_path: Path) -> None:
    for name, mark in MARKS.items():
        (table,) = (block for block in parsed(tmp_path, WORDS, mark).blocks if block.kind == "table")
        assert table.is_headed, name
    for change in (lambda sheet: None, _striped):
        (table,) = (block for block in parsed(tmp_path, WORDS, change).blocks if block.kind == "table")
        assert not table.is_headed
        assert len(table.text.split("\n")) == 4


def test_a_table_without_a_header_row_has_none(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    sheet.add_table("A1:B3", {"header_row": False, "data": [["Site", "Fee"], ["North", 5], ["South", 6]]})
    book.close()
    (table,) = (b for b in XlsxParser().parse(tmp_path / "a.xlsx", ParseLimits()).blocks if b.kind == "table")
    assert not table.is_headed


def test_formulas_without_values_are_counted(tmp_path: Path) -> None:
    document = parsed(
        tmp_path, [["Item", "Net", "VAT"], ["Lease", 4200, "=B2*0.19"], ["Total", "=SUM(B2)", "=SUM(C2)"]]
    )
    assert document.losses == {"formulas": 3}
    book = xlsxwriter.Workbook(tmp_path / "b.xlsx")
    sheet = book.add_worksheet()
    sheet.write_formula("A1", "=1+1", None, 2)
    sheet.write_formula("A3", '="a"', None, "a")
    book.close()
    assert XlsxParser().parse(tmp_path / "b.xlsx", ParseLimits()).losses == {}


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_chart_of_cells_that_are_not_read_is_counted(is_hidden: bool, tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    shown, data = book.add_worksheet("Shown"), book.add_worksheet("The data")
    shown.write(0, 0, "Containers by quarter")
    data.write_column(0, 0, [1200, 1345])
    if is_hidden:
        data.hide()
    chart: Any = book.add_chart({"type": "column"})
    chart.add_series({"values": "='The data'!$A$1:$A$2"})
    shown.insert_chart("A3", chart)
    book.close()
    losses = XlsxParser().parse(tmp_path / "a.xlsx", ParseLimits()).losses
    assert losses == ({"charts": 1} if is_hidden else {})


def test_struck_out_words_are_kept_apart(tmp_path: Path) -> None:
    kept = BytesIO()
    book = xlsxwriter.Workbook(kept)
    sheet = book.add_worksheet()
    struck = book.add_format({"font_strikeout": 1})
    sheet.write_row(0, 0, ["Bridge", "Limit"], book.add_format({"bold": 1}))
    sheet.write_string(1, 0, "North bridge")
    sheet.write_rich_string(1, 1, struck, "30 ", "45 tonnes")
    sheet.write_string(2, 0, "old bridge", struck)
    sheet.write_number(2, 1, 20, struck)
    book.close()
    (tmp_path / "a.xlsx").write_bytes(kept.getvalue())
    document = XlsxParser().parse(tmp_path / "a.xlsx", ParseLimits())
    assert lines(document)[2:] == [["North bridge", "45 tonnes"]]
    assert [(item.block.hidden, item.block.text) for item in document.apart] == [
        (HiddenReason.STRUCK, "old bridge\n20\n30")
    ]


def test_links_of_cells_keep_their_addresses(tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        sheet["A2"].hyperlink = "https://example.com/n"
        sheet["A3"] = '=HYPERLINK("https://example.com/s","South")'

    (table,) = (b for b in parsed(tmp_path, [["Site", "Fee"], ["North", 5], ["South", 6]], change).blocks if b.links)
    assert [(table.text[start:end], address) for start, end, address in table.links] == [
        ("North", "https://example.com/n")
    ]  # the other one has no value: a library wrote it


@pytest.mark.parametrize(
    ("value", "code", "shown", "exact"),
    [
        (45356.60427, "dd.mm.yyyy", "05.03.2024", "2024-03-05 14:30"),
        (45356, "yyyy-mm-dd", "2024-03-05", ""),
        (45356, "[$-407]d. mmmm yyyy", "5. März 2024", "2024-03-05"),
        (45356, 'yyyy"年"m"月"d"日"', "2024年3月5日", "2024-03-05"),
        (0.604167, "h:mm AM/PM", "2:30 PM", ""),
        (1.520833333, "[h]:mm", "36:30", ""),
        (0.5, "# ?/?", "1/2", "0.5"),
        (0.075, "0.0%", "7.5%", "0.075"),
        (1234.5, "[$€-2]#,##0.00", "€1,234.50", "1234.5"),
        (42, "00000", "00042", ""),
        (6222021234567890, "General", "6222021234567890", ""),
    ],
)
def test_a_cell_is_shown_by_its_format(value: float, code: str, shown: str, exact: str, tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        sheet["B2"].number_format = code

    document = parsed(tmp_path, [["Item", "Value"], ["Pump", value], ["Hose", None]], change)
    table = document.blocks[1]
    assert lines(document)[2][1] == shown
    assert parse_cells(table.exact.split("\n")[2])[1] == exact if exact else not table.exact
