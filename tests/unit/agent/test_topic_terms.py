"""What a question asks about besides names, numbers and time."""

import pytest

from agent.extractive.candidates import shares_of, term_ids
from agent.extractive.questions import analyse, is_of_other_days
from agent.grounding.topic_terms import core_of, said_of, topic_terms_in

CASH = "What was the cash position at the end of the third quarter of 2026?"


def test_names_numbers_and_time_are_not_the_matter() -> None:
    shares = shares_of(CASH)
    matter = topic_terms_in(analyse(CASH), shares)
    assert term_ids("cash position") <= matter.keys()
    assert not matter.keys() & term_ids("third quarter 2026")
    assert sum(matter.values()) == pytest.approx(1)
    beside, answers = (said_of(matter, term_ids(f"the {what} of 2026")) for what in ("median error", "cash position"))
    assert 0 < beside < answers < 1


def test_the_core_is_the_rarest_word_and_no_join_of_two() -> None:
    shares = {**shares_of(CASH), **dict.fromkeys(term_ids("cash"), 0.5)}
    assert core_of(analyse(CASH), topic_terms_in(analyse(CASH), shares)) in term_ids("cash")
    question = analyse("默认更新")
    [joined] = term_ids("认更") - term_ids("认") - term_ids("更")
    shares = {**shares_of(question.text), joined: 0.9}
    assert core_of(question, topic_terms_in(question, shares)) != joined


def test_a_question_of_names_alone_has_no_matter() -> None:
    question = analyse("Rotterdam 2026?")
    assert topic_terms_in(question, shares_of(question.text)) == {}
    assert core_of(question, {}) is None
    assert said_of({}, frozenset()) == 1


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("Who is on call this week?", "Two engineers are on call at any time.", True),
        ("Who is on call this week?", "Pieter is on call from 2026-11-16.", False),
        ("Who is on call this week?", "This week Pieter is on call.", False),
        ("Who is on call?", "Two engineers are on call at any time.", False),
        ("本周谁值班？", "任何时候都有两名工程师值班。", True),
        ("本周谁值班？", "11 月 16 日起由陈伟值班。", False),
    ],
)
def test_what_holds_in_general_does_not_say_what_holds_these_days(question: str, sentence: str, is_other: bool) -> None:
    assert is_of_other_days(analyse(question), sentence) is is_other
