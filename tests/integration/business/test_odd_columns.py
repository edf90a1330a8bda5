"""Any column name that a database allows is drafted and can be asked about."""

from pathlib import Path

import psycopg
import pytest

from business.introspect import draft_layer
from business.scratch_database import scratch_database
from tests.factories import prepare_embedder
from tests.reading import sql_of

pytestmark = pytest.mark.django_db
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
    with scratch_database(shipments(NAMES, tmp_path)) as address:
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
    with scratch_database(file) as address, psycopg.connect(**address.keywords()) as connection:
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
    with scratch_database(file) as address:
        (model,) = draft_layer(address, "shop").semantic_models
    assert all(word.isascii() for named in (model, *model.dimensions, *model.measures) for word in named.words())
