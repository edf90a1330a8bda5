"""Slips of the finger are mended; names, words that passages say and words of English are left alone."""

import pytest

from agent.passages.spelling import respelt


@pytest.mark.parametrize(
    ("question", "mended"),
    [
        ("paretnal leave for adoption, how long?", "parental leave for adoption, how long?"),
        ("How many holydays do I get?", "How many holidays do I get?"),
        ("reimbursment of hotel costs", "reimbursement of hotel costs"),
        ("How many days of annual leave are there?", ""),
        ("Who is Pieter Bakker?", ""),
        ("Where does navan.com/holydays lead?", ""),
        ("育儿假有几天？", ""),
    ],
)
def test_a_slip_of_the_finger_is_mended(question: str, mended: str) -> None:
    assert respelt(question, []) == mended


def test_a_word_that_a_passage_says_stays() -> None:
    assert respelt("who manages a deplyoment", ["A deplyoment is a unit of ours."]) == ""


@pytest.mark.parametrize(
    "word",
    [
        "summarise", "summarised", "summarising", "finalise", "authorise", "standardise", "anonymised", "instalments", "generalise",
        "capitalise", "virtualise", "paediatric", "anaemia", "unlabelled", "harbours", "summarize", "virtualization",
    ],
)  # fmt: skip
def test_a_word_stays_in_british_and_in_american_spelling(word: str) -> None:
    assert respelt(f"please {word} the rules", []) == ""
