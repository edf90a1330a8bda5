"""A table of the semantic layer is edited as fields: what they do not speak of stays."""

from typing import Any

from django.contrib.auth.models import User
from django.http import QueryDict

from audit.actions import Action
from audit.models import Entry
from business.models import DataSource
from business.semantic_layer.model import Dimension, SemanticModel, Value
from business.semantic_layer.yaml_io import read_layer
from business.source_pages.table_forms import TableEditor, words_of
from business.table_edits import find_table_with_version
from demo.business_data import FILES
from tests.integration.governance.world import client_of


def fields_of(model: SemanticModel) -> dict[str, Any]:
    """What a browser sends of a table's form as it is opened."""
    editor, data = TableEditor(model), {}
    for form in (editor.fields, *editor.columns, *editor.measures):
        for bound in form:
            if bound.value() not in (None, False, ""):
                data[bound.html_name] = "on" if bound.value() is True else bound.value()
    for formset in (editor.columns, editor.measures):
        data |= {bound.html_name: bound.value() for bound in formset.management_form}
    return data


def sent(model: SemanticModel, **changed: Any) -> SemanticModel:
    data = QueryDict(mutable=True)
    data.update(fields_of(model) | changed)
    return TableEditor(model, data).changed_table()


def place_of(model: SemanticModel, column: str) -> str:
    """The prefix of a column's fields."""
    return f"c-{[dimension.name for dimension in model.dimensions].index(column)}"


def saved(source: DataSource, name: str) -> SemanticModel:
    return find_table_with_version(DataSource.unscoped.get(pk=source.pk), name)[0]


def test_what_is_sent_back_as_it_was_changes_nothing(source: DataSource) -> None:
    demo = read_layer((FILES / "demo.yaml").read_text())
    models = (*source.semantic_layer.semantic_models, *demo.semantic_models)
    assert len(models) > 5
    for model in models:
        assert sent(model) == model


def test_values_that_look_like_lines_stay_whole() -> None:
    odd = Dimension(
        name="state",
        expr="state",
        synonyms=("state, of the order", "status"),
        values=(Value(value="a = b", synonyms=("one, two",), is_undated=True), Value(value="c")),
    )
    assert words_of("client， buyer、客户; client") == ["client", "buyer", "客户"]
    model = SemanticModel(name="t", table="t", dimensions=(odd,))
    assert sent(model) == model
    changed = sent(model, **{"c-0-values": "a = b = half，半\nc\nd = 四"})
    assert [(value.value, value.synonyms, value.is_undated) for value in changed.dimensions[0].values] == [
        ("a = b", ("half", "半"), True),
        ("c", (), False),
        ("d", ("四",), False),
    ]


def test_a_table_is_edited_column_by_column_and_saved(source: DataSource, steward: User) -> None:
    model, version = find_table_with_version(source, "customer")
    column = next(dimension.name for dimension in model.dimensions if not dimension.is_name)
    place = place_of(model, column)
    fresh = f"m-{len(model.measures)}"
    changed = {
        "label_en": "client",
        "label_zh": "委托人",
        "synonyms": "buyer, 买家",
        f"{place}-label_zh": "所在地",
        f"{place}-unit": "km",
        f"{fresh}-name": "near",
        f"{fresh}-label_en": "near clients",
        f"{fresh}-agg": "count",
        f"{fresh}-filter": f"{model.dimensions[0].expr} = one, two",
    }
    client = client_of(steward)
    address = f"/admin/data-sources/{source.pk}/layer/table/?name=customer"
    answer = client.post(address, {**fields_of(model), **changed, "version": version, "fields": "1"}, follow=True)
    assert "Saved: customer." in answer.content.decode()
    after = saved(source, "customer")
    assert (after.label.en, after.label.zh, after.synonyms) == ("client", "委托人", ("buyer", "买家"))
    told = next(dimension for dimension in after.dimensions if dimension.name == column)
    assert (told.label.zh, told.unit) == ("所在地", "km")
    assert (after.measures[-1].name, after.measures[-1].filter) == ("near", {model.dimensions[0].expr: ("one", "two")})
    assert [dimension for dimension in after.dimensions if dimension.name != column] == [
        dimension for dimension in model.dimensions if dimension.name != column
    ]
    assert Entry.objects.filter(action=Action.SETTING_CHANGED).latest("pk").detail["table"] == "customer"


def test_a_forbidden_column_is_told_to_nobody_any_more(source: DataSource) -> None:
    model = find_table_with_version(source, "customer")[0]
    keys = {entity.expr for entity in model.entities} | {model.defaults.agg_time_dimension}
    column = next(dimension for dimension in model.dimensions if dimension.name not in keys)
    after = sent(model, **{f"{place_of(model, column.name)}-is_forbidden": "on"})
    assert column.name not in [dimension.name for dimension in after.dimensions]
    assert set(column.columns) <= set(after.forbidden_columns)
    assert not set(column.columns) & set(after.columns)


def test_who_reads_rows_is_one_choice(source: DataSource) -> None:
    for who, unit in (
        ("closed", None),
        ("everyone", {"shared_with": "everyone"}),
        ("granted", {"shared_with": "granted"}),
    ):
        after = sent(find_table_with_version(source, "customer")[0], who=who)
        assert (after.org_unit.model_dump(exclude_none=True) if after.org_unit else None) == unit


def test_a_measure_is_taken_away(source: DataSource) -> None:
    sale = find_table_with_version(source, "sale")[0]
    assert sale.measures
    assert sent(sale, **{"m-0-DELETE": "on", "m-0-name": ""}).measures == sale.measures[1:]


def test_a_wrong_field_is_one_sentence_and_changes_nothing(source: DataSource, steward: User) -> None:
    model, version = find_table_with_version(source, "sale")
    for changed, sentence in (
        ({"who": "column", "unit_column": ""}, "Check the fields marked"),
        ({"m-0-filter": "= x"}, "nothing before its equals sign"),
        ({"m-0-name": "a\tb"}, "String should match pattern"),
        ({"c-0-name": "colour"}, "has no column colour"),
        ({"c-TOTAL_FORMS": ""}, "Check the fields marked"),
    ):
        data = {**fields_of(model), **changed, "version": version, "fields": "1"}
        answer = client_of(steward).post(f"/admin/data-sources/{source.pk}/layer/table/?name=sale", data)
        assert (answer.status_code, sentence in answer.content.decode()) == (400, True), changed
        assert saved(source, "sale") == model
