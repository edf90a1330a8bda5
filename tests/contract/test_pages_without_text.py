"""A page that says nothing, or nothing but comments, is a document without text: damaged it is not."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits, load_parsers
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.detect import find_parser

load_parsers()
FRONT = '---\ntitle: "部署 Deploy"\nweight: 10\n---\n'
NOTHING = (
    "<!-- What is said here? -->",
    "<!-- open",
    "<!-->",
    "<?php echo 1 ?>",
    "<![CDATA[x]]>",
    "<!ELEMENT a>",
    "</div>",
)
"""Bodies from which no element is made."""
DECLARED = '<?xml version="1.0" encoding="utf-8"?>\n'


def parsed(source: str, filename: str, folder: Path) -> ParsedDocument:
    path = folder / "upload"
    path.write_text(source)
    return find_parser(path, filename).parse(path, ParseLimits())


def test_a_page_of_nothing_has_no_blocks_but_its_title(tmp_path: Path) -> None:
    for body in NOTHING:
        titled = parsed(f"{FRONT}{body}\n", "_index.md", tmp_path)
        assert (titled.title, [(block.kind, block.text) for block in titled.blocks]) == (
            "部署 Deploy",
            [("heading", "部署 Deploy")],
        ), body
        assert parsed(f"{body}\n", "a.md", tmp_path).blocks == (), body
        for start in ("<!DOCTYPE html>\n", f"{DECLARED}<!DOCTYPE html>\n", "<!-- <p> -->"):
            assert parsed(f"{start}{body}\n", "a.html", tmp_path).blocks == (), (start, body)


def test_what_its_comment_says_is_kept_apart(tmp_path: Path) -> None:
    for source, filename in ((f"{FRONT}<!-- Old. -->\n", "a.md"), ("<!DOCTYPE html><!-- Old. -->", "a.html")):
        assert [item.block.text for item in parsed(source, filename, tmp_path).apart] == ["Old."]


@pytest.mark.parametrize("filename", ["a.md", "a.html"])
def test_a_page_may_name_its_encoding(filename: str, tmp_path: Path) -> None:
    assert parsed(f"{DECLARED}<p>Said. 说了。</p>\n", filename, tmp_path).text == "Said. 说了。"
