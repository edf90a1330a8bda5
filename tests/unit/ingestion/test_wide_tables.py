"""A table that is wider than a chunk: every piece says whose values it holds and what they are, and none mixes two rows."""

from collections.abc import Sequence

from agent.text.sentences import split_sentences
from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.parsers.blocks import Block, ParsedDocument
from knowledge.text.pipe_table import format_table

PEOPLE = ("Ana Lopez", "Bo Larsen", "Chen Wei")
COLUMNS = 60
TARGET, MAX = 40, 60


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def chunks_of(rows: list[list[str]]) -> list[ChunkDraft]:
    parsed = ParsedDocument(
        blocks=(Block("heading", "Staff", level=1), Block("table", format_table(rows), is_headed=True))
    )
    return chunk_document(parsed, count_tokens=count_words, target_tokens=TARGET, max_tokens=MAX)


def said_of(chunks: Sequence[ChunkDraft]) -> list[str]:
    return [
        sentence.text
        for chunk in chunks
        for sentence in split_sentences(chunk.text, chunk.blocks)
        if sentence.kind == "row"
    ]


def test_every_piece_of_a_wide_row_says_whose_it_is() -> None:
    header = ["Name", *(f"Field {n}" for n in range(COLUMNS))]
    chunks = chunks_of([header, *([person, *(f"{person[0]}{n}" for n in range(COLUMNS))] for person in PEOPLE)])
    said = said_of(chunks)
    for person in PEOPLE:
        for n in range(COLUMNS):
            holding = [item for item in said if f"Field {n}: {person[0]}{n}" in item.split("; ")]
            assert holding, (person, n)
            assert all(item.startswith(f"Name: {person};") for item in holding)
    assert not [item for item in said if sum(person in item for person in PEOPLE) > 1]
    assert max(count_words([chunk.text for chunk in chunks])) <= MAX


def test_rows_that_fit_beside_a_long_header_stand_under_all_of_it() -> None:
    header = ["Name", "Days of annual leave in the first year", "Days of annual leave in each year after that one"]
    chunks = chunks_of([header, *([person, "20", "25"] for person in PEOPLE * 9)])
    assert len(chunks) > 2
    expected = f"{header[0]}: Ana Lopez; {header[1]}: 20; {header[2]}: 25"
    assert said_of(chunks).count(expected) == 9
    assert len(said_of(chunks)) == 27


def test_one_long_row_among_short_ones_is_cut_under_its_header() -> None:
    short = [[person, "short", "3"] for person in PEOPLE]
    chunks = chunks_of([["Name", "Note", "Days"], *short, ["Dana Roy", "long " * 90, "7"], *short])
    said = said_of(chunks)
    assert "Name: Dana Roy; Days: 7" in said
    assert sum(item.startswith("Name: Dana Roy; Note: long") for item in said) >= 2
    assert said.count("Name: Chen Wei; Note: short; Days: 3") == 2
