"""A sentence that only says that nothing is known is no answer; one that says something is."""

import pytest

from agent.attribution.no_answer import is_no_answer


@pytest.mark.parametrize(
    "sentence",
    [
        "I do not know.",
        "I don’t know the answer.",
        "I'm not sure.",
        "We do not have enough information.",
        "Sorry, I cannot find this.",
        "I am unable to answer this question from the evidence.",
        "The evidence does not say when the office opens.",
        "The provided documents do not contain information about this.",
        "There is no information about paternity leave.",
        "我不知道。",
        "抱歉，我无法回答这个问题。",
        "根据提供的资料中没有提到年假。",
        "證據未說明。",
        "没有相关信息。",
    ],
)
def test_a_sentence_that_only_says_that_nothing_is_known_is_no_answer(sentence: str) -> None:
    assert is_no_answer(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Employees have 30 days of annual leave.",
        "I do not know the date, but leave begins on 1 May.",
        "The documents do not need a signature.",
        "The cause is not known.",
        "No employee may enter the hall.",
        "There is no canteen on Sundays.",
        "The document must not be copied.",
        "员工不知道密码时请联系服务台。",
        "资料不得外传。",
        "没有食堂。",
    ],
)
def test_a_sentence_that_says_something_is_one(sentence: str) -> None:
    assert not is_no_answer(sentence)
