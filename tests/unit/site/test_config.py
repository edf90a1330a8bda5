"""The environment: read once, typed, refused with one sentence when it cannot be meant."""

from pathlib import Path

import pytest

from copilot_site import config
from copilot_site.config import Config, ConfigError, load_config, refuse_unknown_settings


@pytest.fixture(autouse=True)
def fresh_config() -> object:
    load_config.cache_clear()
    yield
    load_config.cache_clear()


def test_unknown_name_stops_the_start_naming_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"COPILOT_SMPT_HOST \(did you mean COPILOT_SMTP_HOST\?\)"):
        refuse_unknown_settings(["PATH", "COPILOT_SMPT_HOST"])


def test_all_removed_options_are_named_in_one_sentence_and_taken_for_no_other() -> None:
    removed = ["COPILOT_RUNS_AT_ONCE", "COPILOT_LLM_RUN_COST", "COPILOT_LDAP_GROUPS_FILTER", "COPILOT_EMBEDDER"]
    with pytest.raises(ConfigError, match="Unknown options: ") as refused:
        refuse_unknown_settings([*removed, *removed])
    assert f"options: {', '.join(sorted(removed))}: correct or unset them" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_known_names_and_names_of_others_are_accepted() -> None:
    refuse_unknown_settings([*Config.names(), "PATH", "DATABASE_URL", "COPILOT_DATA"])


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({}, ("bundled", "maxsim")),
        ({"COPILOT_EMBEDDER_MODEL": "BAAI/bge-m3"}, ("sentence_transformers", "none")),
        (
            {"COPILOT_EMBEDDER_MODEL": "m", "COPILOT_EMBEDDER_BASE_URL": "http://models/v1"},
            ("openai_compatible", "none"),
        ),
        ({"COPILOT_RERANKER_MODEL": "BAAI/bge-reranker-v2-m3"}, ("bundled", "cross_encoder")),
    ],
)
def test_the_models_that_are_named_choose_embedder_and_reranker(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], chosen: tuple[str, str]
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert (load_config().embedder, load_config().reranker) == chosen


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "http", "PORT cannot be used"),
        ("PORT", "70000", "PORT cannot be used: Input should be less than or equal to 65535"),
        ("DATABASE_URL", "mysql://x", r"DATABASE_URL cannot be used: must start with postgresql://"),
        ("REDIS_URL", "localhost", "REDIS_URL cannot be used: must start with redis://"),
        ("COPILOT_TIME_ZONE", "Asia/Peking", "COPILOT_TIME_ZONE cannot be used: Asia/Peking is no time zone"),
        ("COPILOT_TIME_ZONE", "Asia", "COPILOT_TIME_ZONE cannot be used: Asia is no time zone"),
        ("COPILOT_SMTP_SECURITY", "ssl", "COPILOT_SMTP_SECURITY cannot be used"),
        ("COPILOT_EMBEDDER_BASE_URL", "models/v1", "COPILOT_EMBEDDER_BASE_URL cannot be used: must be an address"),
        (
            "COPILOT_EMBEDDER_BASE_URL",
            "http://models/v1",
            "COPILOT_EMBEDDER_BASE_URL cannot be used: set COPILOT_EMBEDDER_MODEL",
        ),
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


def test_an_env_file_that_cannot_be_read_stops_the_start_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "BASE_DIR", tmp_path)
    (tmp_path / ".env").write_bytes("COPILOT_SMTP_FROM=知识库".encode("gb18030"))
    with pytest.raises(ConfigError, match=r"\.env cannot be read: save it as UTF-8") as stopped:
        load_config()
    assert "\n" not in str(stopped.value)


def test_secrets_do_not_show_in_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://someone:hunter2@db/copilot")
    monkeypatch.setenv("COPILOT_EMBEDDER_API_KEY", "hunter2")
    assert "hunter2" not in repr(load_config())
    assert load_config().database_url.get_secret_value().endswith("@db/copilot")  # type: ignore[union-attr]


def test_every_field_says_what_it_is() -> None:
    assert [name for name, field in Config.model_fields.items() if not field.description] == []
