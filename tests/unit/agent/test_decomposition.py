"""Questions taken apart into what documents say and what data say."""

import pytest

from agent.rule_routing.decomposition import Steps, halves_of, steps_of


@pytest.mark.parametrize(
    ("question", "documents", "data", "points_back"),
    [
        ("根据部署文档的说明，目前支持哪些环境？这些环境中有多少正在使用？",
         "根据部署文档的说明，目前支持哪些环境？", "这些环境中有多少正在使用？", True),
        ("结合员工手册和人员表，新员工的试用期是多久？目前有多少人在试用期？",
         "结合员工手册和人员表，新员工的试用期是多久？", "目前有多少人在试用期？", False),
        ("Which environments do the deployment rules support, and how many of these environments are in use?",
         "Which environments do the deployment rules support?", "how many of these environments are in use?", True),
        ("How long is the probation period according to the handbook? How many employees are on probation?",
         "How long is the probation period according to the handbook?", "How many employees are on probation?", False),
    ],
)  # fmt: skip
def test_a_question_of_two_steps(question: str, documents: str, data: str, points_back: bool) -> None:
    steps = steps_of(question)
    assert steps == Steps(documents, data)
    assert steps.points_back is points_back


@pytest.mark.parametrize(
    "question",
    [
        "上个月新增了多少客户？",
        "How many customers did we win last month?",
        "如何配置超时时间？",
        "",
        "How many orders? Why?",
        "In Europe, how many customers do we have?",
        "Excluding people who left, how many employees are there?",
        "When Europe is excluded, how many customers do we have?",
        "除去离职的，现在有多少人？",
        "预算超过20万的，目前有多少个项目？",
    ],
)
def test_a_question_of_one_step(question: str) -> None:
    assert steps_of(question) is None


@pytest.mark.parametrize("is_first", [True, False])
def test_a_half_that_the_data_read_is_asked_of_them_wherever_it_stands(is_first: bool) -> None:
    parts = ["who approves a discount", "how many orders were cancelled"]
    question = " and ".join(reversed(parts) if is_first else parts) + "?"
    assert halves_of(question, lambda part: "orders" in part) == Steps(f"{parts[0]}?", f"{parts[1]}?")


def test_a_number_with_a_comma_is_one_part() -> None:
    assert halves_of("Which projects have a budget below 100,000?", lambda part: "projects" in part) is None


@pytest.mark.parametrize("read", [set(), {"谁审批折扣", "今年有几张订单取消"}])
def test_halves_that_are_of_one_kind_are_one_question(read: set[str]) -> None:
    assert halves_of("谁审批折扣，今年有几张订单取消？", read.__contains__) is None


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("In Germany, how many customers do we have?", "how many customers"),
        ("How many customers do we have, in Germany?", "how many customers"),
        ("去年，新增客户有多少？", "新增客户"),
        ("Excluding people who left in spring, how many employees are there?", "how many employees"),
    ],
)
def test_a_condition_set_off_by_a_comma_is_no_question_of_its_own(question: str, read: str) -> None:
    assert halves_of(question, lambda part: read in part.lower()) is None
