"""Documents that earlier parsers read stay readable until they are read again: citations of before open at their words."""

from typing import Any

from knowledge.parsers.blocks import ParsedDocument
from knowledge.rendering import Span, extract_excerpt, place_blocks, render_blocks

FIRST: dict[str, Any] = {
    "title": "Rules",
    "blocks": [
        {"kind": "heading", "text": "Rules", "level": 1, "page": None, "boxes": [], "hidden": None, "exact": ""},
        {"kind": "list", "text": "- a\n  - b", "level": None, "page": None, "boxes": [], "hidden": None, "exact": ""},
        {"kind": "table", "text": "| N | M |\n| --- | --- |\n| x | 1 |", "level": None, "page": None, "boxes": []},
        {"kind": "code", "text": "```sh\nrun\n```", "level": None, "page": 2, "boxes": [[0.1, 0.2, 0.3, 0.4]]},
    ],
    "apart": [{"block": {"kind": "paragraph", "text": "secret", "boxes": [], "hidden": "comment"}, "at": 1}],
    "page_count": None,
    "language": None,
    "metadata": {},
}


def test_what_an_earlier_version_wrote_is_read_with_the_same_text_and_offsets() -> None:
    parsed = ParsedDocument.from_json(FIRST)
    texts = [str(block["text"]) for block in FIRST["blocks"]]
    assert parsed.text == "\n\n".join(texts)
    assert [block.kind for block in parsed.blocks] == ["heading", "paragraph", "table", "code"]
    assert parsed.apart[0].block.hidden == "comment"
    start = parsed.text.index("| x | 1 |")
    (row,) = extract_excerpt(parsed, Span(start, start + 9))
    assert "<th>N</th>" in render_blocks([row])
    assert "<mark" in render_blocks(place_blocks(parsed), Span(start, start + 9))


def test_what_is_written_today_is_read_as_it_is() -> None:
    parsed = ParsedDocument.from_json(FIRST)
    assert ParsedDocument.from_json(parsed.to_json()) == parsed
