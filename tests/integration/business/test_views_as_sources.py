"""Views, materialised views and tables in partitions are drafted, described and asked like tables."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from business.address import Address
from business.execute import Access, run_sql
from business.introspect import draft_layer
from business.scratch_database import scratch_database
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.rights import policy_of
from evals.data.questions import opened_to_all
from tests.reading import sql_of

TODAY = date(2026, 3, 20)
SEED = """
CREATE TABLE customer (customer_id int PRIMARY KEY, name text, region text);
INSERT INTO customer VALUES (1, 'Ann', 'North'), (2, 'Bob', 'South'), (3, 'Cy', 'North');
CREATE TABLE payment (payment_id int, customer_id int REFERENCES customer, amount numeric, paid_on date) PARTITION BY RANGE (paid_on);
CREATE TABLE payment_2025 PARTITION OF payment FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE payment_2026 PARTITION OF payment FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
INSERT INTO payment VALUES (1, 1, 10, '2025-05-01'), (2, 1, 20, '2026-02-01'), (3, 2, 5, '2026-03-01');
CREATE VIEW refund AS SELECT payment_id AS refund_id, customer_id, amount, paid_on AS refunded_on FROM payment WHERE amount < 20;
CREATE MATERIALIZED VIEW visit AS SELECT customer_id, paid_on AS visited_on FROM payment;
CREATE MATERIALIZED VIEW never_filled AS SELECT 1 AS one WITH NO DATA;
CREATE VIEW of_setting AS SELECT customer_id FROM customer WHERE region = current_setting('app.region');
CREATE VIEW account AS SELECT rolname::text AS name FROM pg_roles;
"""


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[Address]:
    seed: Path = tmp_path_factory.mktemp("views") / "seed.sql"
    seed.write_text(SEED)
    with django_db_blocker.unblock(), scratch_database(seed) as address:
        yield address


@pytest.fixture(scope="module")
def layer(database: Address) -> SemanticLayer:
    return opened_to_all(draft_layer(database, "payments"))


def test_a_view_is_a_table_and_so_are_all_partitions_of_one(layer: SemanticLayer) -> None:
    """Left out: what was never filled, what cannot be read, and what leads to the server's own catalogs."""
    assert {model.name for model in layer.semantic_models} == {"customer", "payment", "refund", "visit"}


def test_keys_that_views_hold_lead_to_tables(layer: SemanticLayer) -> None:
    keys = {m.name: {(e.type, e.name, e.expr) for e in m.entities} for m in layer.semantic_models}
    assert keys["refund"] == {("primary", "refund", "refund_id"), ("foreign", "customer", "customer_id")}
    assert keys["visit"] == {("foreign", "customer", "customer_id")}
    assert {m.name: m.defaults.agg_time_dimension for m in layer.semantic_models} == {
        "customer": "", "payment": "paid_on", "refund": "refunded_on", "visit": "visited_on",
    }  # fmt: skip


def test_they_are_asked_behind_guard_and_sandbox(database: Address, layer: SemanticLayer, db: None) -> None:
    access = Access(database, policy_of(layer, (), granted=(), source_granted=True))
    for question, rows in (
        ("how many payments in 2026", [(2,)]),
        ("number of visits by region", [("North", 2), ("South", 1)]),
    ):
        answer = async_to_sync(run_sql)(access, sql_of(question, layer, TODAY))
        assert answer.rows is not None
        assert list(answer.rows.rows) == rows
