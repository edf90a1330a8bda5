"""A definition is told where a statement follows it, and nowhere else; what makes a free statement's number another one is found."""

from pathlib import Path

import pytest

import demo
from business.logical_query.catalog import Catalog
from business.parsing.model.definitions import list_definition_remarks
from business.parsing.model.free_form import find_statement_fault, list_statement_remarks
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.yaml_io import read_layer

LAYER = read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text())
CATALOG = Catalog.of(LAYER)
REVENUE = "revenue: Order amounts without cancelled orders."
OTHERWISE = "This is not counted by the definition “revenue: Order amounts without cancelled orders”."
FREE = "Counted by a model's own query, not by a definition in the data."


def test_what_follows_the_definition_of_revenue() -> None:
    for sql in (
        "SELECT sum(amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')",
        "SELECT sum(o.amount) FROM public.sales_order AS o WHERE o.status IN ('open', 'paid') AND o.ordered_at > '2026-01-01'",
        "SELECT sum(amount) FROM sales_order WHERE status <> 'cancelled'",
        "SELECT region, SUM(o.amount) FROM sales_order o JOIN customer c ON c.id=customer_id WHERE o.status IN ('paid','open') GROUP BY 1",
    ):
        told = list_definition_remarks(sql, CATALOG, "en")
        assert REVENUE in told, sql
        assert not {OTHERWISE, FREE}.intersection(told), sql


def test_what_counts_without_the_filter_of_revenue_says_so() -> None:
    for sql in (
        "SELECT sum(amount) AS revenue FROM sales_order",
        "SELECT sum(amount) FROM sales_order WHERE status = 'paid'",
        "SELECT sum(amount) FROM sales_order WHERE status IN ('paid', 'open') OR true",
        "SELECT sum(o.amount) FROM sales_order o JOIN employee e ON true WHERE e.status IN ('paid', 'open')",
        "SELECT sum(amount) FROM sales_order WHERE status IN ('paid', 'open') UNION ALL SELECT sum(amount) FROM sales_order",
    ):
        told = list_definition_remarks(sql, CATALOG, "en")
        assert REVENUE not in told, sql
        assert {OTHERWISE, FREE} <= set(told), sql


def test_a_figure_of_its_own_stands_on_no_definition() -> None:
    for sql in (
        "SELECT sum(quantity * amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')",
        "SELECT sum(CASE WHEN status = 'paid' THEN amount END) AS revenue FROM sales_order",
        "SELECT count(*) AS n FROM customer",
    ):
        told = list_definition_remarks(sql, CATALOG, "en")
        assert FREE in told, sql
        assert REVENUE not in told, sql


def test_a_list_is_told_what_its_table_holds() -> None:
    told = list_definition_remarks("SELECT name FROM customer", CATALOG, "zh")
    assert told == ("客户：签过至少一份合同的公司；按建立记录的日期统计。",)


def test_what_the_person_may_not_read_is_not_told() -> None:
    assert list_definition_remarks(
        "SELECT sum(amount) FROM sales_order", Catalog.of(SemanticLayer(name="empty")), "en"
    ) == (FREE,)


def test_what_joins_along_keys_or_cannot_multiply_is_run() -> None:
    for sql in (
        "SELECT DISTINCT b.name FROM project a JOIN project b ON b.owner_id = a.owner_id",  # one key on both sides
        "SELECT DISTINCT c.name FROM customer c JOIN customer d ON d.region = c.region",  # listed once each: nothing is counted
        (
            "WITH s AS (SELECT customer_id AS who, sum(amount) AS n FROM sales_order GROUP BY 1) "
            "SELECT c.name, s.n FROM customer c JOIN s ON s.who = c.id"
        ),
    ):
        fault = find_statement_fault(sql, CATALOG)
        assert fault is None or not fault.is_wrong, sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM customer c JOIN customer d ON d.region = c.region",
        "SELECT count(*) FROM customer c JOIN LATERAL (SELECT region FROM customer) d ON d.region = c.region",
    ],
)
def test_what_multiplies_rows_that_are_counted_is_not(sql: str) -> None:
    fault = find_statement_fault(sql, CATALOG)
    assert fault is not None
    assert fault.is_wrong


def test_a_statement_that_is_nested_without_end_is_left_to_the_guard() -> None:
    nested = f"SELECT {'(' * 3000}1{')' * 3000}"
    assert find_statement_fault(nested, CATALOG) is None
    assert list_statement_remarks(nested, CATALOG, "en") == ()


PAID = "status IN ('paid', 'open')"


def test_a_number_that_no_row_says_and_a_value_that_no_row_has_are_wrong() -> None:
    for sql in (
        "SELECT 42 AS revenue FROM customer LIMIT 1",
        "SELECT sum(CASE WHEN true THEN 100 END) FROM sales_order",
        "SELECT max(5) FROM customer",
        "SELECT count(*) FROM customer WHERE region LIKE 'Mars%'",
    ):
        fault = find_statement_fault(sql, CATALOG)
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
        assert find_statement_fault(sql, CATALOG) is None


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
        fault = find_statement_fault(sql, CATALOG)
        assert fault is not None, sql
        assert "sales_order.revenue is defined as" in fault.why, sql
        told = list_statement_remarks(sql, CATALOG, "en")
        assert OTHERWISE in told, sql
        assert REVENUE not in told, sql


def test_things_that_a_join_counts_several_times_are_said_and_not_told_as_the_thing() -> None:
    sql = "SELECT count(c.id) AS customers FROM customer c JOIN sales_order o ON o.customer_id = c.id"
    fault = find_statement_fault(sql, CATALOG)
    assert fault is not None
    why = "Rows of customer are counted or added several times by the join with sales_order."
    assert fault.why == why
    assert list_statement_remarks(sql, CATALOG, "en") == (FREE, why)


def test_the_definition_itself_is_followed() -> None:
    assert list_statement_remarks(f"SELECT sum(amount) AS revenue FROM sales_order WHERE {PAID}", CATALOG, "en") == (
        REVENUE,
    )
