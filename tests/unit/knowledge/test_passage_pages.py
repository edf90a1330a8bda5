"""Every character of a passage is cited with the page on which it stands, the first and the last of a page included."""

from collections.abc import Sequence
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.parsers.blocks import Block, ParsedDocument
from knowledge.selectors import ShownPassage
from knowledge.text.pipe_table import format_table

ID = UUID(int=0)


def shown(draft: ChunkDraft) -> ShownPassage:
    """A chunk as it is cited."""
    return ShownPassage(
        chunk_id=ID, knowledge_base_id=ID, document_id=ID, version_id=ID, position=draft.ordinal, title="", filename="", language="en",
        heading_path=draft.heading_path, text=draft.text, page=draft.page_from, start=draft.start, end=draft.end, is_current=True,
        page_starts=draft.page_starts,
    )  # fmt: skip


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def text_of(number: int, page: int, words: int) -> str:
    """Words that name their page, and stand nowhere else."""
    return " ".join(f"b{number}w{word}p{page}." for word in range(words))


def table_of(number: int, page: int, rows: int) -> str:
    """Rows whose cells name their page; of a long one the header is shown again where it is cut."""
    return format_table([["key", "value"], *[[f"b{number}r{row}p{page}.", "x"] for row in range(rows)]])


def blocks_of(pages: list[tuple[int, str, int]]) -> list[Block]:
    """pages: how many pages on from the one before, the kind of block, its length."""
    page, found = 1, []
    for number, (on, kind, length) in enumerate(pages):
        page += on
        text = table_of(number, page, length) if kind == "table" else text_of(number, page, length)
        found.append(Block(kind, text, level=1 if kind == "heading" else None, page=page))  # type: ignore[arg-type]
    return found


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from(["paragraph", "paragraph", "table", "heading"]), st.integers(1, 25)
        ),
        max_size=8,
    )
)
@example([(0, "paragraph", 2), (1, "paragraph", 2), (2, "paragraph", 2)])
@example([(0, "paragraph", 30), (0, "table", 60), (1, "paragraph", 3), (1, "paragraph", 3)])
def test_a_word_is_cited_with_its_page(pages: list[tuple[int, str, int]]) -> None:
    parsed = ParsedDocument(title=None, blocks=tuple(blocks_of(pages)))
    for draft in chunk_document(parsed, count_tokens=count_words, target_tokens=30, max_tokens=40):
        passage = shown(draft)
        for start, word in words_of(draft.text):
            page = int(word.rpartition("p")[2].rstrip("."))
            assert {passage.page_at(start), passage.page_at(start + len(word) - 1)} == {page}, word


def words_of(text: str) -> list[tuple[int, str]]:
    """Where the words that name a page stand."""
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        if word.startswith("b") and "p" in word:
            found.append((at, word))
        at += len(word)
    return found
