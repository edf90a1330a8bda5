"""The number of a heading says nothing of what stands below it."""

from knowledge.text.headings import remove_heading_number


def test_a_heading_without_its_number() -> None:
    for heading, said in (
        ("## 4. Rollback", "Rollback"),
        ("2.1 劳动合同", "劳动合同"),
        ("第三章 工作时间", "工作时间"),
        ("第三章工作时间", "工作时间"),
        ("四、回滚", "回滚"),
        ("3) Approval", "Approval"),
        ("1、概述", "概述"),
        ("Phase 2 begins", "Phase 2 begins"),
        ("2026 plan", "plan"),
        ("一线员工", "一线员工"),
        ("Rules", "Rules"),
        ("4.", "4."),
    ):
        assert remove_heading_number(heading) == said
