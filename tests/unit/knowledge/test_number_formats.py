"""Numbers of a workbook as their cells show them."""

from io import BytesIO
from pathlib import Path

import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from knowledge.parsers.base import ParseLimits, load_parsers, parsers
from knowledge.parsers.office.number_formats import format_number, format_plain_number

ACCOUNTING = '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'


def test_a_number_is_shown_by_its_format() -> None:
    for value, code, shown in (
        (0.075, "0.0%", "7.5%"),
        (-0.075, "0.0%", "-7.5%"),
        (1234.5, "[$€-2]#,##0.00", "€1,234.50"),
        (-1234.5, ACCOUNTING, "-1,234.50 €"),
        (0, ACCOUNTING, "- €"),
        (42, "00000", "00042"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (6222021234567890, "0", "6222021234567890"),
        (6222021234567890, "0.00E+00", "6.22E+15"),
        (12345, "##0.0E+0", "12.3E+3"),
        (1.5, "# ?/?", "1 1/2"),
        (0.3333, "# ??/??", "1/3"),
        (1.25, "# ?/8", "1 2/8"),
        (1234567, '#,##0,"k"', "1,235k"),
        (-5, "#,##0_);(#,##0)", "(5)"),
        (-5, "#,##0;[Red]#,##0", "-5"),  # a colour tells the sign there, and text has none
        (0.5, "[<1]0.0%;0", "50.0%"),
        (12, '0 "kg; net"', "12 kg; net"),
        (-0.001, "0.00", "0.00"),
        (5, "yyyy-mm-dd", None),
        (5, ";;;", None),
        (float("nan"), "0", None),
        (5, "0" * 300, None),
    ):
        assert format_number(value, code) == shown


def test_a_number_without_a_format_keeps_its_digits() -> None:
    for value, shown in ((6222021234567890.0, "6222021234567890"), (2.0, "2"), (0.1 + 0.2, "0.3"), (1e300, "1e+300")):
        assert format_plain_number(value) == shown


@given(st.floats(), st.text(st.sampled_from('0#?.,%E+-/@;"\\_*[]$€<>=1ydGeneral ')))
def test_no_format_breaks_the_reader(value: float, code: str) -> None:
    shown = format_number(value, code)
    assert shown is None or shown.strip()


def workbook() -> bytes:
    kept = BytesIO()
    book = xlsxwriter.Workbook(kept)
    sheet = book.add_worksheet("Rates")
    shown = {name: book.add_format({"num_format": code}) for name, code in
             (("share", "0.0%"), ("money", "[$€-2]#,##0.00"), ("code", "00000"), ("ratio", "# ?/?"))}  # fmt: skip
    raised = book.add_format({"font_script": 1})
    sheet.write_row(1, 1, ["Share", "Price", "Code", "Account", "Ratio", "Volume", "Change"])
    for row in (2, 4):  # a blank row between them: what follows it is no new header
        sheet.write_number(row, 1, 0.075, shown["share"])
        sheet.write_number(row, 2, 1234.5, shown["money"])
        sheet.write_number(row, 3, 42, shown["code"])
        sheet.write_number(row, 4, 6222021234567890)
        sheet.write_number(row, 5, 1.5, shown["ratio"])
        sheet.write_rich_string(row, 6, "10", raised, "6", " l")
        sheet.write_number(row, 7, -5.25)
    book.close()
    return kept.getvalue()


def test_a_sheet_says_what_its_cells_show_and_keeps_the_numbers_themselves(tmp_path: Path) -> None:
    load_parsers()
    file = tmp_path / "a.xlsx"
    file.write_bytes(workbook())
    _heading, table = parsers.get("xlsx").parse(file, ParseLimits()).blocks
    row = "| 7.5% | €1,234.50 | 00042 | 6222021234567890 | 1 1/2 | 10⁶ l | -5.25 |"
    assert table.text.splitlines()[2:] == [row, row]
    assert table.exact.splitlines()[2] == "| 0.075 | 1234.5 | 00042 | 6222021234567890 | 1.5 | 10⁶ l | -5.25 |"
