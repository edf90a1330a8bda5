"""A Markdown file keeps its structure and what its front matter states."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.formats.markdown import MarkdownParser
from knowledge.parsers.hidden import HiddenReason


def file(source: str, folder: Path) -> ParsedDocument:
    path = folder / "file"
    path.write_text(source, encoding="utf-8")
    return MarkdownParser().parse(path, ParseLimits())


def test_blocks_are_what_the_marks_say(tmp_path: Path) -> None:
    source = (
        "# Curing {#cure}\n\nIt is cured\nfor 1½ hours.\n\n> Wear gloves.\n\n4. Mix\n5. Wait\n   - twice\n\n"
        "```text {hl=1}\n| A  | B |\n\n```\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n"
        "| | |\n|---|---|\n| ok | no fault |\n| not ok | locked |\n\nTerm\n: Paid.\n"
    )
    document = file(source, tmp_path)
    assert [(item.kind, item.text) for item in document.blocks] == [
        ("heading", "Curing"),
        ("paragraph", "It is cured for 1½ hours."),
        ("quotation", "Wear gloves."),
        ("item", "4. Mix"),
        ("item", "5. Wait"),
        ("item", "  - twice"),
        ("code", "| A  | B |"),
        ("table", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("table", "| ok | no fault |\n| not ok | locked |"),
        ("paragraph", "Term"),
        ("paragraph", "Paid."),
    ]
    assert document.blocks[6].language == "text"
    assert document.title == "Curing"


def test_links_of_every_notation_keep_their_targets(tmp_path: Path) -> None:
    source = "[Portal](https://p.example/a?b=1 'x'), <desk@p.example>, <https://q.example>, [ref][r], [form](../f.docx).\n\n[r]: https://r.example\n"
    (block,) = file(source, tmp_path).blocks
    assert block.text == "Portal, desk@p.example, https://q.example, ref, form."
    assert [address for _, _, address in block.links] == [
        "https://p.example/a?b=1",
        "mailto:desk@p.example",
        "https://q.example",
        "https://r.example",
        "../f.docx",
    ]


def test_footnotes_stand_behind_what_refers_to_them_and_none_is_lost(tmp_path: Path) -> None:
    source = "At most ~~8,000~~ 12,000 euros.[^limit]\n\nMore.\n\n[^limit]: Outside the EU 5,000.\n[^vat]: 19%\n"
    document = file(source, tmp_path)
    assert [(item.kind, item.number, item.text) for item in document.blocks] == [
        ("paragraph", "", "At most 12,000 euros.¹"),
        ("footnote", "¹", "¹ Outside the EU 5,000."),
        ("paragraph", "", "More."),
        ("footnote", "", "19%"),
    ]
    assert [(item.block.text, item.block.hidden) for item in document.apart] == [("8,000", HiddenReason.STRUCK)]


YAML = (
    "---\ntitle: 'Cold rooms'\nlang: de\nowner: Desk\nvalid_until: 2027-03-31\n"
    "code: 00042\ntags: [a, b]\nnested: {x: 1}\nempty:\n---\nText.\n"
)
TOML = '+++\ntitle = "Cold rooms"\nlang = "de"\nvalid_until = 2027-03-31\nweight = 10\ntags = ["a", "b"]\n[nested]\nx = 1\n+++\nText.\n'


@pytest.mark.parametrize(
    ("source", "own"), [(YAML, {"owner": "Desk", "code": "00042"}), (TOML, {"weight": "10"})], ids=["yaml", "toml"]
)
def test_front_matter_is_fields(source: str, own: dict[str, str], tmp_path: Path) -> None:
    document = file(source, tmp_path)
    assert document.fields == {"title": "Cold rooms", "lang": "de", "valid_until": "2027-03-31", "tags": "a, b"} | own
    assert (document.title, document.language, document.text) == ("Cold rooms", "de", "Text.")


@pytest.mark.parametrize(
    "source", ["---\na: [b\n---\nText.\n", "+++\na = = 1\n+++\nText.\n", "---\njust words\n---\nText.\n"]
)
def test_what_is_no_front_matter_is_text(source: str, tmp_path: Path) -> None:
    document = file(source, tmp_path)
    assert document.fields == {}
    assert all(
        word in document.text for word in source.replace("---", "").replace("+++", "").replace("- a", "a").split()
    )


def test_front_matter_runs_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    source = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nd: !!python/object/apply:os.getcwd []\n---\nText.\n"
    document = file(source, tmp_path)
    assert document.fields == {"a": "x, x"}
    assert document.text == "Text."


def test_tags_in_markdown_are_read_as_a_page_reads_them(tmp_path: Path) -> None:
    source = (
        "Line<br>two <kbd>Ctrl</kbd>\n\n<table>\n<tr><th>A</th><th>B</th></tr>\n\n"
        "<tr><td>1</td><td>2</td></tr>\n</table>\n\nSet `<name>`, then <name>.\n"
    )
    assert [item.text for item in file(source, tmp_path).blocks] == [
        "Line\ntwo Ctrl",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
        "Set <name>, then .",
    ]
