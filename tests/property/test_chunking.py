"""Whatever a document looks like, its chunks cover its text in order, whole, and within the size."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.parsers.blocks import Block, ParsedDocument, build_block, build_list_item
from knowledge.text.pipe_table import format_table


def count_words(texts: Sequence[str]) -> list[int]:
    """A tokenizer whose counts add up: words, and each Chinese character."""
    return [len(re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", text)) for text in texts]


words = st.lists(
    st.sampled_from(["alpha", "beta.", "gamma:", "更新。", "默认，", "策略", "x" * 40]), min_size=1, max_size=60
)
prose = words.map(" ".join)
rows = st.lists(st.lists(prose, min_size=2, max_size=3), min_size=2, max_size=12) | st.lists(
    st.lists(st.sampled_from(["alpha", "策略", "a | b", "", "x " * 70]), min_size=2, max_size=40),
    min_size=2,
    max_size=4,
)
pages = st.none() | st.integers(1, 9)


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    kind = draw(st.sampled_from(["heading", "paragraph", "item", "table", "code"]))
    page = draw(pages)
    if kind == "heading":
        return build_block("heading", draw(prose), level=draw(st.integers(1, 6)), page=page)
    if kind == "table":
        is_headed = draw(st.booleans())
        return build_block("table", format_table(draw(rows), is_headed=is_headed), is_headed=is_headed, page=page)
    if kind == "item":
        depths = draw(st.lists(st.integers(0, 2), min_size=1, max_size=9))
        return [made for depth in depths for made in build_list_item(draw(prose), depth=depth, page=page)]
    if kind == "code":
        return build_block("code", "\n".join(draw(st.lists(prose, max_size=9))), page=page)
    return build_block("paragraph", draw(prose), page=page)


documents = st.builds(
    lambda title, found: ParsedDocument(title=title, blocks=tuple(element for group in found for element in group)),
    st.none() | prose,
    st.lists(blocks(), max_size=25),
)


@given(documents)
def test_chunks_cover_the_text_in_order_and_whole_and_within_the_size(parsed: ParsedDocument) -> None:
    chunks = chunk_document(parsed, count_tokens=count_words, target_tokens=30, max_tokens=50)
    spans = [parsed.text[chunk.start : chunk.end] for chunk in chunks]
    assert "".join(spans) == parsed.text
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.start < chunk.end for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)
    assert max(count_words([chunk.text for chunk in chunks]), default=0) <= 50
    assert all(span.strip("\n").rstrip() in chunk.text for span, chunk in zip(spans, chunks, strict=True))
    check_blocks(parsed, chunks)


def check_blocks(parsed: ParsedDocument, chunks: Sequence[ChunkDraft]) -> None:
    """The blocks of a chunk are the whole chunk, and a table's header is one of the document's."""
    names = {block.text.split("\n", 1)[0] for block in parsed.blocks if block.is_headed}
    for chunk in chunks:
        end = 0
        for entry in chunk.blocks:
            assert end <= entry.start < entry.end <= len(chunk.text)
            assert not chunk.text[end : entry.start].strip()
            end = entry.end
            if entry.is_headed and not entry.repeated:
                assert chunk.text[entry.start : entry.end].split("\n", 1)[0] in names
        assert end == len(chunk.text)
