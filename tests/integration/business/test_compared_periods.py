"""What is compared by month stands beside the month that it is compared with."""

from datetime import date

import psycopg
import pytest

from business.connections.address import Address
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import Inexpressible, LogicalQuery
from business.semantic_layer.yaml_io import read_layer
from tests.integration.business.explored import LAYER

TODAY = date(2026, 11, 21)
OCTOBER = {"start": "2026-10-01", "end": "2026-11-01"}


def compared(now: dict[str, str], **dimension: str) -> LogicalQuery:
    return LogicalQuery.model_validate(
        {
            "metrics": [{"name": "sale", "agg": "count"}],
            "dimensions": [dimension],
            "times": [now],
            "comparison": {"to": "previous_period"},
        }
    )


def rows(shop: Address, query: LogicalQuery) -> list[tuple[object, ...]]:
    with psycopg.connect(**shop.keywords()) as connection:
        connection.execute("SET TIME ZONE 'Asia/Shanghai'")
        statement = compile_query(query, Catalog.of(read_layer(LAYER)), TODAY)
        return [row[:4] for row in connection.execute(statement.encode()).fetchall()]


def test_a_month_stands_beside_the_month_before(shop: Address) -> None:
    # a sale every three hours: 239 in September, the last of the 400 on the 21st of October
    assert rows(shop, compared(OCTOBER, grain="month")) == [("2026-10", 161, 239, -78)]


def test_the_first_week_stands_beside_the_first(shop: Address) -> None:
    assert [row[:3] for row in rows(shop, compared(OCTOBER, grain="week"))] == [
        ("2026-09-28", 32, 47),
        ("2026-10-05", 56, 56),
        ("2026-10-12", 56, 56),
        ("2026-10-19", 17, 56),
        ("2026-10-26", 0, 24),
    ]


def test_periods_that_do_not_match_or_have_no_end_are_not_compared() -> None:
    for time, dimension, why in (
        (OCTOBER, {"grain": "day"}, "cannot be compared"),
        (OCTOBER, {"name": "customer.since", "grain": "month"}, "cannot be compared"),
        ({"end": "2026-10-01"}, {"grain": "month"}, "a beginning and an end"),
    ):
        with pytest.raises(Inexpressible, match=why):
            compile_query(compared(time, **dimension), Catalog.of(read_layer(LAYER)), TODAY)
