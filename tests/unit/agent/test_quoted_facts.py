"""A judge's support counts as far as no fact of the sentence stands against the words that it quotes."""

from datetime import date

import pytest

from agent.attribution.quoted_facts import quoted_conflict

TODAY = date(2026, 11, 21)
RULES = """The probation period is three months. The notice period is two months.
Interns are paid monthly. The rule was approved on 12 May 2026 by Ana Lopez for the pump KG-400.
Visitors may enter the laboratory with a guide. Small parts cost 5 EUR, large parts 7 EUR, sets 9 EUR.
试用期为三个月，通知期为两个月。实习生按月领取工资。本规定于 2026 年 5 月 12 日由 Ana Lopez 批准。"""


@pytest.mark.parametrize(
    ("sentence", "quote", "what"),
    [
        ("The probation period is two months.", "The probation period is three months.", "facts"),
        ("试用期为两个月。", "试用期为三个月", "number"),
        ("The rule was approved on 3 June 2026.", "The rule was approved on 12 May 2026 by Ana Lopez", "date"),
        ("本规定于 2026 年 6 月 3 日获得批准。", "本规定于 2026 年 5 月 12 日由 Ana Lopez 批准", "date"),
        ("It was approved by Maria Vogt.", "The rule was approved on 12 May 2026 by Ana Lopez", "name"),
        ("本规定由 Maria Vogt 批准。", "本规定于 2026 年 5 月 12 日由 Ana Lopez 批准", "name"),
        ("The rule is for the pump KG-600.", "by Ana Lopez for the pump KG-400", "name"),
        ("Visitors never work in the laboratory with a guide.", "Visitors may enter the laboratory with a guide", "negation"),
        ("All interns are always paid monthly.", "Interns are paid monthly.", "quantifier"),
    ],
)  # fmt: skip
def test_another_fact_than_the_quoted_one_speaks_against_a_sentence(sentence: str, quote: str, what: str) -> None:
    assert quoted_conflict(sentence, quote, RULES, question="", today=TODAY) == what


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Probation lasts three months.", "The probation period is three months."),
        ("新员工有三个月的试用期。", "The probation period is three months."),
        ("Probation and notice together are five months.", "The probation period is three months. The notice period is two months."),
        ("It holds since May 2026.", "The rule was approved on 12 May 2026 by Ana Lopez"),
        ("Ana Lopez approved it.", "The rule was approved on 12 May 2026 by Ana Lopez"),
        ("With a guide, guests may go into the laboratory.", "Visitors may enter the laboratory with a guide"),
        ("Three parts of each kind cost 21 EUR together.", "Small parts cost 5 EUR, large parts 7 EUR, sets 9 EUR."),
    ],
)  # fmt: skip
def test_what_the_quotation_says_stands(sentence: str, quote: str) -> None:
    assert quoted_conflict(sentence, quote, RULES, question="", today=TODAY) == ""


def test_what_the_question_names_may_be_named() -> None:
    quote = "The rule was approved on 12 May 2026 by Ana Lopez"
    said = "For Northwind it was approved by Ana Lopez."
    assert quoted_conflict(said, quote, RULES, question="Who approved the rule for Northwind?", today=TODAY) == ""
