"""A statement that a model wrote freely: what makes its number another one than the company's is found in its text."""

from business.parsing.model.free_form import definitions_in, fault_in
from tests.unit.business.parsing.test_words import LEXICON
from tests.unit.business.test_definitions import FREE, OTHERWISE, REVENUE

CATALOG = LEXICON.catalog
PAID = "status IN ('paid', 'open')"


def test_a_number_that_no_row_says_and_a_value_that_no_row_has_are_wrong() -> None:
    for sql in (
        "SELECT 42 AS revenue FROM customer LIMIT 1",
        "SELECT sum(CASE WHEN true THEN 100 END) FROM sales_order",
        "SELECT max(5) FROM customer",
        "SELECT count(*) FROM customer WHERE region LIKE 'Mars%'",
    ):
        fault = fault_in(sql, CATALOG)
        assert fault is not None, sql
        assert fault.is_wrong, sql


def test_what_reads_the_data_along_its_keys_is_not() -> None:
    for sql in (
        "SELECT 'all' AS label, count(*) FROM customer",
        "SELECT count(1) FROM customer",
        "SELECT 100.0 * count(*) FILTER (WHERE region = '欧洲') / count(*) FROM customer",
        "SELECT (SELECT max(budget) FROM project) + 1",
        "SELECT count(*) FROM customer WHERE region LIKE '华%'",
        "SELECT count(*) FROM customer WHERE region NOT LIKE 'Mars%'",
        "SELECT c.name, count(o.id) FROM customer c LEFT JOIN sales_order o ON o.customer_id = c.id GROUP BY c.id, c.name",
        "SELECT count(DISTINCT c.id) FROM customer c JOIN sales_order o ON o.customer_id = c.id",
        "SELECT c.region, count(*) FROM customer c JOIN sales_order o ON o.customer_id = c.id GROUP BY 1",
    ):
        assert fault_in(sql, CATALOG) is None


def test_a_sum_that_a_join_repeats_and_another_number_by_its_name_are_not_the_definition() -> None:
    for sql in (
        (
            f"SELECT sum(o.amount) FROM sales_order o JOIN customer c ON c.id = o.customer_id "
            f"JOIN sales_order o2 ON o2.customer_id = c.id WHERE o.{PAID}"
        ),
        f"SELECT sum(o.amount) FROM sales_order o JOIN sales_order o2 ON o2.customer_id = o.customer_id WHERE o.{PAID}",
        f"SELECT avg(amount) AS revenue FROM sales_order WHERE {PAID}",
        "SELECT quantity * 2 AS revenue FROM sales_order",
    ):
        fault = fault_in(sql, CATALOG)
        assert fault is not None, sql
        assert "sales_order.revenue is defined as" in fault.why, sql
        told = definitions_in(sql, CATALOG, "en")
        assert OTHERWISE in told, sql
        assert REVENUE not in told, sql


def test_things_that_a_join_counts_several_times_are_said_and_not_told_as_the_thing() -> None:
    sql = "SELECT count(c.id) AS customers FROM customer c JOIN sales_order o ON o.customer_id = c.id"
    fault = fault_in(sql, CATALOG)
    assert fault is not None
    why = "Rows of customer are counted or added several times by the join with sales_order."
    assert fault.why == why
    assert definitions_in(sql, CATALOG, "en") == (FREE, why)


def test_the_definition_itself_is_followed() -> None:
    assert definitions_in(f"SELECT sum(amount) AS revenue FROM sales_order WHERE {PAID}", CATALOG, "en") == (REVENUE,)
