"""The other kind of what is asked about is no answer, in either language and script."""

import pytest

from agent.grounding.opposites import is_of_other_kind


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("Who is our external auditor?", "报告给内部审计师 Sofia Jansen。", True),
        ("Who is our external auditor?", "内部审计师与外部审计师每年会面一次。", False),
        ("兼职员工有几天年假？", "全职员工每年有 15 天年假。", True),
        ("兼職員工有幾天年假？", "全职员工每年有 15 天年假。", True),
        ("兼职和全职员工有几天年假？", "全职员工每年有 15 天年假。", False),
        ("How many days of unpaid leave are there?", "Paid leave is 30 days a year.", True),
        ("How many days of leave are there?", "Paid leave is 30 days a year.", False),
    ],
)
def test_a_sentence_about_the_other_side_of_a_pair(question: str, sentence: str, is_other: bool) -> None:
    assert is_of_other_kind(question, sentence) is is_other
