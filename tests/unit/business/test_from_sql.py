"""A statement as the logical query that says the same; and what none can say is not bent."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import demo
from business.evaluation.from_sql.sources import NotConverted
from business.evaluation.from_sql.statement import query_of
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import LogicalQuery
from business.semantic_layer.yaml_io import read_layer

CATALOG = Catalog.of(read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text()))
TODAY = date(2026, 11, 21)
COUNT = {"metrics": [{"name": "customer", "agg": "count"}]}


def said(sql: str) -> dict[str, Any]:
    found: dict[str, Any] = query_of(sql, CATALOG, TODAY).model_dump(mode="json", exclude_defaults=True)
    return found


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM customer", COUNT),
        (
            "SELECT count(*) FROM customer WHERE region = '欧洲' AND created_on >= DATE '2025-01-01' AND created_on < DATE '2026-01-01'",
            COUNT
            | {
                "filters": [{"field": "customer.region", "op": "=", "values": ["欧洲"]}],
                "times": [{"field": "customer.created_on", "start": "2025-01-01", "end": "2026-01-01"}],
            },
        ),
        (
            "SELECT count(*) FROM customer WHERE extract(year FROM created_on) = 2025",
            COUNT | {"times": [{"field": "customer.created_on", "start": "2025-01-01", "end": "2026-01-01"}]},
        ),
        (
            "SELECT count(*) FROM customer WHERE created_on >= current_date - INTERVAL '1 month'",
            COUNT | {"times": [{"field": "customer.created_on", "start": "2026-10-21"}]},
        ),
        (
            "SELECT count(*) FROM customer c WHERE NOT EXISTS (SELECT 1 FROM sales_order o WHERE o.customer_id = c.id)",
            COUNT | {"related": [{"model": "sales_order", "is_not": True}]},
        ),
        (
            "SELECT count(*) FROM customer WHERE id NOT IN (SELECT customer_id FROM sales_order)",
            COUNT | {"related": [{"model": "sales_order", "is_not": True}]},
        ),
        (
            "SELECT c.region, count(*) n FROM customer c GROUP BY 1 HAVING count(*) > 3 ORDER BY n DESC LIMIT 2",
            COUNT
            | {
                "dimensions": [{"name": "customer.region"}],
                "having": [{"op": ">", "value": 3.0}],
                "ranking": {"by": "0", "limit": 2, "ties": False},
            },
        ),
        (
            "SELECT 100.0 * count(*) FILTER (WHERE region = '欧洲') / count(*) FROM customer",
            None,  # not rounded: a logical query's percentages are
        ),
        (
            "SELECT round(100.0 * sum(CASE WHEN region = '欧洲' THEN 1 ELSE 0 END) / count(*), 2) FROM customer",
            {
                "metrics": [
                    {
                        "name": "customer",
                        "agg": "count",
                        "filters": [{"field": "customer.region", "op": "=", "values": ["欧洲"]}],
                        "over": {"name": "customer", "agg": "count"},
                        "percent": True,
                    }
                ]
            },
        ),
        (
            "SELECT count(*) FROM (SELECT region FROM customer GROUP BY region HAVING count(*) > 5) t",
            COUNT | {
                "dimensions": [{"name": "customer.region"}],
                "having": [{"op": ">", "value": 5.0}],
                "outcome": "group_count",
            },
        ),
        (
            "SELECT c.name, count(*) FROM customer c JOIN sales_order o ON o.customer_id = c.id GROUP BY c.id, c.name",
            {"metrics": [{"name": "sales_order", "agg": "count"}], "dimensions": [{"name": "customer"}]},
        ),
        ("SELECT sum(amount) FROM sales_order o JOIN customer c ON c.id = o.id", None),
        ("SELECT sum(c.id) FROM customer c JOIN sales_order o ON o.customer_id = c.id", None),
        ("SELECT count(*) FROM customer WHERE region = 'East'", None),
        ("SELECT count(*) FROM customer WHERE created_on >= '2025-01-01 12:30:00'", None),
        ("SELECT count(*) FROM customer UNION SELECT count(*) FROM employee", None),
        ("SELECT salary FROM employee", None),
        ("SELECT count(*) FILTER (WHERE created_on < '2026-02-01') FROM customer WHERE created_on >= '2026-01-01'", None),
    ],
)  # fmt: skip
def test_a_statement_is_the_query_that_says_the_same_or_none(sql: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        with pytest.raises(NotConverted):
            query_of(sql, CATALOG, TODAY)
    else:
        assert said(sql) == expected


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("<=", ["2026-03-31"], "t0.created_on < '2026-04-01'"),
        (">", ["2026-03-31"], "t0.created_on >= '2026-04-01'"),
        ("=", ["2026-03-31"], "(t0.created_on >= '2026-03-31' AND t0.created_on < '2026-04-01')"),
        ("!=", ["2026-03-31 00:00"], "(NOT (t0.created_on >= '2026-03-31' AND t0.created_on < '2026-04-01') OR t0.created_on IS NULL)"),
        ("<", ["2026-03-31 12:30"], None),
    ],
)  # fmt: skip
def test_a_time_is_compared_by_whole_days(op: str, values: list[str], expected: str | None) -> None:
    condition = {"field": "customer.created_on", "op": op, "values": values}
    query = LogicalQuery.model_validate({"metrics": [{"name": "customer", "agg": "count"}], "filters": [condition]})
    if expected is None:
        with pytest.raises(Inexpressible, match="is no date"):
            compile_query(query, CATALOG, TODAY)
    else:
        assert compile_query(query, CATALOG, TODAY).endswith(f"WHERE {expected}")


def test_a_time_that_no_number_is_counted_over_is_not_said() -> None:
    """“Revenue (until February)” of a query of 2026: the words said 2026, the number was of all years before, too."""
    january = {"name": "customer", "agg": "count", "time": {"end": "2026-02-01"}}
    year = [{"start": "2026-01-01", "end": "2027-01-01"}]
    query = LogicalQuery.model_validate({"metrics": [january], "times": year})
    with pytest.raises(Inexpressible, match="Every number has a time of its own"):
        compile_query(query, CATALOG, TODAY)
    beside = LogicalQuery.model_validate({"metrics": [january, {"name": "customer", "agg": "count"}], "times": year})
    assert "2027-01-01" in compile_query(beside, CATALOG, TODAY)
