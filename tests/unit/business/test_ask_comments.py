"""What people say of their own asking changes nothing; the same words said of the things asked about are not passed over."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql

_COUNT = "how many customers do we have in Norway"


@pytest.mark.parametrize(
    "question",
    [
        f"honestly, {_COUNT}?", f"btw {_COUNT}", f"um, basically {_COUNT}?", f"one more thing: {_COUNT}", f"roughly {_COUNT}?",
        f"{_COUNT}, all told?", f"{_COUNT} as things stand", f"{_COUNT}, just curious", f"{_COUNT}? asap",
        f"out of curiosity, {_COUNT} on our side?",
    ],
)  # fmt: skip
def test_a_comment_on_the_asking_is_passed_over(question: str) -> None:
    assert sql(question) == sql(_COUNT)


@pytest.mark.parametrize("aside", ["实际上", "说实话，", "简单来说", "基本上", "顺便问一下，"])
def test_a_chinese_comment_is_passed_over(aside: str) -> None:
    assert sql(f"{aside}挪威有多少客户") == sql("挪威有多少客户")


@pytest.mark.parametrize(
    "question",
    [
        "orders worth roughly 5000",
        "customers who bought one thing",
        "customers who ordered again",
        "orders shipped quickly",
        "how many of our employees are guys",
        "September and October revenue taken together",
    ],
)
def test_the_same_words_said_of_things_are_not_passed_over(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)
