"""How a sentence says the words of a question."""

import pytest

from agent.extractive.candidates import shares_of
from agent.grounding.lexical_features import DETAILS, details

QUESTION = "Which pods does the controller delete before the upgrade?"


def said(question: str, sentence: str, text: str = "", heading: str = "") -> dict[str, float]:
    return details(question, shares_of(question), sentence, heading, text or sentence)


def test_every_detail_is_given_in_order() -> None:
    assert tuple(said(QUESTION, "The controller deletes old pods.")) == DETAILS


def test_words_side_by_side_count_more_than_the_same_words_apart() -> None:
    near = said("annual leave of employees", "Annual leave of employees is thirty days.")
    far = said(
        "annual leave of employees", "Leave the office by six, for the annual report says what all employees did."
    )
    assert near["pairs_in_sentence"] == near["order_in_passage"] == 1
    assert far["pairs_in_sentence"] < near["pairs_in_sentence"]
    assert far["order_in_passage"] < near["order_in_passage"]


def test_the_passage_may_say_together_what_the_sentence_does_not() -> None:
    found = said("annual leave", "It is thirty days.", "Annual leave is counted in days. It is thirty days.")
    assert (found["pairs_in_sentence"], found["pairs_in_passage"], found["together"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("question", "sentence", "differs", "unsaid"),
    [
        ("Who may not sign?", "Interns may sign.", 1, 1),
        ("Who may sign?", "Interns may not sign.", 1, 0),
        ("Who cannot sign?", "Interns never sign.", 0, 0),
        ("谁不能签字？", "实习生可以签字。", 1, 1),
        ("谁可以签字？", "经理可以签字。", 0, 0),
    ],
)
def test_a_denial_on_one_side_only_is_seen(question: str, sentence: str, differs: int, unsaid: int) -> None:
    found = said(question, sentence)
    assert (found["negation_differs"], found["negation_unsaid"]) == (differs, unsaid)


def test_the_opposite_of_an_asked_word_is_seen_unless_the_word_is_there_too() -> None:
    assert said("What happened after the war?", "Before the war trade grew.")["opposite"] == 1
    assert said("What happened after the war?", "Before the war and after it trade grew.")["opposite"] == 0
    known = said(
        "What happened after the war?", "Before the war trade grew.", "Before the war trade grew. After it, not."
    )
    assert (known["opposite"], known["opposite_in_passage"]) == (1, 0)


def test_a_question_without_neighbours_says_nothing_either_way() -> None:
    assert said("leave", "Leave is thirty days.")["pairs_in_sentence"] == 0.5
