"""Whatever a document looks like, its chunks cover its text in order, whole, and within the size."""

import re
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from knowledge.ingestion.chunking import chunk_document
from knowledge.parsers.blocks import Block, ParsedDocument, block
from knowledge.text.pipe_table import pipe_table


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
    kind = draw(st.sampled_from(["heading", "paragraph", "list", "table", "code"]))
    page = draw(pages)
    if kind == "heading":
        return block("heading", draw(prose), level=draw(st.integers(1, 6)), page=page)
    if kind == "table":
        return block("table", pipe_table(draw(rows)), page=page)
    if kind == "list":
        return block(
            "list", "\n".join(f"- {item}" for item in draw(st.lists(prose, min_size=1, max_size=9))), page=page
        )
    if kind == "code":
        return block("code", "```\n" + "\n".join(draw(st.lists(prose, max_size=9))) + "\n```", page=page)
    return block("paragraph", draw(prose), page=page)


documents = st.builds(
    lambda title, found: ParsedDocument(title=title, blocks=tuple(each for group in found for each in group)),
    st.none() | prose,
    st.lists(blocks(), max_size=25),
)


@given(documents)
def test_spans_follow_each_other_and_cover_the_text(parsed: ParsedDocument) -> None:
    chunks = chunk_document(parsed, count_tokens=count_words, target_tokens=30, max_tokens=50)
    assert "".join(parsed.text[chunk.start : chunk.end] for chunk in chunks) == parsed.text
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.start < chunk.end for chunk in chunks)


# one line that fills a chunk to the last token, before the fence that closes it there
FULL = ParsedDocument(
    title=None,
    blocks=(*block("paragraph", "alpha"), *block("code", f"```\n{'alpha ' * 14}{'更新。 ' * 11}策略\n```")),
)


@given(documents)
@example(FULL)
def test_no_chunk_is_blank_or_longer_than_the_limit(parsed: ParsedDocument) -> None:
    chunks = chunk_document(parsed, count_tokens=count_words, target_tokens=30, max_tokens=50)
    assert all(chunk.text.strip() for chunk in chunks)
    assert max(count_words([chunk.text for chunk in chunks]), default=0) <= 50


@given(documents)
def test_every_word_of_the_text_is_in_a_chunk(parsed: ParsedDocument) -> None:
    chunks = chunk_document(parsed, count_tokens=count_words, target_tokens=30, max_tokens=50)
    for chunk in chunks:
        span = parsed.text[chunk.start : chunk.end].strip("\n").rstrip()
        assert span in chunk.text
