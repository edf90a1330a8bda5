"""A judge's support counts as far as no fact of the sentence stands against the words that it quotes."""

from datetime import date

import pytest

from agent.attribution.facts import find_quote_conflict
from agent.attribution.judge import contains_quote, contains_quote_parts

TODAY = date(2026, 11, 21)
RULES = """The probation period is three months. The notice period is two months.
Interns are paid monthly. The rule was approved on 12 May 2026 by Ana Lopez for the pump KG-400.
Visitors may enter the laboratory with a guide. Small parts cost 5 EUR, large parts 7 EUR, sets 9 EUR.
试用期为三个月，通知期为两个月。实习生按月领取工资。本规定于 2026 年 5 月 12 日由 Ana Lopez 批准。"""


@pytest.mark.parametrize(
    ("sentence", "quote", "what"),
    [
        ("The probation period is two months.", "The probation period is three months.", "facts"),
        ("试用期为两个月。", "试用期为三个月", "facts"),
        ("The rule was approved on 3 June 2026.", "The rule was approved on 12 May 2026 by Ana Lopez", "date"),
        ("本规定由 Maria Vogt 批准。", "本规定于 2026 年 5 月 12 日由 Ana Lopez 批准", "name"),
        ("The rule is for the pump KG-600.", "by Ana Lopez for the pump KG-400", "name"),
        ("Visitors never work in the laboratory with a guide.", "Visitors may enter the laboratory with a guide", "negation"),
        ("All interns are always paid monthly.", "Interns are paid monthly.", "quantifier"),
        ("From 100 pumps on the discount rises to 18%.", "100 台以上可享 15% 折扣", "number"),
        ("The fault affected 1,284 pumps at 9 customers.", "受影响的水泵共 1,284 台，涉及 7 家客户", "number"),
    ],
)  # fmt: skip
def test_another_fact_than_the_quoted_one_speaks_against_a_sentence(sentence: str, quote: str, what: str) -> None:
    assert find_quote_conflict(sentence, quote, RULES, question="", today=TODAY) == what


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Probation lasts three months.", "The probation period is three months."),
        ("新员工有三个月的试用期。", "The probation period is three months."),
        ("Probation and notice together are five months.", "The probation period is three months. The notice period is two months."),
        ("It holds since May 2026.", "The rule was approved on 12 May 2026 by Ana Lopez"),
        ("Ana Lopez approved it.", "The rule was approved on 12 May 2026 by Ana Lopez"),
        ("With a guide, guests may go into the laboratory.", "Visitors may enter the laboratory with a guide"),
        ("For 60 pumps the discount is 10%, because it starts at 50.", "一次订购 50 台以上可享 10% 折扣"),
        ("There are 96 pumps: 48 in Oslo, and 24 each in Rome and Bonn.", "Oslo: 48; Rome: 24; Bonn: 24"),
        ("Four parts are in stock: bolts, nuts, rings and pins, of which bolts cost 5 EUR.", "bolts 5 EUR; nuts, rings and pins 7 EUR"),
    ],
)  # fmt: skip
def test_what_the_quotation_says_stands(sentence: str, quote: str) -> None:
    assert find_quote_conflict(sentence, quote, RULES, question="", today=TODAY) == ""


def test_what_the_question_names_may_be_named() -> None:
    quote = "The rule was approved on 12 May 2026 by Ana Lopez"
    said = "For Northwind it was approved by Ana Lopez."
    assert find_quote_conflict(said, quote, RULES, question="Who approved the rule for Northwind?", today=TODAY) == ""


def test_a_comma_or_a_number_behind_a_quotation_is_of_the_text() -> None:
    text = "一次订购 50 台以上可享 10% 折扣，100 台以上可享 15% 折扣。It costs 1,250.5 EUR, 3 more are free."
    assert contains_quote("一次订购 50 台以上可享 10% 折扣", text)
    assert contains_quote("It costs 1,250.5 EUR", text)
    assert not contains_quote("It costs 1,250", text)
    assert not contains_quote("250.5 EUR", text)


def test_several_places_may_decide_together_and_each_must_stand() -> None:
    text = "The key was static. It was found by a guest.\n\nThe laptop had no scanner."
    assert contains_quote_parts("The key was static. … The laptop had no scanner.", text)
    assert contains_quote_parts("The key was static...The laptop had no scanner", text)
    assert not contains_quote_parts("The key was static. … The laptop had a scanner.", text)
    assert not contains_quote_parts("…", text)


def test_a_quotation_is_of_whole_words_and_numbers() -> None:
    for quote, text, stands in (
        ("30", "This was decided in 2030.", False),
        ("30", "It costs 1.30 euros.", False),
        ("30", "It costs 30,000 euros.", False),
        ("30", "They have 30.", True),
        ("leave", "Sleeves are long.", False),
        ("30天", "每年有130天。", False),
        ("三十天", "每年有三十天年假。", True),
        ("“30 Days”", "They have 30\ndays of leave.", True),
    ):
        assert contains_quote(quote, text) is stands
