"""A sentence that only says that nothing is known is no answer; one that says something is."""

from agent.attribution.sentences import is_no_answer


def test_a_sentence_that_only_says_that_nothing_is_known_is_no_answer() -> None:
    for sentence in (
        "I do not know.",
        "I'm not sure.",
        "We do not have enough information.",
        "I am unable to answer this question from the evidence.",
        "The evidence does not say when the office opens.",
        "There is no information about paternity leave.",
        "抱歉，我无法回答这个问题。",
        "根据提供的资料中没有提到年假。",
        "没有相关信息。",
    ):
        assert is_no_answer(sentence)


def test_a_sentence_that_says_something_is_one() -> None:
    for sentence in (
        "Employees have 30 days of annual leave.",
        "I do not know the date, but leave begins on 1 May.",
        "The documents do not need a signature.",
        "No employee may enter the hall.",
        "There is no canteen on Sundays.",
        "员工不知道密码时请联系服务台。",
        "没有食堂。",
    ):
        assert not is_no_answer(sentence)
