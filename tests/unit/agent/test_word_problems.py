"""Questions that hold all of their numbers, and those that only look so."""

import pytest

from agent.arithmetic.evaluate import evaluate, show
from agent.arithmetic.word_problems import expression_of


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("6,000 比 4,800 高百分之几？", "25"),
        ("4,800 元比 6,000 元便宜百分之几", "20"),
        ("从 120 万涨到 150 万，涨了百分之几？", "25"),
        ("300 是 1200 的百分之几", "25"),
        ("By how many percent is 60 lower than 80?", "25"),
        ("What percentage of 400 is 30?", "7.5"),
        ("What is the percentage increase from 80 to 100?", "25"),
        ("How many days are 90 pages at 15 pages a day?", "6"),
        ("How long do 1.5 million letters take at 300,000 letters per 2 hours?", "10"),
        ("每小时处理 5000 条，12 万条需要多久？", "24"),
    ],
)
def test_a_word_problem_is_worked_out(question: str, value: str) -> None:
    assert show(evaluate(expression_of(question))) == value


@pytest.mark.parametrize(
    "question",
    [
        "How many people are on call?",
        "How much leave does someone with 10 years get at 5 days per year?",
        "2026 年比 2025 年收入高百分之几？请按 12 个月算",
        "What percentage of salary is paid after 10 days of sick leave?",
        "",
    ],
)
def test_what_lacks_a_number_or_has_one_too_many_is_none(question: str) -> None:
    assert expression_of(question) == ""
