"""A question that names a document and a section of it is answered by how that section begins."""

import pytest

from agent.extractive.candidates import of_the_matter, shares_of, term_ids
from agent.extractive.passages import Passage
from agent.quotations.named_section import LONGEST, MOST, named_section
from knowledge.text.terms import term_id

RULES = Passage(
    "a",
    "## 3. Releases\n\nReleases go out on Tuesdays.\n\n## 4. Rollback\n\nA release is rolled back when the error rate doubles.\n\n"
    "A manual one takes 15 minutes.\n\n## 5. Approval\n\nThe team approves.",
    title="Deployment Rules",
)
REGELN = Passage("b", "## 四、回滚\n\n错误率翻倍时自动回滚。\n\n## 五、审批\n\n所属小组审批。", title="公司部署规范")
OWN_CHUNK = Passage("c", "A release is rolled back at night.", title="Deployment Rules", heading_path=("4. Rollback",))
OTHER = Passage("d", "## Rollback\n\nCheques are never rolled back.", title="Expense Policy")


COMMON = term_ids("what do does the in say about 对 有什么要求") | {term_id(each) for each in ("范对", "对回", "滚有")}


def found(question: str, *passages: Passage) -> list[str]:
    shares = {term: share / 10 if term in COMMON else share for term, share in shares_of(question).items()}
    return [each.text for each in named_section(question, passages, of_the_matter(question, shares))]


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
        ("What do the deployment rules say about penguins?", (RULES,), []),
        ("What do the deployment rules say about rollback on Mars in 2019?", (RULES,), []),  # it asks for more
        ("Who approves a rollback by the deployment rules?", (RULES,), []),  # one fact: its sentence answers, or none
        ("What is rollback?", (OTHER,), []),  # no document is named
        ("What do the deployment rules say?", (RULES,), []),  # no section is
    ],
)
def test_the_section_that_is_named_answers(question: str, passages: tuple[Passage, ...], expected: list[str]) -> None:
    assert found(question, *passages) == expected


def test_a_long_section_is_begun() -> None:
    text = "## Rollback\n\n" + " ".join(f"Rule {number} of a rollback holds for every team." for number in range(40))
    shown = found("What do the deployment rules say about rollback?", Passage("a", text, title="Deployment Rules"))
    assert len(shown) == MOST
    assert sum(map(len, shown)) <= LONGEST
