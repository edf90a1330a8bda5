"""Which words of a question a text of the other language says."""

import pytest

from agent.extractive.candidates import term_ids
from agent.extractive.questions import analyse
from agent.extractive.term_bridge import TermBridge
from tests.dictionaries import prepared


def bridge(question: str) -> TermBridge:
    return TermBridge(analyse(question), prepared())


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("How many days of annual leave do we have?", "每年有十天年假。", {"annual", "leav"}),
        ("What is the recovery time objective?", "恢复时间目标为 15 分钟。", {"recoveri", "time", "object"}),
        ("What is the delivery time of the KG-400?", "订货号: KG-400; 交货期: 6 周", {"deliveri", "time", "kg", "400"}),
        ("年假有几天？", "Employees have ten days of annual leave.", {"年假"}),
        ("中位数是多少天？", "The median was 47 days.", {"中位数", "天"}),
        ("数据库切换的目标", "The database, and its target for switching over.", {"数据库", "切换", "目标"}),
    ],
)
def test_word_is_said_where_a_translation_stands(question: str, text: str, said: set[str]) -> None:
    assert said <= bridge(question).said(text)


@pytest.mark.parametrize(
    ("question", "text", "unsaid"),
    [
        ("What is the euro price of the KG-400?", "订货号: KG-400; 交货期: 6 周", {"euro", "price"}),
        ("What discount do charities get?", "数量折扣按合同车辆数计算。", {"chariti"}),
        ("内存的上限是多少？", "Valkey is the cache.", {"内存", "上限"}),
        ("年假有几天？", "Leave the building after ten days.", {"年假"}),
    ],
)
def test_word_is_unsaid_where_no_translation_stands(question: str, text: str, unsaid: set[str]) -> None:
    asked = bridge(question)
    assert unsaid <= set(asked.unsaid(asked.says(text)))


@pytest.mark.parametrize(
    ("question", "text"),
    [("How long is the annual leave?", "Annual leave takes ten days."), ("年假有几天？", "年假有十天。")],
)
def test_text_in_the_language_of_the_question_says_its_own_terms(question: str, text: str) -> None:
    assert bridge(question).says(text) == term_ids(text)


def test_words_that_only_ask_are_none_of_the_question() -> None:
    assert set(bridge("我们公司一般有几天年假？").weights) == {"有", "年假"}
    assert set(bridge("How many days do we get?").weights) == {"day"}


def test_share_weighs_words_by_rarity() -> None:
    asked = bridge("What is the target of the database?")
    assert 1 > asked.share(asked.says("数据库")) > asked.share(asked.says("目标")) > 0
    assert asked.share(frozenset()) == 0
    assert bridge("How long is it?").share(frozenset()) == 1
