"""A bare number or name answers only where the passage says what it is the number or the name of."""

import pytest

from agent.extractive.candidates import term_ids
from agent.extractive.passages import Passage
from agent.extractive.questions import analyse
from agent.extractive.reader import read
from agent.grounding.answerability import AbstainReason, judge
from agent.grounding.topic_terms import is_value_of_something_else
from knowledge.embedding.base import Embedder
from tests.embedders import bundled

BANK = Passage(
    "bank",
    "商信银行成立于 1991 年，是越南第二大私营银行。商信银行的总经理为陈光明。商信银行的注册资本为 4,449 亿越南盾。",
    title="商信银行",
    dense=0.88,
    lexical=0.9,
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return bundled()


@pytest.mark.parametrize(
    ("left_out", "said"),
    [("商信银行的董事长是谁？", "商信银行的总经理是谁？"), ("商信银行的净利润是多少？", "商信银行的注册资本是多少？")],
)
def test_a_number_or_a_name_answers_only_where_it_is_said_of_what(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, left_out: str, said: str
) -> None:
    for rule, without in (
        ("answerability.THRESHOLD", 0.0),
        ("answerability.STANDS_OUT", 1.0),
        ("topic_terms.RARE", 0.0),
    ):
        monkeypatch.setattr(f"agent.grounding.{rule}", without)
    assert judge(read(left_out, [BANK], embedder)).doubt is AbstainReason.ANOTHER_MATTER
    assert judge(read(said, [BANK], embedder)).ok
    monkeypatch.setattr("agent.grounding.topic_terms.VALUES", frozenset())
    assert judge(read(left_out, [BANK], embedder)).ok


@pytest.mark.parametrize(
    ("question", "is_other"),
    [
        ("乙二醛的熔点是多少？", True),
        ("乙二醛的分子量是多少？", False),  # a character of it is said
        ("乙二醛是谁命名的？", True),
        ("乙二醛是谁合成的？", False),  # elsewhere in the passage
        ("乙二醛有什么用途？", False),  # no bare number or name would answer it
        ("乙二醛多少钱？", False),
        ("乙二醛的杂质数量", False),  # words to look up want a place to read
        ("乙二醛有哪些熔点？有多少已测定？", False),  # a list names itself
    ],
)
def test_a_bare_number_or_name_needs_the_word_that_tells_of_what(question: str, is_other: bool) -> None:
    sentence = "乙二醛的分子式为 C2H2O2。"
    passage = term_ids(f"{sentence}它由硝酸氧化乙醛合成。")
    assert is_value_of_something_else(analyse(question), passage, term_ids(sentence)) is is_other


@pytest.mark.parametrize(("question", "is_other"), [("分子馆的馆长是谁？", True), ("展厅的馆长是谁？", False)])
def test_a_character_of_a_name_hints_at_no_other_word(question: str, is_other: bool) -> None:
    said = term_ids("分子馆的展厅位于北京。")
    assert is_value_of_something_else(analyse(question), said, said) is is_other
