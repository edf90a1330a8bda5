"""Slips of the finger are mended; names, words that passages say and words of English are left alone."""

import pytest

from agent.passages.spelling import correct_spelling


def test_a_slip_of_the_finger_is_mended() -> None:
    for question, mended in (
        ("paretnal leave for adoption, how long?", "parental leave for adoption, how long?"),
        ("How many holydays do I get?", "How many holidays do I get?"),
        ("How many days of annual leave are there?", ""),
        ("Who is Pieter Bakker?", ""),
        ("Where does navan.com/holydays lead?", ""),
    ):
        assert correct_spelling(question, []) == mended


def test_a_word_that_a_passage_says_stays() -> None:
    assert correct_spelling("who manages a deplyoment", ["A deplyoment is a unit of ours."]) == ""


@pytest.mark.parametrize(
    "word",
    [
        "summarise", "summarising", "instalments",
        "capitalise", "paediatric", "unlabelled", "summarize",
    ],
)  # fmt: skip
def test_a_word_stays_in_british_and_in_american_spelling(word: str) -> None:
    assert correct_spelling(f"please {word} the rules", []) == ""
