"""A definition is told where the statement follows it, and nowhere else."""

from pathlib import Path

import pytest

import demo
from business.logical_query.catalog import Catalog
from business.parsing.model.definitions import definitions_of
from business.parsing.model.free_form import definitions_in, fault_in
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
        told = definitions_of(sql, CATALOG, "en")
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
        told = definitions_of(sql, CATALOG, "en")
        assert REVENUE not in told, sql
        assert {OTHERWISE, FREE} <= set(told), sql


def test_a_figure_of_its_own_stands_on_no_definition() -> None:
    for sql in (
        "SELECT sum(quantity * amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')",
        "SELECT sum(CASE WHEN status = 'paid' THEN amount END) AS revenue FROM sales_order",
        "SELECT count(*) AS n FROM customer",
    ):
        told = definitions_of(sql, CATALOG, "en")
        assert FREE in told, sql
        assert REVENUE not in told, sql


def test_a_list_is_told_what_its_table_holds() -> None:
    told = definitions_of("SELECT name FROM customer", CATALOG, "zh")
    assert told == ("客户：签过至少一份合同的公司；按建立记录的日期统计。",)


def test_what_the_person_may_not_read_is_not_told() -> None:
    assert definitions_of("SELECT sum(amount) FROM sales_order", Catalog.of(SemanticLayer(name="empty")), "en") == (
        FREE,
    )


def test_what_joins_along_keys_or_cannot_multiply_is_run() -> None:
    for sql in (
        "SELECT DISTINCT b.name FROM project a JOIN project b ON b.owner_id = a.owner_id",  # one key on both sides
        "SELECT DISTINCT c.name FROM customer c JOIN customer d ON d.region = c.region",  # listed once each: nothing is counted
        (
            "WITH s AS (SELECT customer_id AS who, sum(amount) AS n FROM sales_order GROUP BY 1) "
            "SELECT c.name, s.n FROM customer c JOIN s ON s.who = c.id"
        ),
    ):
        fault = fault_in(sql, CATALOG)
        assert fault is None or not fault.is_wrong, sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM customer c JOIN customer d ON d.region = c.region",
        "SELECT count(*) FROM customer c JOIN LATERAL (SELECT region FROM customer) d ON d.region = c.region",
    ],
)
def test_what_multiplies_rows_that_are_counted_is_not(sql: str) -> None:
    fault = fault_in(sql, CATALOG)
    assert fault is not None
    assert fault.is_wrong


def test_a_statement_that_is_nested_without_end_is_left_to_the_guard() -> None:
    nested = f"SELECT {'(' * 3000}1{')' * 3000}"
    assert fault_in(nested, CATALOG) is None
    assert definitions_in(nested, CATALOG, "en") == ()
