"""Schema linking by words: what a question names, in which language it is asked, and what is shown around it."""

from collections.abc import Collection
from functools import cache

import pytest

from business.linking.index import LayerIndex, NamedValue
from business.linking.linker import MAX_COLUMNS, Linked, Linker
from business.linking.schema_prompt import build_schema_prompt
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.yaml_io import read_layer
from evals.management.commands.evaluate_linking import needed, shown
from tests.dictionaries import prepared
from tests.large_layer import hidden_among, made_tables

SHOP = """
name: shop
semantic_models:
- name: customer
  table: customers
  label: {en: customer, zh: 客户}
  org_unit: {column: unit}
  entities: [{name: customer, type: primary, expr: id}]
  dimensions:
  - {name: name, expr: "first || ' ' || last", is_name: true, values: [{value: Nora Vinter}]}
  - {name: last, expr: last, values: [{value: Vinter}]}
  - {name: region, expr: region, label: {en: region, zh: 地区}, values: [{value: 华东, synonyms: [East China]}, {value: 欧洲, synonyms: [Europe]}, {value: IN, synonyms: [Indiana]}]}
- name: sale
  table: sales
  label: {en: sale}
  org_unit: {shared_with: everyone}
  defaults: {agg_time_dimension: sold_at}
  default_filter: {kind: [order]}
  entities: [{name: customer, type: foreign, expr: customer_id}, {name: product, type: foreign, expr: product_id}]
  dimensions:
  - {name: sold_at, type: time, expr: sold_at}
  - {name: status, expr: state, values: [{value: paid, synonyms: [已付款]}, {value: it's open}]}
  measures:
  - {name: revenue, agg: sum, expr: amount, filter: {state: [paid]}, unit: CNY, label: {en: revenue, zh: 销售额}, description: paid sales}
- name: product
  table: products
  schema: stock
  org_unit: {shared_with: everyone}
  entities: [{name: product, type: primary, expr: sku}]
  dimensions:
  - {name: title, expr: title, is_name: true, values: [{value: Blue Lamp}]}
  - {name: weight_kg, type: number, expr: weight_kg, unit: kg}
"""  # noqa: E501


@pytest.fixture(scope="module", autouse=True)
def _dictionary() -> None:
    prepared()


def layer() -> SemanticLayer:
    return read_layer(SHOP)


@cache
def among_others() -> Linker:
    """The shop's tables, hidden among 300 others."""
    return Linker.of(hidden_among(layer(), tables=300))


def link(question: str) -> Linked:
    return among_others().link(question)


def names(linked: Linked) -> list[str]:
    return [model.name for model in linked.models]


def test_a_small_layer_is_shown_whole_and_the_most_relevant_first() -> None:
    linked = Linker.of(layer()).link("How heavy are our products, by weight?")
    assert set(names(linked)) == {"product", "customer", "sale"}
    assert names(linked)[0] == "product"
    assert {"customer.region", "sale.sold_at", "product.weight_kg"} <= linked.columns
    assert linked.measures == {"sale.revenue"}


@pytest.mark.parametrize("question", ["What was our revenue?", "上个月的销售额是多少？"])
def test_a_measure_is_found_in_both_languages_and_brings_the_time_of_its_table(question: str) -> None:
    linked = link(question)
    assert names(linked)[0] == "sale"
    assert "sale.revenue" in linked.measures
    assert "sale.sold_at" in linked.columns


def test_a_chinese_word_finds_an_english_name_by_the_dictionary() -> None:
    linked = link("最重的产品，重量是多少？")
    assert names(linked)[0] == "product"
    assert "product.weight_kg" in linked.columns


def test_tables_on_the_way_between_two_are_shown_with_the_keys_that_join_them() -> None:
    linked = link("Which customers got a Blue Lamp? Names of customers and products")
    assert {"customer", "product", "sale"} <= set(names(linked))
    joined = {("customers", "id"), ("sales", "customer_id"), ("sales", "product_id"), ("products", "sku")}
    assert joined <= shown(linked).columns


def test_what_is_always_filtered_is_a_column_that_is_shown() -> None:
    assert ("sales", "kind") in shown(link("revenue")).columns


def test_values_are_named() -> None:
    for question, values in (
        ("Revenue in Europe and East China", {("customer.region", "欧洲"), ("customer.region", "华东")}),
        ("华东的已付款订单", {("customer.region", "华东"), ("sale.status", "paid")}),
        ("How much did we sell in May?", set()),
        ("Customers in IN", {("customer.region", "IN")}),
    ):
        assert set(Linker.of(layer()).link(question).values) == {NamedValue(*value) for value in values}


def test_what_rows_of_org_units_are_called_is_told_to_nobody() -> None:
    linked = Linker.of(layer()).link("How many sales to Nora Vinter?")
    assert linked.values == ()
    assert "Vinter" not in build_schema_prompt(linked)
    assert "Blue Lamp" in build_schema_prompt(linked)


