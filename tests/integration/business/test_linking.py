"""Linking to a stored source: vectors of its saved layer, and what they tell to whom."""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command

from authz.principal import Principal
from business.linking import vectors
from business.models import DataSource, SchemaVector
from business.semantic_layer.model import UnitRule
from business.sources.grants import grant
from business.sources.services import open_source, save_layer
from business.tasks import fill_schema_vectors, tend_schema_vectors
from knowledge.retrieval import engine
from tests.factories import make_user, prepare_embedder
from tests.locks import held_elsewhere

TABLES = {"customer", "region", "sale"}


@pytest.fixture(autouse=True)
def _embedder() -> None:
    prepare_embedder()
    cache.clear()  # it remembers that an earlier test filled the shared source


def keys(source: DataSource) -> set[tuple[str, str, str]]:
    return set(SchemaVector.objects.filter(source=source).values_list("model", "kind", "part"))


def test_every_part_of_a_saved_layer_has_one_vector_and_what_has_not_changed_keeps_it(source: DataSource) -> None:
    layer = source.semantic_layer
    assert vectors.fill_source_vectors(source.pk) == len(keys(source)) == 20
    assert {model for model, _kind, _part in keys(source)} == TABLES
    assert {("sale", "model", ""), ("sale", "dimension", "sold_at"), ("sale", "measure", "number_of_sale")} <= keys(
        source
    )
    assert vectors.fill_source_vectors(source.pk) == 0
    sale = next(model for model in layer.semantic_models if model.name == "sale")
    kept = tuple(one for one in sale.dimensions if one.name != "is_paid")
    changed = tuple(one.model_copy(update={"synonyms": ("turnover",)}) if one.name == "amount" else one for one in kept)
    others = tuple(model for model in layer.semantic_models if model.name == "customer")
    update = {"semantic_models": (*others, sale.model_copy(update={"dimensions": changed}))}
    save_layer(None, source, layer.model_copy(update=update))
    assert 0 < vectors.fill_source_vectors(source.pk) <= 2  # the amount, and the table that lists its columns
    assert {model for model, _kind, _part in keys(source)} == {"customer", "sale"}
    assert ("sale", "dimension", "is_paid") not in keys(source)


def test_a_worker_fills_what_was_saved_and_what_was_left(source: DataSource) -> None:
    assert vectors.list_unfilled_sources() == [source.pk]
    tend_schema_vectors()
    assert vectors.list_unfilled_sources() == []
    save_layer(None, source, source.semantic_layer)
    assert vectors.list_unfilled_sources() == [source.pk]
    fill_schema_vectors(str(source.pk))
    assert vectors.list_unfilled_sources() == []


def test_two_workers_do_not_fill_one_source_at_once(source: DataSource) -> None:
    with held_elsewhere(f"schema vectors:{source.pk}"):
        assert vectors.fill_source_vectors(source.pk) == 0
        assert keys(source) == set()
    assert vectors.fill_source_vectors(source.pk) > 0


def test_who_may_ask_one_table_is_linked_to_no_other(source: DataSource, northerner: User) -> None:
    layer = source.semantic_layer
    shared = [model.model_copy(update={"org_unit": UnitRule(shared_with="granted")}) for model in layer.semantic_models]
    save_layer(None, source, layer.model_copy(update={"semantic_models": tuple(shared)}))
    vectors.fill_source_vectors(source.pk)
    rita = make_user("rita")
    grant(None, source, to=rita, table="region")
    opened = open_source(Principal.of(rita), "shop")
    for linker in (opened.linker, replace(opened.linker, whole_columns=0)):
        for question in ("How many sales, by customer segment?", "sale amount", "large customers in the East"):
            linked = linker.link(question)
            assert [model.name for model in linked.models] == ["region"]
            assert {name.partition(".")[0] for name in (*linked.columns, *linked.measures)} <= {"region"}
            assert {value.dimension.partition(".")[0] for value in linked.values} <= {"region"}


def test_where_the_embedder_fails_words_lead(
    source: DataSource, northerner: User, settings: LazySettings, tmp_path: Path
) -> None:
    vectors.fill_source_vectors(source.pk)
    linker = replace(open_source(Principal.of(northerner), "shop").linker, whole_columns=0)
    settings.EMBEDDER_OPTIONS = {**settings.EMBEDDER_OPTIONS, "cache_dir": tmp_path}
    engine._load_embedder.cache_clear()
    try:
        assert linker.link("which amount was paid for sales?").models[0].name == "sale"
    finally:
        engine._load_embedder.cache_clear()


def test_linking_is_measured_on_sets_of_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str], db: None) -> None:
    (tmp_path / "shop.sql").write_text((Path(__file__).parent / "shop.sql").read_text())
    (tmp_path / "questions.one.jsonl").write_text(
        '{"id": "1", "question": "total amount by segment", "db_name": "shop", "query": '
        '"SELECT segment, sum(amount) FROM sale JOIN customer ON customer.id = customer_id GROUP BY 1"}\n'
        '{"id": "2", "question": "每个地区的客户数", "db_name": "shop", "query": '
        '"SELECT region_code, count(*) FROM customer GROUP BY 1; SELECT nothing FROM nowhere"}\n'
        '{"id": "3", "question": "the weather", "db_name": "shop", "query": "", "answerable": false}\n'
    )
    report = tmp_path / "report.json"
    call_command("evaluate_linking", str(tmp_path), whole_columns=0, json=report)
    found = json.loads(report.read_text())
    assert found["total"]["questions"] == 2
    assert (found["total"]["covered"], found["missed"]) == (1.0, [])
    assert set(found["languages"]) == {"en", "zh"}
    assert found["databases"] == {"shop": ANY}
    assert not DataSource.unscoped.filter(name__startswith="linking").exists()
    assert '"covered": 1.0' in capsys.readouterr().out
