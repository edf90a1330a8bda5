"""Families of English wordings, each by one form: read as the plain question; their neighbours, which mean something else, are not."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        # a count asked behind what is counted
        ("this year's cancelled orders: number?", "How many orders were cancelled this year?"),
        ("customers in Norway - how many?", "How many customers are in Norway?"),
        ("how many clients have we got over in Norway", "How many customers are in Norway?"),
        ("Please state the number of customers in Norway.", "How many customers are in Norway?"),
        # the first by a figure
        ("largest project by budget", "Which project has the largest budget?"),
        ("project with the top budget", "Which project has the highest budget?"),
        ("Which project has got the biggest budget?", "Which project has the biggest budget?"),
        ("Who's our biggest customer this year?", "customer with the highest revenue this year"),
        # for each
        ("How many customers are there, region by region?", "How many customers are there per region?"),
        ("Which category brought in how much in 2025?", "revenue per category in 2025"),
        # people
        ("number of hires, 2024-01-01 to 2025-06-30", "How many employees were hired from 2024-01-01 to 2025-06-30?"),
        ("Which employees started in October?", "Which employees were hired in October?"),
        ("our most recent hire", "most recently hired employee"),
        ("How many of our people joined more than 3 years ago?", "How many people joined before today 3 years ago?"),
        ("names of all Analysts in the Rotterdam office", "names of all Analysts in Rotterdam"),
        # from one day to another, and from one on
        ("how many orders from 1 to 15 November", "how many orders from 1 November 2026 to 15 November 2026"),
        ("how many orders November 3-9, 2025", "how many orders from 3 November 2025 to 9 November 2025"),
        ("revenue month by month from June 2026 onwards", "revenue per month since June 2026"),
        ("revenue by month from June 2026", "revenue per month since June 2026"),
        ("revenue per month from March 2026 to June 2026", "revenue per month between March 2026 and June 2026"),
        (
            "how many orders between 2026-10-01 and 2026-10-15, both days inclusive?",
            "how many orders between 2026-10-01 and 2026-10-15?",
        ),
        # in which order
        (
            "Which projects are active? Sort the names in alphabetical order.",
            "Which projects are active, in alphabetical order?",
        ),
        (
            "Which projects have a budget below 500000? Order the results from the lowest to the highest budget.",
            "Which projects have a budget below 500000, sorted by budget ascending?",
        ),
        ("list the projects, starting with the highest budget", "list the projects, sorted by budget descending"),
        # money
        ("What's the value of all open orders?", "total amount of open orders"),
        ("mean value per order in 2025", "average worth of orders in 2025"),
        ("What budget does an active project have on average?", "average budget of active projects"),
        ("What was the change in sales between 2024 and 2025?", "change in sales from 2024 to 2025"),
        ("Put 2024 and 2025 sales side by side", "compare 2024 and 2025 sales"),
    ],
)
def test_a_company_is_asked_in_other_words(question: str, plain: str) -> None:
    assert sql(question) == sql(plain)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("How many units of seafood are in stock?", "total units in stock of Seafood"),
        ("How much Seafood do we have in stock, in units?", "total units in stock of Seafood"),
        ("Which products have we run out of?", "Which products are out of stock?"),
        ("how much is Chai", "What does Chai cost?"),
        ("What do we sell Chai for?", "What does Chai cost?"),
        ("What do we charge for Chai?", "What does Chai cost?"),
        ("At what price is Chai listed?", "What does Chai cost?"),
        ("products in the 20 to 30 price range", "products costing between 20 and 30"),
        ("the three products that cost the least", "three cheapest products"),
        ("date of Ernst Handel's first order", "When was the first order of Ernst Handel?"),
        ("Which customers ordered more than 20 times?", "customers that have more than 20 orders"),
        ("Who supplies us with 4 products or more?", "Which suppliers have 4 or more products?"),
        ("For orders going to France, what does the freight add up to?", "total freight of orders going to France"),
        ("What did freight to France cost us altogether?", "total freight to France"),
        ("How long does it take on average to ship an order?", "average days between order and shipping"),
        ("How many orders are we still waiting to ship?", "How many orders are not shipped?"),
        ("French customers with contact name and title", "French customers with contact name and contact title"),
    ],
)
def test_a_trader_is_asked_in_other_words(question: str, plain: str) -> None:
    assert food(question) == food(plain)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("tracks w/o a composer, how many", "How many tracks have no composer?"),
        ("For how many tracks is the composer unknown?", "How many tracks have no composer?"),
        ("Are there more Rock or more Metal tracks?", "compare number of tracks of Rock and Metal"),
        ("How many Rock tracks and how many Metal tracks do we have?", "compare number of tracks of Rock and Metal"),
        ("In 2024, what was invoiced in Brazil in total?", "total amount of invoices in Brazil in 2024"),
        ("Which genres don't even have 20 tracks?", "Which genres have fewer than 20 tracks?"),
    ],
)
def test_a_shop_is_asked_in_other_words(question: str, plain: str) -> None:
    assert music(question) == music(plain)


@pytest.mark.parametrize(
    "question",
    [
        "KeelDock revenue minus KeelTrack revenue",  # not KeelDock without KeelTrack
        "who started this year",  # projects start too
        "What did we turn over in Atlantis?",
    ],
)
def test_a_neighbour_of_what_a_company_is_asked_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


def test_what_is_still_sold_is_no_quantity_of_what_was() -> None:
    assert "t0.discontinued::text IN ('0')" in food("How many products are still being sold?")


def test_an_average_value_of_orders_is_no_total() -> None:
    assert "sum(" not in sql("Average value of paid orders in 2025").lower()
