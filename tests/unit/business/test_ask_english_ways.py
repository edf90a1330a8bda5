"""The same question as different people ask it in English: each is read as the plain one; what is in doubt is handed on."""

import pytest

from agent.business.ask.english.numbers import in_digits
from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("above fifty thousand", "above 50000"),
        ("more than half a million", "more than 500000"),
        ("a dozen orders", "12 orders"),
        ("half a dozen", "6"),
        ("two dozen", "24"),
        ("two hundred and fifty", "250"),
        ("one million two hundred thousand", "1200000"),
        ("a quarter of a million", "250000"),
        ("twenty-five", "25"),
        ("3 hundred", "300"),
        ("ten", "ten"),
        ("a few thousand", "a few thousand"),
        ("several hundred", "several hundred"),
        ("one two", "one two"),
        ("Twenty One Pilots", "Twenty One Pilots"),
    ],
)
def test_spelled_numbers_are_digits_and_vague_ones_are_left(said: str, digits: str) -> None:
    assert in_digits(said) == digits


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("How many orders are above fifty thousand?", "How many orders are above 50000?"),
        ("Which customers have more than a dozen orders?", "Which customers have more than 12 orders?"),
        ("how much money came in during 2025", "What was revenue in 2025?"),
        ("In 2025, how much did we turn over?", "What was revenue in 2025?"),
        ("Our sales in 2025 amounted to how much?", "What was revenue in 2025?"),
        ("How many orders from 2025 ended up cancelled?", "How many orders were cancelled in 2025?"),
        ("By what percentage did revenue change from 2024 to 2025?", "percentage change in revenue from 2024 to 2025"),
        ("Q2 revenue this year against Q2 last year", "revenue in Q2 2026 vs Q2 2025"),
        ("2025 sales compared with those in 2024.", "revenue in 2025 vs 2024"),
        ("Compare revenue in 2025 with 2024.", "revenue in 2025 vs 2024"),
        (
            "Who is in charge of the project with the biggest budget?",
            "which project has the biggest budget, and who owns it",
        ),
        ("Which person manages the highest-budget project?", "which project has the highest budget, and who owns it"),
        (
            "what is our cheapest product and what does it sell for?",
            "what is our cheapest product and what does it cost?",
        ),
        (
            "How many projects have a budget of more than half a million?",
            "How many projects have a budget above 500000?",
        ),
        ("How many orders were placed exactly one year ago?", "How many orders were placed today a year ago?"),
        ("How much did we earn from January 1 2026 till now?", "revenue since January 1 2026"),
    ],
)
def test_people_ask_the_same_of_the_company_in_other_words(question: str, plain: str) -> None:
    assert sql(question) == sql(plain)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("How expensive is our most expensive product?", "which is the most expensive product"),
        (
            "For each category, what is the price of its most expensive item?",
            "highest price of product in each category",
        ),
        ("anything still active but with zero stock?", "What is active with zero stock?"),
        ("vendors supplying at least five products", "suppliers with at least 5 products"),
        ("Who is the youngest member of staff?", "Who is the youngest employee?"),
        ("products with a price from 10 to 15", "products costing between 10 and 15"),
        ("Which orders have yet to ship?", "Which orders have not been shipped?"),
        ("How many customers have yet to order?", "How many customers never ordered?"),
        (
            "late shipments (shipped after the required date) per carrier",
            "number of orders shipped after the required date per shipper",
        ),
        ("Phone numbers of all suppliers, with their names", "names and phone numbers of all suppliers"),
        ("What is the average order value in 1997?", "average revenue per order in 1997"),
    ],
)
def test_people_ask_the_same_of_a_trader_in_other_words(question: str, plain: str) -> None:
    assert food(question) == food(plain)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("best 4 genres by units sold, with the figures", "top 4 genres by units sold"),
        ("Show the 5 best-selling genres and how many tracks each sold.", "top 5 genres by units sold"),
        ("Who joined the company in 2003?", "Who was hired in 2003?"),
        ("Could you send me the titles of all albums?", "list the titles of all albums"),
        ("I need the largest invoice amount for every year since 2021.", "largest invoice amount per year since 2021"),
        ("What is the average track count of an album?", "average number of tracks per album"),
        (
            "How many invoices were there in 2025 and what was their total?",
            "number of invoices and total amount in 2025",
        ),
        ("How many tracks have an empty composer?", "How many tracks have no composer?"),
        (
            "sales from 15 March to the end of June 2025 - one figure is enough.",
            "sales from 15 March 2025 to 30 June 2025",
        ),
    ],
)
def test_people_ask_the_same_of_a_shop_in_other_words(question: str, plain: str) -> None:
    assert music(question) == music(plain)


@pytest.mark.parametrize(
    "question",
    [
        "orders above a few thousand",
        "How many orders are above fifty grand?",
        "How many orders are over 3 lakh?",
        "Revenue in 2025 including cancelled orders",
        "How many customers ordered for the first time in 2025?",
        "Which customers bought only KeelGate?",
        "What is the net revenue in 2025?",
        "How much does each employee earn?",
    ],
)
def test_what_would_change_the_meaning_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


def test_not_shipped_by_a_date_is_late_or_not_at_all() -> None:
    with pytest.raises(NotUnderstood):
        food("How many orders were not shipped by the required date?")
