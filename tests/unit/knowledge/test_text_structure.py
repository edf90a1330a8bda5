"""Plain text gets its structure once, in its parser: headings by form, items of lists, paragraphs."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.formats.text import TextParser


def kinds(text: str, folder: Path) -> list[tuple[str, str]]:
    (folder / "a.txt").write_text(text, encoding="utf-8")
    return [(block.kind, block.text) for block in TextParser().parse(folder / "a.txt", ParseLimits()).blocks]


def test_a_short_line_is_a_paragraph_and_an_underlined_one_a_heading(tmp_path: Path) -> None:
    assert kinds("Reception\n=========\n\nEmergency line: 0571 555 0142\n\nRules\n---\nKnock.\n", tmp_path) == [
        ("heading", "Reception"),
        ("paragraph", "Emergency line: 0571 555 0142"),
        ("heading", "Rules"),
        ("paragraph", "Knock."),
    ]


def test_items_keep_their_numbers_and_depth(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Bring:\n1. passport\n2. ticket\n   - printed\n   - signed\n3. keys\n")
    blocks = TextParser().parse(tmp_path / "a.txt", ParseLimits()).blocks
    found = [(block.kind, block.number, block.depth, block.text[block.lead :]) for block in blocks]
    assert found == [
        ("paragraph", "", 0, "Bring:"),
        ("item", "1.", 0, "1. passport"),
        ("item", "2.", 0, "2. ticket"),
        ("item", "", 1, "printed"),
        ("item", "", 1, "signed"),
        ("item", "3.", 0, "3. keys"),
    ]


@pytest.mark.parametrize("text", ["12. was a year.\n7. was not.", "- only one", "3 - 2 = 1\n5 - 4 = 1"])
def test_what_is_no_series_is_no_list(text: str, tmp_path: Path) -> None:
    assert kinds(text, tmp_path) == [("paragraph", text)]
