"""What a question says twice is read once; what it says in other words than a filter's own is not dropped."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from tests.unit.business.test_ask import TODAY, sql
from tests.unit.business.test_ask_colloquial import NAMED
from tests.unit.business.test_ask_typed import food, music


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("爵士乐的歌累计带来了多少收入", ["sum(t0.unit_price * t0.quantity)", "IN ('Jazz')"]),
        ("our two best selling genres by number of tracks sold", ["sum(t0.quantity)", "FIRST 2 ROWS WITH TIES"]),
        ("countries with at least 5 customers, plus the count", ["GROUP BY t0.country HAVING count(*) >= 5"]),
        ("all invoices over $20 with the customer's name and the amount", ["t0.total > 20", "t1.last_name"]),
    ],
)
def test_a_figure_or_table_said_twice_is_read_once(question: str, parts: list[str]) -> None:
    found = music(question)
    assert [part for part in parts if part not in found] == [], found


def test_a_total_of_an_average_stays_unread() -> None:
    with pytest.raises(NotUnderstood):
        sql("total average order value")


def test_what_is_still_sold_is_a_filter_where_the_layer_has_one_and_unread_where_it_has_none() -> None:
    assert "t0.discontinued::text IN ('0')" in food("the 5 cheapest items that are still being sold")
    with pytest.raises(NotUnderstood):
        music("the 5 longest tracks that are still being sold")


def test_who_is_answered_with_a_person_beside_their_office() -> None:
    found = understand("who owns the project Arrival 12 and which office are they in?", NAMED, today=TODAY).sql
    assert 'SELECT DISTINCT t1.name, t1.office FROM "public"."project"' in found, found


def test_who_may_be_a_column_of_what_is_named() -> None:
    assert "t0.contact_name" in food("Who is our contact at Ernst Handel?")


def test_a_sum_of_money_is_in_the_currency_of_its_sign() -> None:
    assert "t0.amount > 80000" in sql("orders above ¥80,000 this year")
    with pytest.raises(NotUnderstood, match="CNY, and not USD"):
        sql("orders above $80,000 this year")


def test_a_figure_of_a_time_that_has_not_come_is_no_fact() -> None:
    assert "ordered_at >= '2026-01-01'" in sql("revenue in 2026")
    with pytest.raises(NotUnderstood, match="not come"):
        sql("revenue in 2027")


def test_whether_there_are_any_is_asked_of_whoever_the_conditions_are_about() -> None:
    assert "count(*) > 0" in sql("今年有没有招过高级工程师")


def test_what_freight_cost_is_not_what_customers_spent() -> None:
    assert "sum(t0.freight" in food("1997年的订单总共花了多少运费？")


@pytest.mark.parametrize(
    "question",
    [
        "how many different customers ordered per quarter this year",
        "number of customers with orders per quarter this year",
    ],
)
def test_who_ordered_in_a_period_is_counted_by_the_time_of_the_orders(question: str) -> None:
    found = sql(question)
    assert "date_trunc('quarter', t0.ordered_at)" in found, found
    assert "count(DISTINCT t1.id)" in found, found


def test_what_began_per_period_is_counted_by_the_time_that_is_named() -> None:
    found = sql("projects kicked off per quarter in 2026")
    assert "date_trunc('quarter', t0.started_on)" in found, found
    assert "count(*)" in found, found


def test_on_average_after_a_year_leaves_the_year_its_end() -> None:
    assert "< '2026-01-01'" in sql("revenue per order in 2025 on average")


def test_a_remark_may_ask_for_the_count_or_the_names() -> None:
    assert sql("Customers who have never ordered - just the count") == sql("How many customers have never ordered?")
    assert sql("Are there customers in China who have not ordered since August? Names please.") == sql(
        "list customers in China who have not ordered since August"
    )


def test_two_times_taken_together_are_not_told_one_by_one() -> None:
    with pytest.raises(NotUnderstood):
        sql("How many people were hired in September and October taken together")
