"""Questions taken apart into what documents say and what data say."""

import pytest

from agent.rule_routing.decomposition import Steps, steps_of


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
    ],
)
def test_a_question_of_one_step(question: str) -> None:
    assert steps_of(question) is None
