"""`.env.example` names every option once, with the words and default of the configuration, and there are few of them."""

import re

from copilot_site.config import BASE_DIR, PREFIX, Config

MAX_OPTIONS = 55
SHARED = {
    "DATABASE_URL",
    "REDIS_URL",
    "PORT",
    "WEB_CONCURRENCY",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
}
"""Names that other programs read, too; they are not counted."""
TEXT = (BASE_DIR / ".env.example").read_text(encoding="utf-8")
LISTED = re.findall(r"^# (.+)\n#([A-Z0-9_]+)=(.*)$", TEXT, re.MULTILINE)
NAMES = [name for _text, name, _default in LISTED]
REQUIRED_BY_COMPOSE = set(
    re.findall(r"(?<!\$)\$\{([A-Z_]+):\?", (BASE_DIR / "docker-compose.yml").read_text(encoding="utf-8"))
)


def test_every_option_is_listed_once() -> None:
    assert sorted(NAMES) == sorted({*Config.names(), *REQUIRED_BY_COMPOSE})
    assert len(re.findall(r"^#?[A-Z0-9_]+=", TEXT, re.MULTILINE)) == len(NAMES), "one has no line that explains it"


def test_there_are_few_options() -> None:
    assert len(set(NAMES) - SHARED) <= MAX_OPTIONS, "make one a constant with a reason, or remove another"


def test_each_option_has_the_words_and_the_default_of_the_configuration() -> None:
    listed = {name: (text.removesuffix(" required"), default) for text, name, default in LISTED}
    for field, info in Config.model_fields.items():
        default = "" if info.default_factory or info.default is None else str(info.default)
        shown = default.lower() if isinstance(info.default, bool) else default
        assert listed[info.alias or f"{PREFIX}{field.upper()}"] == (info.description, shown)


def test_what_docker_compose_asks_for_is_marked_as_required() -> None:
    assert {name for text, name, _default in LISTED if text.endswith(" required")} == REQUIRED_BY_COMPOSE
