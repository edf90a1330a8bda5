"""A database with English names alone is asked in Chinese: its draft has Chinese words, which a person may take away."""

from django.contrib.auth.models import User

from business.introspect import draft_layer
from business.models import DataSource
from business.sources import save_layer
from tests.factories import prepare_embedder
from tests.tooling import called


def test_a_draft_has_chinese_words_and_is_asked_by_them(northerner: User, source: DataSource) -> None:
    prepare_embedder()  # and the dictionary
    layer = draft_layer(source.address, "shop", time_zone="Asia/Shanghai")
    tables = {model.name: model for model in layer.semantic_models}
    assert "顾客" in tables["customer"].synonyms
    save_layer(None, source, layer)
    found = called(northerner, "database_query", {"question": "顾客一共有多少？"})
    assert found.result.data["rows"] == [[75]]
