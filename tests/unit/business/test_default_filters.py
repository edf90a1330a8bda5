"""What a table is always narrowed to, and the questions that lift it."""

from datetime import date
from pathlib import Path

import pytest

import demo
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import Breakdown, Filter, LogicalQuery, Metric, Related
from business.logical_query.wording import describe_query
from business.semantic_layer.yaml_io import read_layer

WRITTEN = read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text())
EMPLOYED = {"default_filter": {"status": ("probation", "active")}}
MODELS = (model.model_copy(update=EMPLOYED) if model.name == "employee" else model for model in WRITTEN.semantic_models)
LAYER = WRITTEN.model_copy(update={"semantic_models": tuple(MODELS)})
CATALOG = Catalog.of(LAYER)
TODAY = date(2026, 11, 27)
PEOPLE = Metric(name="employee")
LEFT = Filter(field="employee.status", op="in", values=("left",))
PROBATION = Filter(field="employee.status", op="in", values=("probation",))
HANGZHOU = Filter(field="employee.office", op="in", values=("Hangzhou",))
OURS = "IN ('probation', 'active')"


def statement(query: LogicalQuery) -> str:
    return compile_query(query, CATALOG, TODAY)


def test_people_who_left_are_not_counted_unless_they_are_asked_for() -> None:
    asked = LogicalQuery(metrics=(PEOPLE,), filters=(HANGZHOU,))
    assert OURS in statement(asked)
    assert OURS not in statement(LogicalQuery(metrics=(PEOPLE,), filters=(LEFT,)))


def test_the_demo_says_beside_each_number_of_people_that_who_left_is_counted() -> None:
    asked, written = LogicalQuery(metrics=(PEOPLE,), filters=(HANGZHOU,)), Catalog.of(WRITTEN)
    [told] = describe_query(asked, written, "en", TODAY).definitions
    assert "who has left included" in told
    assert "含已离职的人" in describe_query(asked, written, "zh", TODAY).definitions[0]


def test_a_breakdown_by_the_column_shows_all_its_values() -> None:
    asked = LogicalQuery(metrics=(PEOPLE,), dimensions=(Breakdown(name="employee.status"),))
    assert OURS not in statement(asked)


@pytest.mark.parametrize(("part", "whole_is_narrowed"), [(LEFT, False), (PROBATION, True)])
def test_a_part_is_one_of_its_whole(part: Filter, *, whole_is_narrowed: bool) -> None:
    asked = LogicalQuery(metrics=(Metric(name="employee", filters=(part,)),))
    assert (OURS in statement(asked)) is whole_is_narrowed


def test_rows_that_belong_to_a_thing_and_are_left_out_by_default_can_be_asked_for() -> None:
    models = [model.model_copy(update={"default_filter": {"status": ("active",)}}) if model.name == "project" else model
              for model in LAYER.semantic_models]  # fmt: skip
    catalog = Catalog.of(LAYER.model_copy(update={"semantic_models": tuple(models)}))
    done = Related(model="project", filters=(Filter(field="project.status", op="in", values=("done",)),))

    def said(related: Related) -> str:
        return compile_query(LogicalQuery(metrics=(PEOPLE,), related=(related,)), catalog, TODAY)

    assert "IN ('active')" in said(Related(model="project"))
    assert "IN ('active')" not in said(done)
