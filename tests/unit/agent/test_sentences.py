"""Sentences are what a reader would quote, and their spans cover the text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.text.sentences import MAX_LENGTH, split_sentences
from knowledge.text.passage_blocks import PassageBlock
from tests.evaluation_data import data_folder


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def test_sentences_end_where_a_reader_sees_them_end() -> None:
    for text, sentences in (
        (
            "Dr. Smith met J. K. Rowling in the U.S. The rest left.",
            ["Dr. Smith met J. K. Rowling in the U.S.", "The rest left."],
        ),
        (
            "Acme Inc. in Paris paid $3.5 million. It grew 2.4%.",
            ["Acme Inc. in Paris paid $3.5 million.", "It grew 2.4%."],
        ),
        ("See https://a.example/b.c?d=1. Next one!", ["See https://a.example/b.c?d=1.", "Next one!"]),
        ('"Really?" he said. Done.[1] More.', ['"Really?" he said.', "Done.[1]", "More."]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("《你好？》是一部2.5小时的电影！很长。", ["《你好？》是一部2.5小时的电影！", "很长。"]),
        ("他们问?是的!好。", ["他们问?", "是的!", "好。"]),
        ("一行没有\n写完的句子。Two lines\nof one sentence.", ["一行没有写完的句子。", "Two lines of one sentence."]),
        ("- one. And more\n- two\n3. three", ["one.", "And more", "two", "3. three"]),
        (" \n\t\n", []),
    ):
        assert texts(text) == sentences


def test_a_table_row_is_said_with_its_header() -> None:
    rows = split_sentences("| Grade | Days |\n|---|---|\n| A | 15 |\n| B | |\n\n| C | 9 |")
    assert [(row.kind, row.text) for row in rows] == [
        ("row", "Grade: A; Days: 15"),
        ("row", "Grade: B"),
        ("row", "C: 9"),  # of another table, which has no header: a key and its value
    ]


def test_structure_is_read_from_the_blocks_and_never_guessed() -> None:
    text = "Emergency line: 0571 555 0142\n\n4. Rollback\n\nIs there a trial?\n\n- a | b"
    told = (("paragraph", 29), ("heading", 42), ("paragraph", 61), ("paragraph", 70))
    starts = [0, *(end + 2 for _kind, end in told)]
    blocks = tuple(PassageBlock(kind, start, end) for (kind, end), start in zip(told, starts, strict=False))
    kinds = [(sentence.kind, sentence.text) for sentence in split_sentences(text, blocks)]
    assert kinds == [
        ("prose", "Emergency line: 0571 555 0142"),
        ("heading", "4. Rollback"),
        ("prose", "Is there a trial?"),
        ("prose", "- a | b"),
    ]


def test_an_item_is_quoted_without_its_bullet_and_with_its_number() -> None:
    text = "- Flights. By train\n  a) Hotels"
    blocks = (PassageBlock("item", 0, 19, lead=2), PassageBlock("item", 20, 31, depth=1, lead=2, number="a)"))
    assert [(item.text, item.kind) for item in split_sentences(text, blocks)] == [
        ("Flights.", "item"),
        ("By train", "item"),
        ("a) Hotels", "item"),
    ]


def test_the_sentences_of_one_item_the_items_of_one_list_and_the_rows_of_one_table_belong_together() -> None:
    text = "One. Two.\n\n- a. And b.\n- c\n\n1. d\n2. e\n\n| N | M |\n|---|---|\n| x | 1 |\n| y | 2 |\n\nLast."
    by_part: dict[int, list[str]] = {}
    for sentence in split_sentences(text):
        by_part.setdefault(sentence.part, []).append(sentence.text)
    assert list(by_part.values()) == [
        ["One.", "Two."],
        ["a.", "And b.", "c"],
        ["1. d", "2. e"],
        ["N: x; M: 1", "N: y; M: 2"],
        ["Last."],
    ]
    first, second, third = [sentence for sentence in split_sentences(text) if sentence.part == 2]
    assert first.block == second.block != third.block


def test_a_long_sentence_is_cut_at_a_comma() -> None:
    pieces = split_sentences("这是很长的一句话，" * 60)
    assert all(len(piece.text) <= MAX_LENGTH for piece in pieces)
    assert all(piece.text.endswith("，") for piece in pieces)


def assert_spans_cover(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        assert at <= sentence.start < sentence.end <= len(text)
        assert not any(character.isalnum() for character in text[at : sentence.start])
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end] != ""
        at = sentence.end
    assert not any(character.isalnum() for character in text[at:])


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="aB1. 。！?“”《》（）()|-#`\n，,;；中文 :/", max_size=400))
def test_the_spans_cover_what_can_be_read(text: str) -> None:
    assert_spans_cover(text.replace("```", "`"))  # what stands behind a code fence names the language of the code


@pytest.mark.data
def test_naughty_strings_have_sentences() -> None:
    for text in json.loads((data_folder("cases") / "naughty_strings.json").read_text()):
        assert_spans_cover(str(text))