def test_a_table_that_is_not_visible_changes_nothing() -> None:
    whole = hidden_among(layer(), tables=40)
    seen = {"customer", *(model.name for model in whole.semantic_models[:30])}
    narrowed = whole.model_copy(
        update={"semantic_models": tuple(model for model in whole.semantic_models if model.name in seen)}
    )
    index = LayerIndex.of(whole)
    for question in (
        "revenue by product",
        "Who bought a Blue Lamp?",
        "华东的销售额",
        "paid sales of customers in Europe",
    ):
        assert Linker(narrowed, index).link(question) == Linker.of(narrowed).link(question)
        assert set(names(Linker(narrowed, index).link(question))) <= seen


def test_columns_are_bounded_in_a_wide_layer() -> None:
    wide = SemanticLayer(name="wide", semantic_models=tuple(made_tables(300, 30, is_labelled=True)))
    linked = Linker.of(wide).link("insurance policy premium and customs tariff by vehicle driver, with every amount")
    assert (
        len(shown(linked).columns) <= MAX_COLUMNS + 5
    )  # the last part may bring a table, its key and those that join it
    assert linked.models


def test_a_text_that_names_what_these_are_is_read_too() -> None:
    linker = Linker.of(layer())
    assert linker.link("How many of these were paid?", named_in="Blue Lamp").values[0].value in ("Blue Lamp", "paid")
    assert NamedValue("product.title", "Blue Lamp") in linker.link("These?", named_in="Blue Lamp").values


def test_the_prompt_names_everything_as_a_logical_query_does() -> None:
    told = build_schema_prompt(Linker.of(layer()).link("revenue in Europe"))
    block = next(part for part in told.split("\n\n") if part.startswith("table sale:"))
    assert block.splitlines() == [
        "table sale: public.sales",
        "  sale.sold_at: time by day, counted by",
        "  sale.status: categorical, = state; values 'paid' (已付款), 'it''s open'",
        "  measure sale.revenue: sum(amount) where state in ('paid'), CNY -- 销售额: paid sales",
        "  foreign key customer_id -> customer.id",
        "  foreign key product_id -> product.sku",
        "  always: kind in ('order')",
    ]
    assert "table product: stock.products\n" in told
    assert "customer.region: categorical; values '欧洲' (Europe), … -- 地区" in told
    assert "product.weight_kg: number, kg" in told


def test_what_a_statement_needs_is_read_from_it() -> None:
    need = needed(
        "WITH s AS (SELECT customer_id, sum(amount) AS total FROM sales WHERE kind = 'order' GROUP BY 1) "
        "SELECT c.region, total FROM s JOIN customers AS c ON c.id = s.customer_id",
        layer(),
    )
    assert need.tables == {"sales", "customers"}
    assert need.columns == {
        ("sales", "customer_id"), ("sales", "amount"), ("sales", "kind"), ("customers", "region"), ("customers", "id"),
    }  # fmt: skip


@pytest.mark.parametrize(("tables", "is_found"), [(20, True), (60, False)])
@pytest.mark.parametrize("question", ["Which of them are in Boston?", "波士顿有多少？"])
def test_a_name_that_no_value_has_leads_to_the_table_of_such_names(
    question: str, tables: int, *, is_found: bool
) -> None:
    """By its meaning alone; among many tables something is near to any word."""
    models = made_tables(tables, 30, is_labelled=False)
    layer = SemanticLayer(name="made", semantic_models=tuple(models))
    index = LayerIndex.of(layer)
    last = models[-1].name
    alike = [place for place, entry in enumerate(index.entries) if entry.model == last][:5]

    def near(text: str, among: Collection[str], most: int) -> dict[int, float]:
        return dict.fromkeys(alike[:most], 0.3) if text == "boston" and last in among else {}

    assert (last in {model.name for model in Linker(layer, index, near).link(question).models}) == is_found


def test_the_column_of_a_value_that_is_named_is_shown_however_much_else_is_asked() -> None:
    """“Patients on oral drugs” among tables that say every other word of the question."""
    asked = "average lesion count of patients per visit and clinic and doctor, oral"
    words = ("lesion count", "patient visit", "clinic doctor", "patient clinic", "visit doctor", "lesion visit")
    tables = "".join(
        f"""
- name: t{number}
  table: t{number}
  label: {{en: {said}}}
  org_unit: {{shared_with: everyone}}
  dimensions:
{"".join(f"  - {{name: {part}_{number}, expr: {part}_{number}, label: {{en: {said} {part}}}}}{chr(10)}" for part in "abcdefgh")}"""
        for number, said in enumerate(words)
    )
    drugs = """
- name: drug
  table: drug
  org_unit: {shared_with: everyone}
  dimensions: [{name: route, expr: route, values: [{value: oral}, {value: topical}]}, {name: maker, expr: maker}]
"""
    trial = read_layer(f"name: trial\nsemantic_models:{tables}{drugs}")
    entries = LayerIndex.of(trial).entries

    def near(_text: str, names: Collection[str], _most: int) -> dict[int, float]:
        """Whatever is about drugs is far from the rest of the question."""
        return {n: 0.1 if one.model == "drug" else 0.9 for n, one in enumerate(entries) if one.model in names}

    linked = Linker.of(trial, near).link(asked)
    assert len(linked.models) < len(trial.semantic_models)  # not shown whole
    assert "drug.route" in linked.columns
    assert linked.values == (NamedValue("drug.route", "oral"),)
