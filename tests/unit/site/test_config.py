"""The environment: read once, typed, refused with one sentence when it cannot be meant."""

import pytest
from pydantic import ValidationError

from copilot_site.config import Config, ConfigError, load_config, refuse_unknown


@pytest.fixture(autouse=True)
def fresh_config() -> object:
    load_config.cache_clear()
    yield
    load_config.cache_clear()


def test_unknown_name_stops_the_start_naming_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Unknown setting COPILOT_EMBEDER\. Did you mean COPILOT_EMBEDDER\?"):
        refuse_unknown(["PATH", "COPILOT_EMBEDER"])


def test_known_names_and_names_of_others_are_accepted() -> None:
    refuse_unknown([*Config.names(), "PATH", "DATABASE_URL"])


def test_a_bucket_is_needed_where_files_are_kept_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_STORAGE", "s3")
    with pytest.raises(
        ConfigError, match="COPILOT_S3_BUCKET cannot be used: COPILOT_STORAGE=s3 needs the name of a bucket"
    ):
        load_config()
    monkeypatch.setenv("COPILOT_S3_BUCKET", "papers")
    assert load_config().s3_bucket == "papers"


@pytest.mark.parametrize(
    ("chosen", "needed"),
    [
        ({"COPILOT_EMBEDDER": "sentence_transformers"}, {"COPILOT_EMBEDDER_MODEL": "BAAI/bge-m3"}),
        (
            {"COPILOT_EMBEDDER": "openai_compatible", "COPILOT_EMBEDDER_MODEL": "m"},
            {"COPILOT_EMBEDDER_BASE_URL": "http://models/v1"},
        ),
        ({"COPILOT_RERANKER": "cross_encoder"}, {"COPILOT_RERANKER_MODEL": "BAAI/bge-reranker-v2-m3"}),
    ],
)
def test_a_chosen_model_needs_its_name_and_place(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], needed: dict[str, str]
) -> None:
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    ((missing, value),) = needed.items()
    with pytest.raises(ConfigError, match=f"{missing} cannot be used: COPILOT_.* needs"):
        load_config()
    monkeypatch.setenv(missing, value)
    load_config.cache_clear()
    load_config()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "http", "PORT cannot be used"),
        ("PORT", "70000", "PORT cannot be used: Input should be less than or equal to 65535"),
        ("DATABASE_URL", "mysql://x", r"DATABASE_URL cannot be used: must start with postgresql://"),
        ("REDIS_URL", "localhost", "REDIS_URL cannot be used: must start with redis://"),
        ("COPILOT_EMBEDDER", "bert", "COPILOT_EMBEDDER cannot be used"),
        ("COPILOT_SECRET_KEY", "short", "COPILOT_SECRET_KEY cannot be used"),
    ],
)
def test_bad_value_stops_the_start_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=sentence) as stopped:
        load_config()
    assert "\n" not in str(stopped.value)
    assert value == "http" or "SecretStr" not in str(stopped.value)


def test_secrets_do_not_show_in_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://someone:hunter2@db/copilot")
    monkeypatch.setenv("COPILOT_EMBEDDER_API_KEY", "hunter2")
    assert "hunter2" not in repr(load_config())
    assert load_config().database_url.get_secret_value().endswith("@db/copilot")  # type: ignore[union-attr]


def test_config_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_config().debug = True


def test_every_field_says_what_it_is() -> None:
    assert [name for name, field in Config.model_fields.items() if not field.description] == []
