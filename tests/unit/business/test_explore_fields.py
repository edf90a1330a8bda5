"""The fields of the explore form: a query opened and sent again asks the same, whatever of it the form shows."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from django.http import QueryDict
from django.utils.translation import override
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from business.explore.choices import MAX_BOXES, Choices, list_value_choices
from business.explore.fields import ExploreFields, FilterFields, explore_url, is_expressible_in_form
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import (
    Breakdown,
    Comparison,
    Filter,
    Inexpressible,
    LogicalQuery,
    Metric,
    Period,
    Related,
    ResultOrder,
    Rows,
    StoredQuery,
    TimeRange,
)
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.yaml_io import read_layer

LAYER = read_layer((Path(__file__).parents[3] / "demo/business/demo.yaml").read_text())
CATALOG = Catalog.of(LAYER)
TODAY = date(2026, 11, 23)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with override("en"):
        yield


def sent(fields: ExploreFields) -> ExploreFields:
    """The same fields after they were an address."""
    return ExploreFields.read(QueryDict(fields.encoded()))


REVENUE, ORDERS = Metric(name="sales_order.revenue"), Metric(name="sales_order")
OPEN = Filter(field="sales_order.status", values=("open", "paid"))
LAST = TimeRange(period=Period(unit="month", first=-3, last=-1))
BY_REGION = Breakdown(name="customer.region")
QUERIES = {
    "a number": LogicalQuery(metrics=(REVENUE,)),
    "a count": LogicalQuery(metrics=(Metric(name="customer", agg="count"),)),
    "several": LogicalQuery(metrics=(REVENUE, ORDERS), dimensions=(BY_REGION, Breakdown(grain="month"))),
    "another time": LogicalQuery(metrics=(ORDERS,), dimensions=(Breakdown(name="customer.created_on", grain="year"),)),
    "not a value": LogicalQuery(metrics=(ORDERS,), filters=(Filter(field="customer.region", op="!=", values=("欧洲",)),)),
    "a number in": LogicalQuery(metrics=(ORDERS,), filters=(Filter(field="sales_order.amount", op=">=", values=(10.5,)),)),
    "empty": LogicalQuery(metrics=(ORDERS,), filters=(Filter(field="customer.country", op="is_null"),)),
    "a comma": LogicalQuery(metrics=(ORDERS,), filters=(Filter(field="customer.name", values=("A, B & C=D", "% _ ' \"")),)),
    "text": LogicalQuery(metrics=(ORDERS,), filters=(Filter(field="customer.name", op="contains", values=("港",)),)),
    "a period": LogicalQuery(metrics=(REVENUE,), times=(LAST,)),
    "to date": LogicalQuery(metrics=(REVENUE,), times=(TimeRange(period=Period(unit="year", to_date=True)),)),
    "dates": LogicalQuery(metrics=(REVENUE,), times=(TimeRange(start=date(2026, 1, 1), end=date(2026, 2, 1)),)),
    "open end": LogicalQuery(metrics=(REVENUE,), times=(TimeRange(start=date(2026, 1, 1)),)),
    "a named time": LogicalQuery(metrics=(ORDERS,), times=(TimeRange(field="customer.created_on", end=date(2026, 1, 1)),)),
    "compared": LogicalQuery(metrics=(REVENUE,), times=(LAST,), comparison=Comparison(to="previous_year")),
    "last, without ties": LogicalQuery(
        metrics=(REVENUE,), dimensions=(BY_REGION,), ranking=ResultOrder(limit=3, descending=False, ties=False)
    ),
    "ordered by a number over time": LogicalQuery(
        metrics=(REVENUE, ORDERS), dimensions=(Breakdown(grain="month"),), ranking=ResultOrder(by="1")
    ),
    "ordered by name": LogicalQuery(
        metrics=(REVENUE, ORDERS), dimensions=(BY_REGION,), ranking=ResultOrder(by="sales_order", descending=False)
    ),
    "ordered by share": LogicalQuery(metrics=(REVENUE,), dimensions=(BY_REGION,), share=True, ranking=ResultOrder(by="share")),
    "columns": LogicalQuery(
        rows=Rows(model="sales_order", columns=("sales_order.amount", "customer"), distinct=True),
        ranking=ResultOrder(by="sales_order.amount", limit=5),
        filters=(OPEN,),
    ),

}  # fmt: skip
OTHERS = {
    "two times": LogicalQuery(metrics=(ORDERS,), times=(LAST, TimeRange(field="customer.created_on", end=date(2026, 1, 1)))),
    "related": LogicalQuery(metrics=(Metric(name="customer"),), related=(Related(model="sales_order", is_not=True),)),
    "a part": LogicalQuery(
        metrics=(Metric(name="sales_order", filters=(OPEN,)),), dimensions=(BY_REGION,)
    ),

}  # fmt: skip


def test_a_query_through_the_form_is_the_same_statement() -> None:
    for query in QUERIES.values():
        assert is_expressible_in_form(query)
        fields = ExploreFields.of(query)
        assert sent(fields) == fields, query
        again = fields.query(CATALOG)
        assert compile_query(again, CATALOG, TODAY) == compile_query(query, CATALOG, TODAY)
        assert ExploreFields.of(again) == fields, query


def test_a_query_with_a_part_that_has_no_field_does_not_fit() -> None:
    for query in OTHERS.values():
        assert not is_expressible_in_form(query)
        assert explore_url("shop", query) == ""


@settings(max_examples=40)
@example("¹")  # a digit to Unicode, and no number
@given(st.text(max_size=60))
def test_whatever_an_address_says_is_a_query_or_a_reason(text: str) -> None:
    for name in ("metric", "by", "when", "start", "top", "sort", "compare", "field0", "value0"):
        filled = QueryDict(mutable=True)
        filled.update({"metric": "sales_order", "by": "customer", "field0": "customer.region", "value0": "x"})
        filled[name] = text
        fields = ExploreFields.read(filled)
        choices = Choices(CATALOG, (), fields, TODAY)
        assert choices.metrics
        assert choices.filters
        assert choices.sorts is not None
        try:
            compile_query(fields.query(CATALOG), CATALOG, TODAY)
        except Inexpressible:
            continue


def _choices(address: str, layer: SemanticLayer = LAYER) -> Choices:
    return Choices(Catalog.of(layer), ("Sales",), ExploreFields.read(QueryDict(address)), TODAY)


def _values(groups: object) -> set[str]:
    return {choice.value for _table, group in groups for choice in group}  # type: ignore[attr-defined]


def test_everything_that_is_offered_alone_can_be_asked() -> None:
    for metric in ("sales_order.revenue", "avg:project.budget", "employee"):
        choices = _choices(f"metric={metric}")
        for code in _values(choices.breakdowns):
            compile_query(_choices(f"metric={metric}&by={code}").fields.query(CATALOG), CATALOG, TODAY)
        for code in _values(choices.filterable):
            filled = ExploreFields(metrics=(metric,), filters=(FilterFields(code, "is_not_null"),))
            compile_query(filled.query(CATALOG), CATALOG, TODAY)
        for time in choices.times:
            filled = ExploreFields(metrics=(metric,), time=time.value, when="month:0:0")
            compile_query(filled.query(CATALOG), CATALOG, TODAY)
        for period in choices.periods:
            if choices.times:
                filled = ExploreFields(metrics=(metric,), time=choices.times[0].value, when=period.value)
                compile_query(filled.query(CATALOG), CATALOG, TODAY)


def test_a_list_can_be_ordered_and_shown_by_everything_that_is_offered() -> None:
    choices = _choices("metric=list:sales_order")
    columns = _values(choices.breakdowns)
    for code in columns:
        compile_query(ExploreFields(metrics=("list:sales_order",), breakdowns=(code,)).query(CATALOG), CATALOG, TODAY)
    for sort in choices.sorts:
        compile_query(ExploreFields(metrics=("list:sales_order",), sort=sort.value).query(CATALOG), CATALOG, TODAY)


def test_what_is_chosen_is_offered_though_it_does_not_go_with_the_rest() -> None:
    """So that it is seen, and taken away by whoever is told that it does not."""
    assert "sales_order.status" in _values(_choices("metric=avg:product.list_price&by=sales_order.status").breakdowns)
    assert "count_distinct:customer.country" in _values(_choices("metric=count_distinct:customer.country").metrics)
    assert "quarter:-5:-4" in {item.value for item in _choices("metric=sales_order&when=quarter:-5:-4").periods}


def test_many_values_are_typed_with_suggestions_and_few_are_ticked() -> None:
    (row, empty) = _choices("metric=customer&field0=customer.region&value0=欧洲").filters
    assert [box.label for box in row.boxes] == ["East China", "South China", "North China", "Southwest China", "Europe"]
    assert not row.is_typed
    assert empty.chosen.field == ""
    customer = LAYER.semantic_models[0]
    region = customer.dimensions[1]
    many = region.model_copy(
        update={"values": tuple(region.values[0].model_copy(update={"value": str(n)}) for n in range(MAX_BOXES + 1))}
    )
    models = (customer.model_copy(update={"dimensions": (customer.dimensions[0], many)}),)
    (row, _empty) = _choices(
        "metric=customer&field0=customer.region&value0=3", LAYER.model_copy(update={"semantic_models": models})
    ).filters
    assert [box.value for box in row.boxes] == ["3"]
    assert len(row.suggestions) == MAX_BOXES + 1


def test_names_of_rows_are_suggested_only_where_everybody_sees_all_rows() -> None:
    model, dimension = CATALOG.dimension("customer.name")
    named = dimension.model_copy(update={"values": CATALOG.dimension("customer.region")[1].values})
    assert list_value_choices(model, named, ()) == []
    product = CATALOG.model("product")
    assert len(list_value_choices(product, named, ())) == len(named.values)


def test_a_stored_query_of_an_older_version_is_read_as_far_as_it_can_still_be_asked() -> None:
    unset = {
        "having": [],
        "outcome": "table",
        "metrics": [{"name": "sales_order", "until": "", "over": None, "percent": False}],
    }
    assert TypeAdapter(StoredQuery).validate_python(unset) == LogicalQuery(metrics=(ORDERS,))
    assert TypeAdapter(StoredQuery).validate_python(unset | {"having": [{"op": ">", "value": 3}]}) is None
