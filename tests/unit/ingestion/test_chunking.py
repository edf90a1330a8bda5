"""Chunks follow the structure of the document."""

from collections.abc import Sequence

from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.parsers.blocks import Block, ParsedDocument, build_list_item
from knowledge.text.pipe_table import format_table


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def chunks_of(*blocks: Block, title: str | None = None, target: int = 30) -> list[ChunkDraft]:
    parsed = ParsedDocument(title=title, blocks=blocks)
    return chunk_document(parsed, count_tokens=count_words, target_tokens=target, max_tokens=2 * target)


def heading(text: str, level: int = 1) -> Block:
    return Block("heading", text, level=level)


def paragraph(words: int, page: int | None = None) -> Block:
    return Block("paragraph", " ".join(f"w{i}" for i in range(words)) + ".", page=page)


def test_short_document_is_one_chunk() -> None:
    chunks = chunks_of(heading("A"), paragraph(10), heading("B", 2), paragraph(10), heading("C"), paragraph(9))
    assert [chunk.heading_path for chunk in chunks] == [()]


def test_long_sections_are_not_mixed() -> None:
    chunks = chunks_of(heading("A"), paragraph(28), heading("B"), paragraph(28))
    assert [chunk.heading_path for chunk in chunks] == [("A",), ("B",)]


def test_small_sections_are_merged_under_their_parent() -> None:
    small = [block for name in "abc" for block in (heading(name, 2), paragraph(8))]
    chunks = chunks_of(heading("A"), *small, heading("B"), paragraph(30))
    assert [chunk.heading_path for chunk in chunks] == [("A",), ("B",)]


def test_heading_path_follows_the_levels_and_leaves_the_title_out() -> None:
    chunks = chunks_of(
        heading("Guide"), heading("Set up", 2), paragraph(29), heading("Disk", 3), paragraph(29), heading("Use", 2),
        paragraph(29), title="guide",
    )  # fmt: skip
    assert [chunk.heading_path for chunk in chunks] == [("Set up",), ("Set up", "Disk"), ("Use",)]


def test_cut_table_repeats_its_header_and_keeps_rows_whole() -> None:
    rows = [["City", "Limit"], *([f"city{i}", f"{i} yuan a night"] for i in range(40))]
    chunks = chunks_of(Block("table", format_table(rows), is_headed=True))
    assert len(chunks) > 3
    assert all(chunk.text.startswith("| City | Limit |\n| --- | --- |\n| city") for chunk in chunks)
    body = [line for chunk in chunks for line in chunk.text.split("\n")[2:]]
    assert body == format_table(rows).split("\n")[2:]
    assert chunks[1].start > chunks[0].start
    assert {chunk.kind for chunk in chunks} == {"table"}


def test_list_is_cut_between_items_and_a_nested_item_goes_with_the_one_above() -> None:
    items = [
        made
        for i in range(20)
        for made in (*build_list_item(f"item {i} with five words"), *build_list_item("and below it", depth=1))
    ]
    chunks = chunks_of(*items)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("- item") and chunk.text.endswith("below it") for chunk in chunks)
    assert {(block.kind, block.depth, block.lead) for chunk in chunks for block in chunk.blocks} == {
        ("item", 0, 2),
        ("item", 1, 4),
    }


def test_code_up_to_the_limit_is_whole_and_longer_code_is_cut_between_lines() -> None:
    whole = Block("code", "\n".join(f"key{i}: value" for i in range(25)), language="yaml")
    assert [chunk.text for chunk in chunks_of(paragraph(20), whole)][-1] == whole.text
    chunks = chunks_of(Block("code", "\n".join(f"key{i}: value" for i in range(80)), language="yaml"))
    assert len(chunks) > 2
    assert all(chunk.text.startswith("key") and chunk.text.endswith("value") for chunk in chunks)
    assert {(block.kind, block.language) for chunk in chunks for block in chunk.blocks} == {("code", "yaml")}


def test_a_passage_knows_its_blocks_and_a_cut_table_the_names_it_repeats() -> None:
    rows = [["City", "Limit"], *([f"city{i}", f"{i} yuan a night"] for i in range(40))]
    linked = Block("paragraph", "See the portal for more.", links=((8, 14, "https://portal.example"),))
    chunks = chunks_of(heading("A", 2), linked, Block("table", format_table(rows), is_headed=True))
    first, second = chunks[0], chunks[1]
    assert [(entry.kind, first.text[entry.start : entry.end]) for entry in first.blocks[:2]] == [
        ("heading", "A"),
        ("paragraph", "See the portal for more."),
    ]
    ((start, end, address),) = first.blocks[1].links
    assert (first.text[start:end], address) == ("portal", "https://portal.example")
    (table,) = second.blocks
    assert (table.start, table.end, table.repeated) == (0, len(second.text), len("| City | Limit |\n| --- | --- |\n"))
    assert table.names_in(second.text) == ["City", "Limit"]


def test_line_that_announces_a_list_goes_with_it() -> None:
    lead_in = Block("paragraph", "These are the options :")
    chunks = chunks_of(
        paragraph(26), lead_in, *(made for i in range(5) for made in build_list_item(f"option {i} is here"))
    )
    assert chunks[-1].text.startswith("These are the options")


def test_heading_stays_with_what_follows_it() -> None:
    chunks = chunks_of(heading("A"), heading("B", 2), paragraph(50), paragraph(50))
    assert chunks[0].text.startswith("A\n\nB\n\nw0")
    assert [chunk.heading_path for chunk in chunks] == [("A", "B"), ("A", "B")]


def test_text_without_any_break_is_cut_by_length() -> None:
    parsed = ParsedDocument(blocks=(Block("paragraph", "字" * 1000),))
    chunks = chunk_document(
        parsed, count_tokens=lambda texts: [len(text) for text in texts], target_tokens=270, max_tokens=100
    )
    assert all(len(chunk.text) <= 100 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == parsed.text


def test_chinese_prose_is_cut_after_sentences() -> None:
    parsed = ParsedDocument(blocks=(Block("paragraph", "员工每年有十天年假，须提前申请。" * 60),))
    chunks = chunk_document(
        parsed, count_tokens=lambda texts: [len(text) for text in texts], target_tokens=270, max_tokens=480
    )
    assert len(chunks) > 2
    assert all(chunk.text.endswith("。") for chunk in chunks)
