"""A question that names a document and a section of it is answered by how that section begins."""

from dataclasses import replace

import pytest

from agent.extractive.candidates import candidates_in, of_the_matter, shares_of, term_ids
from agent.extractive.passages import Passage
from agent.extractive.questions import analyse
from agent.extractive.reader import Reading
from agent.quotations.named_section import LONGEST, MOST, named_section, numbered_section
from knowledge.text.terms import term_id

RULES = Passage(
    "## 3. Releases\n\nReleases go out on Tuesdays.\n\n## 4. Rollback\n\nA release is rolled back when the error rate doubles.\n\n"
    "A manual one takes 15 minutes.\n\n## 5. Approval\n\nThe team approves.",
    title="Deployment Rules",
)
REGELN = Passage("## 四、回滚\n\n错误率翻倍时自动回滚。\n\n## 五、审批\n\n所属小组审批。", title="公司部署规范")
OWN_CHUNK = Passage("A release is rolled back at night.", title="Deployment Rules", heading_path=("4. Rollback",))
NOTES = Passage(
    "## 已修复\n\n跨午夜的行程不再重复计数。\n\n## 已知问题\n\n链接打不开。", title="舟迹 KeelTrack 5.4 发布说明"
)
OTHER = Passage("## Rollback\n\nCheques are never rolled back.", title="Expense Policy")


WHOLE = [
    "Releases go out on Tuesdays.",
    "A release is rolled back when the error rate doubles.",
    "A manual one takes 15 minutes.",
    "The team approves.",
]

COMMON = term_ids("what do does the in say about 对 有什么要求") | {
    term_id(each) for each in ("范对", "对回", "滚有", "有", "有哪", "哪些", "些已")
}


def found(question: str, *passages: Passage) -> list[str]:
    shares = {term: share / 10 if term in COMMON else share for term, share in shares_of(question).items()}
    asked, matter = analyse(question), of_the_matter(question, shares)
    measured = candidates_in(asked, passages, matter)
    return [each.text for each in named_section(Reading(asked, passages, measured, (), matter, matter, (), None))]


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        (
            "What do the deployment rules say about rollback?",
            (OTHER, RULES),
            ["A release is rolled back when the error rate doubles.", "A manual one takes 15 minutes."],
        ),
        ("What does “Deployment Rules” say about Approval?", (RULES,), ["The team approves."]),
        ("部署规范对回滚有什么要求？", (OTHER, REGELN), ["错误率翻倍时自动回滚。"]),
        ("Rollback in the deployment rules", (OWN_CHUNK,), ["A release is rolled back at night."]),
        ("KeelTrack 5.4 有哪些已知问题？", (OTHER, NOTES), ["链接打不开。"]),
        ("KeelTrack 5.5 有哪些已知问题？", (NOTES,), []),  # another version
        ("What do the deployment rules say about penguins?", (RULES,), []),
        ("What do the deployment rules say about rollback on Mars in 2019?", (RULES,), []),  # it asks for more
        ("Who approves a rollback by the deployment rules?", (RULES,), []),  # one fact: its sentence answers, or none
        ("What is rollback?", (OTHER,), []),  # no document is named
        ("What do the deployment rules say?", (RULES,), WHOLE),  # no section is: how the document begins
        ("The Deployment Rules?", (OTHER, RULES), WHOLE),
        ("部署规范讲了什么？", (REGELN,), ["错误率翻倍时自动回滚。", "所属小组审批。"]),
        ("What do the deployment rules say?", (replace(RULES, position=3),), []),  # its beginning was not found
        ("How do I write deployment rules?", (RULES,), []),
    ],
)
def test_the_section_that_is_named_answers(question: str, passages: tuple[Passage, ...], expected: list[str]) -> None:
    assert found(question, *passages) == expected


def test_a_word_that_no_document_says_is_asked_about_all_the_same() -> None:
    for said, is_answered in (
        ("Do penguins know the deployment rules?", False),
        ("The deployment rules", True),
        ("By the deployment rules, which colour has a rollback?", False),
        ("What do the deployment rules say about rollback?", True),
    ):
        known = dict.fromkeys(term_ids("deployment rules rollback") & shares_of(said).keys(), 0.25)
        measured = candidates_in(analyse(said), (RULES,), known)
        reading = Reading(analyse(said), (RULES,), measured, (), known, known, (), None)
        assert bool(named_section(reading)) is is_answered, said


def test_a_long_section_is_begun() -> None:
    text = "## Rollback\n\n" + " ".join(f"Rule {number} of a rollback holds for every team." for number in range(40))
    shown = found("What do the deployment rules say about rollback?", Passage(text, title="Deployment Rules"))
    assert len(shown) == MOST
    assert sum(map(len, shown)) <= LONGEST


CONTRACT = Passage(
    "1 Scope\n\n- 1.1 The provider stores the goods.\n\n3 Liability\n\n- 3.1 The provider pays up to 35,000 euros.\n"
    "- 3.2 The following is never covered:\n\n4 Termination\n\n- 4.1 A notice of 90 days, see clause 3.1.\n- 4.10 By letter.",
    title="Service agreement",
)
GUIDE = Passage("Boots are worn.", title="Site guide", heading_path=("3.2 Clothing",))
VERTRAG = Passage("## 第三条 付款\n\n货款在三十日内支付。\n\n## 第四条 交货\n\n货物送至仓库。", title="采购合同")


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("What does clause 3.1 say?", (CONTRACT,), ["3.1 The provider pays up to 35,000 euros."]),
        (
            "What is in section 3.2 of the service agreement?",
            (GUIDE, CONTRACT),
            ["3.2 The following is never covered:"],
        ),
        ("What does section 3.2 of the site guide say?", (CONTRACT, GUIDE), ["Boots are worn."]),
        ("Clause 4.1", (CONTRACT,), ["4.1 A notice of 90 days, see clause 3.1."]),
        ("第3.1条写了什么？", (CONTRACT,), ["3.1 The provider pays up to 35,000 euros."]),
        ("采购合同第三条说什么？", (VERTRAG,), ["货款在三十日内支付。"]),
        ("What does clause 3.3 say?", (CONTRACT,), []),
        ("What does section 3.2 say?", (CONTRACT, GUIDE), []),  # of which document?
        ("What does clause 3.1 of the lease say?", (CONTRACT,), []),  # another document
        ("When does clause 4.1 end?", (CONTRACT,), []),  # one fact
        ("What does clause 35 say?", (CONTRACT,), []),
    ],
)
def test_the_clause_of_a_number_answers(question: str, passages: tuple[Passage, ...], expected: list[str]) -> None:
    shares = shares_of(question)
    measured = candidates_in(analyse(question), passages, shares)
    reading = Reading(analyse(question), passages, measured, (), shares, shares, (), None)
    assert [each.text for each in numbered_section(reading)] == expected
