"""Data sources: drafting, YAML, rights, and the command that shows what a statement becomes."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from business import pipeline
from business.connections.address import Address
from business.introspect import draft_layer
from business.models import DataSource
from business.semantic_layer.model import UnitRule
from business.semantic_layer.yaml_io import read_layer, write_yaml
from business.sources.grants import grant, revoke_right
from business.sources.services import open_source, open_sources, save_layer
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from tests.factories import make_user


def tables_of(person: User) -> set[str]:
    return {m.name for opened in open_sources(Principal.of(person)) for m in opened.layer.semantic_models}


def check(tmp_path: Path, person: User, *statements: str, **options: Any) -> list[dict[str, Any]]:
    file = tmp_path / "statements.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, "sql": sql}) for n, sql in enumerate(statements)))
    out = StringIO()
    call_command("check_sql", str(file), datasource="shop", username=person.username, stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_draft_has_keys_types_comments_values_and_closes_what_it_does_not_know(shop: Address) -> None:
    layer = draft_layer(shop, "shop")
    by_name = {model.name: model for model in layer.semantic_models}
    customer = by_name["customer"]
    assert {(e.type, e.name) for e in customer.entities} == {("primary", "customer"), ("foreign", "region")}
    dimensions = {d.name: d for d in customer.dimensions}
    assert [v.value for v in dimensions["segment"].values] == ["large", "small"]
    assert dimensions["segment"].description.en == "how large the company is"
    assert dimensions["since"].type == "time"
    assert dimensions["name"].is_name
    assert customer.org_unit == UnitRule(column="org_unit")
    assert customer.forbidden_columns == ("api_token",)
    assert "api_token" not in customer.columns
    assert by_name["region"].org_unit is None  # no statement: closed
    assert read_layer(write_yaml(layer)) == layer


MISTAKES = [
    ("name: shop\nsemantic_models:\n  - name: a\n    table: a\n    colour: red\n", "Line 5: unknown key semantic_models.0.colour."),
    ("name: shop\nsemantic_models:\n  - name: a\n    table: [\n", "Line 5: this is not YAML"),
    ("- 1", "Line 1: the file must have the keys name and semantic_models."),
    ("[" * 1_000_000, "This is nested too deeply"),
    ("name: \ud800", "This is not YAML"),
    ("name: a\n---\nname: b\n", "this is not YAML"),
    ("", "the file must have the keys name and semantic_models"),
    ("name: Shop!\n", "Line 1: name: String should match pattern"),
    ("name: shop\nsemantic_models:\n- {name: a, table: a}\n- {name: a, table: b}\n", "two semantic models are called a"),
    ("name: shop\nsemantic_models:\n- name: a\n  table: a\n  org_unit: {}\n", "Line 5: .*give either column, or shared_with"),
]  # fmt: skip


def test_yaml_with_a_mistake_names_the_line() -> None:
    for text, sentence in MISTAKES:
        with pytest.raises(InvalidInput, match=sentence):
            read_layer(text)


def test_who_may_ask_what(source: DataSource, northerner: User) -> None:
    stranger, reader, late = make_user("sam"), make_user("rita"), make_user("lea")
    layer = source.semantic_layer
    region = next(m for m in layer.semantic_models if m.name == "region")
    shared = region.model_copy(update={"org_unit": UnitRule(shared_with="granted")})
    others = tuple(m for m in layer.semantic_models if m.name != "region")
    save_layer(None, source, layer.model_copy(update={"semantic_models": (*others, shared)}))
    grant(None, source, to=reader, table="region")
    grant(None, source, to=late, expires_at=timezone.now() - timedelta(seconds=1))
    visible = {
        "nora": tables_of(northerner),
        "rita": tables_of(reader),
        "sam": tables_of(stranger),
        "lea": tables_of(late),
    }
    assert visible == {"nora": {"customer", "sale"}, "rita": {"region"}, "sam": set(), "lea": set()}
    superuser = make_user("root", is_superuser=True)
    assert tables_of(superuser) == set()  # governs, and reads nothing


def test_the_words_of_a_source_are_read_once_for_each_saved_layer_and_set_of_tables(
    source: DataSource, northerner: User
) -> None:
    nora, rita = Principal.of(northerner), make_user("rita")
    layer = source.semantic_layer
    before = open_source(nora, "shop").lexicon
    assert open_source(nora, "shop").lexicon is before
    grant(None, source, to=rita, table="customer")
    assert {model.name for model in open_source(Principal.of(rita), "shop").lexicon.catalog.layer.semantic_models} == {
        "customer"
    }
    renamed = tuple(model.model_copy(update={"synonyms": ("clientele",)}) for model in layer.semantic_models)
    save_layer(None, source, layer.model_copy(update={"semantic_models": renamed}))
    after = open_source(nora, "shop").lexicon
    assert (("clientele",) in before.phrases, ("clientele",) in after.phrases) == (False, True)
    revoke_right(None, source, of=rita, table="customer")
    with pytest.raises(NotFound):
        open_source(Principal.of(rita), "shop")


def test_a_right_taken_back_is_gone_and_both_are_recorded(source: DataSource) -> None:
    person = make_user("rita")
    grant(None, source, to=person)
    assert tables_of(person) == {"customer", "sale"}
    revoke_right(None, source, of=person)
    assert tables_of(person) == set()
    actions = Entry.objects.filter(target_id=str(source.pk)).values_list("action", flat=True)
    assert {Action.GRANT_GIVEN, Action.GRANT_REVOKED} <= set(actions)


def test_only_its_manager_changes_a_source(source: DataSource, northerner: User) -> None:
    nora = Principal.of(northerner)
    with pytest.raises(PermissionDenied):
        grant(nora, source, to=make_user())
    with pytest.raises(PermissionDenied):
        save_layer(nora, source, source.semantic_layer)
    with pytest.raises(InvalidInput, match="The source has no table custmer"):
        grant(None, source, to=make_user(), table="custmer")
    grant(None, source, to=northerner, right=Right.MANAGE)
    save_layer(nora, source, source.semantic_layer)


def test_missing_and_forbidden_sources_are_the_same(source: DataSource) -> None:
    stranger = Principal.of(make_user())
    texts = set()
    for name in ("shop", "nowhere"):
        with pytest.raises(NotFound) as refused:
            open_source(stranger, name)
        texts.add(str(refused.value).replace(name, "…"))
    assert len(texts) == 1


def test_check_sql_shows_what_runs_and_what_comes_back(source: DataSource, northerner: User, tmp_path: Path) -> None:
    counted, refused, listed = check(
        tmp_path, northerner,
        "SELECT count(*) AS n FROM customer", "SELECT api_token FROM customer", "SELECT id FROM sale ORDER BY id",
        execute=True,
    )  # fmt: skip
    assert counted["verdict"] == "allow"
    assert counted["rows"] == [[75]]
    assert refused["verdict"] == "deny"
    assert 'column "api_token" does not exist' in refused["error"]
    assert len(listed["rows"]) == 50
    assert listed["total"] == 200
    entries = Entry.objects.filter(actor_name="nora").values_list("action", flat=True)
    assert sorted(entries) == [Action.SQL_EXECUTED, Action.SQL_EXECUTED, Action.SQL_REFUSED]


def test_check_sql_without_execute_runs_nothing_and_knows_no_source_of_others(
    source: DataSource, northerner: User, tmp_path: Path
) -> None:
    (verdict,) = check(tmp_path, northerner, "SELECT name FROM customer")
    assert verdict["verdict"] == "allow"
    assert "rows" not in verdict
    assert "IN ('North')" in verdict["rewritten"]
    with pytest.raises(CommandError, match="There is no data source shop you can query"):
        check(tmp_path, make_user("sam"), "SELECT 1")


def test_a_layer_travels_by_the_commands(source: DataSource, shop: Address, tmp_path: Path) -> None:
    out, drafted = StringIO(), StringIO()
    call_command("data_source", "export", "shop", stdout=out)
    told = StringIO()
    call_command("introspect_datasource", "shop", stdout=drafted, stderr=told)
    assert [line.rpartition(":")[0] for line in told.getvalue().splitlines()] == [
        f"{done} of 6" for done in range(1, 7)
    ]
    assert out.getvalue() == drafted.getvalue()
    file = tmp_path / "other.yaml"
    file.write_text(out.getvalue().replace("name: shop", "name: second", 1))
    DataSource.unscoped.create(name="second", database=shop.database, is_embedded=True)
    call_command("data_source", "import", str(file), stdout=StringIO())
    assert (
        DataSource.unscoped.get(name="second").semantic_layer.semantic_models == source.semantic_layer.semantic_models
    )


def test_what_is_longer_than_any_question_on_data_is_not_read(
    northerner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "How many customers are there?"
    assert pipeline.explain_reading(Principal.of(northerner), question, "en").is_read
    monkeypatch.setattr(pipeline, "QUESTION_LENGTH", len(question) - 1)
    assert not pipeline.explain_reading(Principal.of(northerner), question, "en").is_read
