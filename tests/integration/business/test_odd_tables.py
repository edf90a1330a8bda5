"""Views, partitions and columns of any name are drafted, described and asked like ordinary tables."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync

from business.connections.address import Address
from business.execute import Access, run_sql
from business.introspect import draft_layer
from business.sandbox.scratch_database import open_scratch_database
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.rights import policy_of
from evals.question_sets import opened_to_all
from tests.factories import prepare_embedder
from tests.reading import sql_of

pytestmark = pytest.mark.django_db
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
    with django_db_blocker.unblock(), open_scratch_database(seed) as address:
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


NAMES = [
    "Gross weight kg", "100%", 'say "yes"', "it's", "a.b", "semi;colon", "back\\slash", "{brace}", "%s", "select", "UPPER",
    "毛 重", "\u3000", "tab\tin it", "line\nin it", " ", "😀", "-- comment", "gross_weight kg", "Gross  weight kg", "x" * 63,
    "Year", "Month", "number of", "?", "a b", "a\tb", "a_b_2",
]  # fmt: skip


def shipments(names: list[str], folder: Path) -> Path:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    made = ", ".join(f"{name} {'text' if place % 2 else 'numeric'}" for place, name in enumerate(quoted))
    rows = ", ".join("'x'" if place % 2 else "7" for place in range(len(quoted)))
    file = folder / "seed.sql"
    file.write_text(
        f'CREATE TABLE shipment(shipment_id int PRIMARY KEY, {made});\nINSERT INTO shipment VALUES (1, {rows});\n'
        'CREATE TABLE "odd table" ("odd table id" int PRIMARY KEY, "shipment_id" int REFERENCES shipment, "A b" numeric);\n'
        'INSERT INTO "odd table" VALUES (1, 1, 5), (2, 1, 6);\n'
    )  # fmt: skip
    return file


def test_every_column_that_postgresql_allows_is_drafted(tmp_path: Path) -> None:
    with open_scratch_database(shipments(NAMES, tmp_path)) as address:
        left_out: list[str] = []
        layer = draft_layer(address, "odd", unread=lambda place, _why: left_out.append(place))
        models = {model.table: model for model in layer.semantic_models}
        assert left_out == []
        assert {column for one in models["shipment"].dimensions for column in one.columns} >= {"shipment_id", *NAMES}
        assert len({one.name for one in models["shipment"].dimensions}) == len(NAMES) + 1
        assert models["odd table"].name == "odd_table"
        assert {(one.name, one.expr) for one in models["odd table"].entities} == {
            ("odd_table", "odd table id"), ("shipment", "shipment_id"),
        }  # fmt: skip


def test_columns_with_spaces_and_capitals_are_asked_about(tmp_path: Path) -> None:
    file = tmp_path / "seed.sql"
    file.write_text(
        'CREATE TABLE "goods parcel"("parcel id" int PRIMARY KEY, "Gross load" numeric, "Year" int, "Month" int);\n'
        'INSERT INTO "goods parcel" VALUES (1, 5, 2024, 5), (2, 6, 2025, 6);\n'
    )
    with open_scratch_database(file) as address, psycopg.connect(**address.keywords()) as connection:
        layer = draft_layer(address, "odd")
        for question, expected in (
            ("What is the average gross load of the goods parcels?", 5.5),
            ("How many goods parcels are there?", 2),
            ("How many goods parcels in June 2025?", 1),
        ):
            rows = connection.execute(sql_of(question, layer)).fetchall()  # type: ignore[arg-type,unused-ignore]
            assert rows == [(expected,)], question


def test_no_word_of_a_general_dictionary_is_drafted(tmp_path: Path) -> None:
    prepare_embedder()  # and the dictionary
    file = tmp_path / "seed.sql"
    file.write_text("CREATE TABLE customer(id int PRIMARY KEY, date date, state text, sale_price numeric);")
    with open_scratch_database(file) as address:
        (model,) = draft_layer(address, "shop").semantic_models
    assert all(word.isascii() for named in (model, *model.dimensions, *model.measures) for word in named.words())
