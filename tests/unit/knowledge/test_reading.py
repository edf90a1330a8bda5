"""Blocks as HTML: what is highlighted is exactly what was cited, and nothing of a document becomes markup of the page."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from knowledge.page_images import find_cited_boxes
from knowledge.parsers.blocks import Block, ParsedDocument, build_list_item, extract_links, mark_link
from knowledge.rendering import (
    PART_LENGTH,
    Span,
    extract_excerpt,
    find_part_index,
    place_blocks,
    render_blocks,
    split_into_parts,
)

TABLE = "| Step | Minutes |\n| --- | --- |\n| Rinse | 5 |\n| Boil \\| cool | 12 |"
LIST = (
    *build_list_item("fill water", number="1."),
    *build_list_item("run program 3", number="2."),
    *build_list_item("twice", depth=1),
)
CODE = "echo 'a < b'\nexit 0"


def document(*blocks: Block, page_count: int | None = None) -> ParsedDocument:
    return ParsedDocument(blocks=blocks, page_count=page_count)


def table() -> Block:
    return Block("table", TABLE, is_headed=True)


def marked(html: str) -> list[str]:
    """What stands in <mark>, without tags."""
    return [unescape(found) for found in re.findall(r"<mark[^>]*>([^<]*)</mark>", html)]


def cite(parsed: ParsedDocument, words: str) -> Span:
    start = parsed.text.index(words)
    return Span(start, start + len(words))


def test_the_cited_words_are_marked() -> None:
    for blocks, words, expected in (
        ([Block("paragraph", "One. Two & two. Three.")], "Two & two.", ["Two & two."]),
        ([Block("heading", "Rolling updates", level=1)], "Rolling", ["Rolling"]),
        ([Block("paragraph", "first line\nsecond line")], "line\nsecond", ["line", "second"]),
        ([Block("code", CODE)], "echo 'a < b'", ["echo 'a < b'"]),
        ([Block("code", CODE)], CODE, ["echo 'a < b'", "exit 0"]),
        (LIST, "run program", ["run program"]),
        (LIST, "2. run program 3", ["2. run program 3"]),
        (LIST, "1. fill water\n2. run program 3\n  - twice", ["1. fill water", "2. run program 3", "twice"]),
        ([table()], "| Rinse | 5 |", ["Rinse", "5"]),
        ([table()], "Minutes", ["Minutes"]),
        ([table()], "Minutes |\n| ---", ["Minutes"]),
        ([table()], TABLE, ["Step", "Minutes", "Rinse", "5", "Boil | cool", "12"]),
    ):
        parsed = document(Block("paragraph", "Before."), *blocks, Block("paragraph", "After."))
        html = render_blocks(place_blocks(parsed), cite(parsed, words))
        assert marked(html) == expected
        assert html.count('id="cited"') == 1, blocks


def test_markup_in_a_document_is_shown_and_not_obeyed() -> None:
    for kind in ("paragraph", "heading", "item", "table", "code"):
        evil = (
            '<script>alert(1)</script><img src=x onerror="alert(1)"> ![i](http://evil.example/i.png) [a](javascript:x)'
        )
        text = {"table": f"| a |\n| --- |\n| {evil} |"}.get(kind, evil)
        html = render_blocks(place_blocks(document(Block(kind, text, level=1 if kind == "heading" else None))))
        assert "<script" not in html, kind
        assert "<img" not in html, kind
        assert "<a " not in html, kind
        assert "&lt;script&gt;" in html, kind


LINKED = Block(
    "paragraph", "See a b for c.", links=((4, 7, "https://a.example/?b=1&c"), (12, 13, "mailto:c@d.example"))
)
BLOCKS = st.lists(
    st.one_of(
        st.text("ab <&\n。", min_size=1).filter(str.strip).map(lambda t: Block("paragraph", t)),
        st.sampled_from([table(), *LIST, Block("code", CODE), LINKED]),
    ),
    min_size=1,
    max_size=4,
)


@given(BLOCKS, st.integers(0, 200), st.integers(1, 200))
def test_marks_add_nothing_to_the_page(blocks: list[Block], start: int, length: int) -> None:
    """Property: taking the marks out again gives the page without a citation, whatever was cited."""
    parsed = document(*blocks)
    cited = render_blocks(place_blocks(parsed), Span(start, start + length))
    assert re.sub(r"</?mark[^>]*>", "", cited) == render_blocks(place_blocks(parsed))


def test_an_excerpt_of_a_table_keeps_its_header_row_and_offsets() -> None:
    parsed = document(Block("paragraph", "Before."), table())
    row = cite(parsed, "| Boil \\| cool | 12 |")
    (piece,) = extract_excerpt(parsed, row)
    assert piece.block.text == "| Step | Minutes |\n| --- | --- |\n| Boil \\| cool | 12 |"
    assert marked(render_blocks([piece], row)) == ["Boil | cool", "12"]


def test_links_lead_where_they_led_and_lists_nest() -> None:
    html = render_blocks(place_blocks(document(LINKED, *LIST)))
    assert (
        'See <a href="https://a.example/?b=1&amp;c" rel="noopener noreferrer nofollow" target="_blank">a b</a> for'
        in html
    )
    assert html.endswith(
        '<ol><li class="numbered">1. fill water</li><li class="numbered">2. run program 3<ul><li>twice</li></ul></li></ol>'
    )


def test_an_address_is_kept_where_it_leads_to_a_page_a_file_or_a_person() -> None:
    for address, kept in (
        ("https://a.example/b c", "https://a.example/b%20c"),
        ("../forms/order.docx", "../forms/order.docx"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("javascript:alert(1)", None),
        (" java\nscript:alert(1)", None),
        ("data:text/html,x", None),
        ("//evil.example/x", None),
        ("#part", None),
        ("file:///etc/passwd", None),
    ):
        text, links = extract_links(mark_link("words", address))
        assert (text, [to for _start, _end, to in links]) == ("words", [kept] if kept else [])
        shown = render_blocks(place_blocks(document(Block("paragraph", text, links=links))))
        assert ("<a " in shown) is (kept is not None and ":" in kept), "what is relative to the file is no link of ours"


def test_a_long_text_comes_in_parts_and_a_character_is_found_in_its_part() -> None:
    words = "x" * (PART_LENGTH // 2)
    parsed = document(*(Block("paragraph", words) for _ in range(5)))
    found = split_into_parts(parsed)
    assert [len(part) for part in found] == [1, 1, 1, 1, 1]
    assert find_part_index(found, 0) == 0
    assert find_part_index(found, len(parsed.text) - 1) == 4
    assert split_into_parts(document()) == [[]]


def test_pages_of_a_pdf_are_its_parts_also_the_empty_ones() -> None:
    first = Block("paragraph", "one", page=1, boxes=((0.1, 0.1, 0.9, 0.12),))
    third = Block("paragraph", "three", page=3, boxes=((0.1, 0.1, 0.9, 0.12),))
    found = split_into_parts(document(first, third, page_count=3))
    assert [[block.block.text for block in part] for part in found] == [["one"], [], ["three"]]
    assert find_part_index(found, len("one\n\n") + 1) == 2


def rounded(box: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(side, 2) for side in box)


def test_boxes_are_those_of_the_cited_parts_of_lines() -> None:
    lines = tuple((0.1, 0.1 * i, 0.9, 0.1 * i + 0.05) for i in range(1, 5))
    block = Block("paragraph", "a" * 100 + "b" * 100 + "c" * 100 + "d" * 100, page=1, boxes=lines)
    parsed = document(block, page_count=1)
    assert [rounded(box) for box in find_cited_boxes(place_blocks(parsed), Span(120, 180))] == [(0.26, 0.2, 0.74, 0.25)]
    assert [rounded(box) for box in find_cited_boxes(place_blocks(parsed), Span(150, 250))] == [
        (0.5, 0.2, 0.9, 0.25),
        (0.1, 0.3, 0.5, 0.35),
    ]
    assert find_cited_boxes(place_blocks(parsed), Span(0, 400)) == list(lines)
    assert find_cited_boxes(place_blocks(parsed), None) == []
