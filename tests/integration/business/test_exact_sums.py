"""Sums of `real` columns: equal whatever order the rows lie in, and as exact as the values that people see."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from business.execute import Access, run_sql
from business.introspect import draft_layer
from business.sandbox.scratch_database import open_scratch_database
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.rights import policy_of
from evals.question_sets import opened_to_all
from tests.reading import sql_of

VALUES = ("16777216", "0.1", "0.2", *["1"] * 20)  # in `real`, one that is added to the first is lost
SEED = f"""
CREATE TABLE parcel (id int PRIMARY KEY, weight real, height double precision);
CREATE TABLE crate (id int PRIMARY KEY, weight real, height double precision);
INSERT INTO parcel SELECT n, v, v FROM unnest(ARRAY[{",".join(VALUES)}]) WITH ORDINALITY AS x (v, n) ORDER BY n;
INSERT INTO crate SELECT n, v, v FROM unnest(ARRAY[{",".join(VALUES)}]) WITH ORDINALITY AS x (v, n) ORDER BY n DESC;
"""
Drafted = tuple[SemanticLayer, Access]


@pytest.fixture(scope="module")
def drafted(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drafted]:
    """Two tables with the same rows, laid down in opposite orders."""
    seed: Path = tmp_path_factory.mktemp("sums") / "parcels.sql"
    seed.write_text(SEED)
    with open_scratch_database(seed) as address:
        layer = opened_to_all(draft_layer(address, "parcels"))
        yield layer, Access(address, policy_of(layer, frozenset(), granted=(), source_granted=True))


def value(access: Access, sql: str) -> Any:
    answer = async_to_sync(run_sql)(access, sql)
    assert answer.rows is not None
    return answer.rows.rows[0][0]


def test_a_sum_does_not_depend_on_the_order_of_rows(drafted: Drafted) -> None:
    """Without the drafted cast it would."""
    layer, access = drafted
    for said, exact in (("total", "16777236.3"), ("average", "729445.056521739")):
        for column in ("weight", "height"):
            sums = [value(access, sql_of(f"{said} {column} of {table}", layer)) for table in ("parcels", "crates")]
            assert sums[0] == sums[1]
            assert str(sums[0]).startswith(exact)
    assert value(access, "SELECT sum(weight) FROM parcel") != value(access, "SELECT sum(weight) FROM crate")


def test_a_value_is_found_as_it_is_written(drafted: Drafted) -> None:
    """In `real`, 0.1 is not the number 0.1."""
    layer, access = drafted
    sql = sql_of("how many parcels with weight at most 0.1", layer)
    assert value(access, sql) == 1
    assert value(access, "SELECT count(*) FROM parcel WHERE weight = 0.1") == 0
