"""A definition is told where the statement follows it, and nowhere else."""

from pathlib import Path

import pytest

import demo
from agent.business.layer.yaml_io import read_layer
from agent.business.ways.definitions import definitions_of

MODELS = read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text()).semantic_models
REVENUE = "revenue: Order amounts without cancelled orders."
OTHERWISE = "This is not counted by the definition “revenue: Order amounts without cancelled orders”."
FREE = "Counted as a language model wrote it, by no definition of the data."


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')",
        "SELECT sum(o.amount) FROM public.sales_order AS o WHERE o.status IN ('open', 'paid') AND o.ordered_at > '2026-01-01'",
        "SELECT sum(amount) FILTER (WHERE status IN ('paid', 'open')) FROM sales_order",
        "SELECT sum(amount) FROM sales_order WHERE status <> 'cancelled'",
        "SELECT sum(amount) FROM sales_order WHERE status NOT IN ('cancelled')",
        "SELECT region, SUM(o.amount) FROM sales_order o JOIN customer c ON c.id=customer_id WHERE o.status IN ('paid','open') GROUP BY 1",
    ],
)
def test_what_follows_the_definition_of_revenue(sql: str) -> None:
    told = definitions_of(sql, MODELS, "en")
    assert REVENUE in told
    assert not {OTHERWISE, FREE}.intersection(told)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(amount) AS revenue FROM sales_order",
        "SELECT sum(amount) FROM sales_order WHERE status IN ('paid', 'open', 'cancelled')",
        "SELECT sum(amount) FROM sales_order WHERE status = 'paid'",
        "SELECT sum(amount) FROM sales_order WHERE status IN ('paid', 'open') OR true",
        "SELECT sum(amount) FROM sales_order WHERE NOT status IN ('paid', 'open')",
        "SELECT sum(o.amount) FROM sales_order o JOIN employee e ON true WHERE e.status IN ('paid', 'open')",
        "SELECT sum(amount) FROM sales_order WHERE id IN (SELECT id FROM sales_order WHERE status IN ('paid', 'open'))",
        "SELECT sum(amount) FROM sales_order WHERE status IN ('paid', 'open') UNION ALL SELECT sum(amount) FROM sales_order",
    ],
)
def test_what_counts_without_the_filter_of_revenue_says_so(sql: str) -> None:
    told = definitions_of(sql, MODELS, "en")
    assert REVENUE not in told
    assert {OTHERWISE, FREE} <= set(told)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(quantity * amount) AS revenue FROM sales_order WHERE status IN ('paid', 'open')",
        "SELECT sum(CASE WHEN status = 'paid' THEN amount END) AS revenue FROM sales_order",
        "SELECT sum(n) AS revenue FROM (SELECT amount AS n FROM sales_order) AS s",
        "SELECT count(*) AS n FROM customer",
    ],
)
def test_a_figure_of_its_own_stands_on_no_definition(sql: str) -> None:
    told = definitions_of(sql, MODELS, "en")
    assert FREE in told
    assert REVENUE not in told


def test_a_list_is_told_what_its_table_holds() -> None:
    told = definitions_of("SELECT name FROM customer", MODELS, "zh")
    assert told == ("客户：签过至少一份合同的公司；按建立记录的日期统计。",)


def test_what_the_person_may_not_read_is_not_told() -> None:
    assert definitions_of("SELECT sum(amount) FROM sales_order", (), "en") == (FREE,)
