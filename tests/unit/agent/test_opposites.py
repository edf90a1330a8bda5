"""The other kind of what is asked about is no answer, in either language and script."""

import pytest

from agent.answerability.opposites import is_of_other_kind


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("Who is our external auditor?", "报告给内部审计师 Sofia Jansen。", True),
        ("Who is our external auditor?", "内部审计师与外部审计师每年会面一次。", False),
        ("兼职员工有几天年假？", "全职员工每年有 15 天年假。", True),
        ("兼職員工有幾天年假？", "全职员工每年有 15 天年假。", True),
        ("兼职和全职员工有几天年假？", "全职员工每年有 15 天年假。", False),
        ("How many days of unpaid leave are there?", "Paid leave is 30 days a year.", True),
        ("周末加班要提前多久申请？", "须提前2个工作日申请。", False),
        ("When does the morning shift end?", "At 1 in the afternoon.", False),
        ("How many days of leave are there?", "Paid leave is 30 days a year.", False),
    ],
)
def test_a_sentence_about_the_other_side_of_a_pair(question: str, sentence: str, is_other: bool) -> None:
    assert is_of_other_kind(question, sentence) is is_other


@pytest.mark.parametrize(
    ("heading", "sentence", "is_other"),
    [
        ("Employees > Part-time", "They have 20 days of leave.", True),
        ("Employees > Full-time", "They have twice the days of part-time employees.", False),
    ],
)
def test_headings_say_of_which_side_a_sentence_is(heading: str, sentence: str, is_other: bool) -> None:
    assert is_of_other_kind("How many days of leave do full-time employees have?", sentence, heading) is is_other
