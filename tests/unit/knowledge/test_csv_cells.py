"""CSV files: every cell is shown as it is written, numbers and days are known beside that, names of columns are told by types."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import Block
from knowledge.parsers.formats.csv_ import CsvParser, find_decimal_mark, normalise_days, normalise_number
from knowledge.text.pipe_table import parse_cells


def blocks(content: str, folder: Path) -> tuple[Block, ...]:
    path = folder / "a.csv"
    path.write_text(content, encoding="utf-8")
    return CsvParser().parse(path, ParseLimits()).blocks


def rows(text: str) -> list[list[str]]:
    return [parse_cells(line) for line in text.split("\n")]


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "sep=;;;"])
def test_a_stated_separator_is_obeyed_and_left_out(first: str, tmp_path: Path) -> None:
    (table,) = blocks(f'\ufeff{first}\nItem;Price\n"Clip; long";12,50\nBolt, M8;1.204,90\n', tmp_path)
    assert rows(table.text)[0] == ["Item", "Price"]
    assert rows(table.text)[2:] == [["Clip; long", "12,50"], ["Bolt, M8", "1.204,90"]]
    assert rows(table.exact)[2:] == [["Clip; long", "12.50"], ["Bolt, M8", "1204.90"]]


def test_lines_above_the_header_announce_the_table(tmp_path: Path) -> None:
    found = blocks("Stock of the yard,,\n\nItem,Count,Room\nPump,4,12\nHose,17,3\n", tmp_path)
    assert [(block.kind, block.is_headed) for block in found] == [("caption", False), ("table", True)]
    assert found[0].text == "Stock of the yard"
    assert rows(found[1].text)[0] == ["Item", "Count", "Room"]


def test_codes_stay_as_they_are_and_a_bar_is_no_border(tmp_path: Path) -> None:
    (table,) = blocks(
        "Key,No,Account,Note,Tel\n4E2,00042,6222021234567890123,a|b,0571 555\n1E3,107,1,x,351 555\n", tmp_path
    )
    assert rows(table.text)[2] == ["4E2", "00042", "6222021234567890123", "a|b", "0571 555"]
    assert table.exact == ""


def test_a_table_where_nothing_tells_has_no_header(tmp_path: Path) -> None:
    (words,) = blocks("ok,crane may be used\nnot ok,crane is locked\n", tmp_path)
    (numbers,) = blocks("3,4.5\n4,5.5\n5,6.5\n", tmp_path)
    assert not words.is_headed
    assert not numbers.is_headed
    assert rows(numbers.text)[0] == ["3", "4.5"]


def test_numbers_are_read_as_their_table_writes_them() -> None:
    for cell, mark, number in (
        ("1,234.50", "", "1234.50"),
        ("1.234,50", "", "1234.50"),
        ("1,234", ".", "1234"),
        ("1,234", ",", "1.234"),
        ("1,234", "", ""),  # a thousand or one, nothing tells
        ("1'234.50", "", "1234.50"),
        ("€ 1,234.50", "", "1234.50"),
        ("−5.5", "", "-5.5"),
        ("(1,200.00)", "", "-1200.00"),
        ("12%", "", "0.12"),
        ("1234567", "", ""),  # plain as it stands
        ("00042", ".", ""),
        ("4E2", ".", ""),
        ("1234567890123456", ".", ""),
        ("0571 555 0142", ".", ""),
        ("", ".", ""),
    ):
        assert normalise_number(cell, mark) == number


def test_the_mark_of_decimals_is_that_of_the_table() -> None:
    assert find_decimal_mark(["1,204", "12.50"]) == "."
    assert find_decimal_mark(["1.204", "12,50"]) == ","
    assert find_decimal_mark(["1.204,90", "12.50"]) == ""  # both: nothing is certain
    assert find_decimal_mark(["a", "12", "1,204"]) == ""


def test_days_are_known_where_the_column_tells_their_order() -> None:
    assert normalise_days(["03/04/2024", "25/06/2023", "n/a"]) == ["2024-04-03", "2023-06-25", ""]
    assert normalise_days(["04/25/2024", "03/04/2024"]) == ["2024-04-25", "2024-03-04"]
    assert normalise_days(["03.04.2024"]) == ["2024-04-03"]
    assert normalise_days(["03/04/2024"]) == [""]  # March or April
    assert normalise_days(["25/13/2024", "31/02/2024"]) == ["", ""]
