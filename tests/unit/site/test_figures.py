"""No figure of the README stands without the command and the commit that measured it; its pictures are there and small."""

import re
from pathlib import Path

from django.core.management import get_commands

ROOT = Path(__file__).parents[3]
MAX = 10  # rows
MAX_BYTES = 3_000_000  # of a picture
PAGES = ("README.md", "README.zh-CN.md")
SHARE = re.compile(r"\d\s?%|\d m?s\b|\b\d+ of \d+\b")


def parts_of(page: str) -> tuple[list[list[str]], str]:
    """The rows of the table of figures, and all that is not in it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(r"<!-- measured:.*?-->(.*?)<!-- /measured -->", text, re.DOTALL)
    if found is None:
        return [], text
    lines = [line for line in found[1].splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines], text.replace(found[0], "")


def test_every_figure_names_its_command_and_its_commit() -> None:
    rows, _rest = parts_of("README.md")
    assert 0 < len(rows) <= MAX
    before = ""
    for _what, number, command, commit in rows:
        assert re.search(r"\d", number)
        assert re.fullmatch(r"[0-9a-f]{8}", commit)
        name = before if command == "the same" else command.strip("`").split()[0]
        assert name in get_commands(), command
        before = name


def test_no_figure_stands_outside_the_table() -> None:
    for page in PAGES:
        assert SHARE.findall(parts_of(page)[1]) == []


def test_pictures_exist_and_are_small() -> None:
    for page in PAGES:
        pictures = re.findall(r"!\[[^\]]+\]\((.+?)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert any(picture.endswith(".gif") for picture in pictures)
        for picture in pictures:
            assert 0 < (ROOT / picture).stat().st_size < MAX_BYTES, picture


def test_every_picture_is_shown() -> None:
    shown = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in (ROOT / "docs" / "images").iterdir() if f"docs/images/{path.name}" not in shown] == []
