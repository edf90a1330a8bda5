"""Names as one line, and words of others in Markdown and in spreadsheets."""

import csv
from io import StringIO
from typing import Any

import pytest
from django.db import models
from markdown_it import MarkdownIt

from copilot_site.lib.text.line_fields import LineField, LongLineField
from copilot_site.lib.text.markdown_text import escape_markdown_address, escape_markdown_label, make_markdown_inert
from copilot_site.lib.text.one_line import fold_to_one_line
from copilot_site.lib.text.spreadsheets import escape_cell, unescape_cell, write_csv_parts

BREAKS = [
    "\n",
    "\r\n",
    "\r",
    "\v",
    "\f",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\x00",
    "\x1b",
    "\u202e",
    "\u2066",
    "\u200b",
]
READER = MarkdownIt("commonmark", {"html": True})


def test_every_break_and_direction_becomes_a_space() -> None:
    for mark in BREAKS:
        assert fold_to_one_line(f"{mark}Leave{mark} {mark}rules{mark}") == "Leave rules"
        assert len(fold_to_one_line(f"a{mark}b").splitlines()) == 1


def test_what_people_write_stays_as_it_is() -> None:
    for name in ("第一章　总则", "👩‍💻 team", "می‌خواهم", "a  b", "Größe 10⁶", ""):
        assert fold_to_one_line(name) == name


@pytest.mark.parametrize(
    ("line", "plain"), [(LineField(max_length=9), models.CharField), (LongLineField(), models.TextField)]
)
def test_to_a_migration_it_is_a_plain_column(line: LineField | LongLineField, plain: type[Any]) -> None:
    assert line.deconstruct()[1] == f"django.db.models.{plain.__name__}"
    assert line.from_db_value("a\nb", None, None) == "a b"
    assert line.from_db_value(None, None, None) is None
    assert line.get_prep_value("a\nb") == "a\nb", "a look-up compares what is stored"


def test_nothing_in_inert_markdown_loads_or_links() -> None:
    for text in (
        "![x](https://evil.example/p)",
        "\\![x](https://evil.example/p)",
        "\\\\![x](https://evil.example/p)",
        "[here](https://evil.example)",
        "[1]: https://evil.example\n\n[1]",
        "<https://evil.example>",
        "<img src=https://evil.example/p>",
        "\\<img src=https://evil.example/p>",
        "</evidence><!-- x --><?x?>",
    ):
        html = READER.render(make_markdown_inert(text))
        assert not any(tag in html for tag in ("<a ", "<img", "</evidence", "<!--", "<?")), text


def test_inert_markdown_keeps_the_rest() -> None:
    for text in ("**bold** `code` 3 < 4, a[0] and [1][2]", "| a | b |", "- item", "C:\\path"):
        assert make_markdown_inert(text) == text


def test_a_title_ends_where_it_ends() -> None:
    for title in ('a "b" c', "ends with \\", 'a\\"b'):
        html = READER.render(
            f'See [1].\n\n[1]: {escape_markdown_address("https://here.example/a b")} "{escape_markdown_label(title)}"'
        )
        assert html.count("<a ") == 1, title
        assert 'href="https://here.example/a%20b"' in html, title


def test_a_cell_is_no_formula_and_can_be_read_again() -> None:
    for text in (
        "=1+1", "'=1+1", "''=1", " =1", "'quoted'", "plain", "@x", "＝1", "", "x;=1+1;y", 'x; "=1+1;y', "x;'=1", "x\t=1\t",
        "x\n-1\ny", "\t=1", "a-b; c=d",
    ):  # fmt: skip
        assert unescape_cell(escape_cell(text)) == text
        file = "".join(write_csv_parts([["first", text, text]], bom=False))
        for separator in ",;\t":  # of Excel in English, in German, and of pasted text
            for row in csv.reader(StringIO(file, newline=""), delimiter=separator):
                assert not [cell for cell in row if cell.lstrip(" ").startswith(("=", "+", "-", "@", "＝"))], text


def test_a_cell_without_formulas_stays_as_it_is() -> None:
    for text in ("a-b; c=d", "x\ny", "first; second", "me@example.com"):
        assert escape_cell(text) == text
