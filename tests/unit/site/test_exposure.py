"""A site that others reach does not start with what would let them in; one sentence says what to set."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from copilot_site import checks
from copilot_site.config import Config, ConfigError
from copilot_site.startup_checks import find_dangers, is_exposed, require_safe_config

STRONG = "q7Zk2vR9xW4mB8tL1nC6yH3pD5sF0gJ7aK2eU9iO4wQ8rT1zX6bV"
SAFE: dict[str, Any] = {
    "allowed_hosts": "knowledge.example.com",
    "https": True,
    "secret_key": STRONG,
    "host": "0.0.0.0",
}


def config(**changes: Any) -> Config:
    return Config(_env_file=None, **(SAFE | changes))  # type: ignore[call-arg]  # of pydantic-settings


def test_a_production_environment_starts() -> None:
    assert is_exposed(config())
    require_safe_config(config())
    require_safe_config(config(secret_key=None))  # made by the machine, random
    require_safe_config(config(DATABASE_URL="postgresql://copilot:xW7hQ2tN5v@db/copilot", REDIS_URL="redis://valkey/0"))


DANGERS: list[tuple[dict[str, Any], str]] = [
    ({"https": False}, "COPILOT_HTTPS=true"),
    ({"secret_key": "a" * 50}, "COPILOT_SECRET_KEY"),
    ({"secret_key": "abcdefghijkl" * 5}, "COPILOT_SECRET_KEY"),
    ({"secret_key": "django-insecure-" + STRONG}, "COPILOT_SECRET_KEY"),
    ({"secret_key": "change-me-" + STRONG}, "COPILOT_SECRET_KEY"),
    ({"DATABASE_URL": "postgresql://copilot:copilot@db/copilot"}, "DATABASE_URL"),
    ({"DATABASE_URL": "postgresql://copilot:Change%6De@db/copilot"}, "DATABASE_URL"),
    ({"REDIS_URL": "redis://:password@valkey/0"}, "REDIS_URL"),
]


@pytest.mark.parametrize(("change", "name"), DANGERS, ids=str)
def test_it_does_not_start_with(change: dict[str, Any], name: str) -> None:
    (sentence,) = find_dangers(config(**change))
    assert name in sentence
    assert sentence.endswith(".")
    with pytest.raises(ConfigError, match=name):
        require_safe_config(config(**change))


def test_on_this_machine_alone_it_starts_with_all_of_it() -> None:
    for change, _name in DANGERS:
        local = {"host": "127.0.0.1", "allowed_hosts": "localhost, 127.0.0.1,[::1]"}
        assert list(find_dangers(config(**change, **local))) == []


def test_others_come_by_an_address_or_by_a_name() -> None:
    for change, is_so in (
        ({"host": "127.0.0.1"}, True),  # by its name, through a proxy on this machine
        ({"allowed_hosts": "localhost"}, True),  # by its address
        ({"host": "::1", "allowed_hosts": "localhost"}, False),
        ({"host": "127.0.0.1", "allowed_hosts": "*"}, True),
    ):
        assert is_exposed(config(**change)) is is_so


@pytest.fixture
def exposed(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """This process is configured as a site that others reach."""
    monkeypatch.setattr("copilot_site.checks.load_config", config)
    settings.IS_EXPOSED = True


@pytest.mark.django_db
def test_a_demo_login_keeps_an_exposed_site_from_starting(exposed: None) -> None:
    from demo.logins import list_logins

    look = checks.nobody_signs_in_with_a_public_password
    somebody, other = list_logins()[0], list_logins()[1]
    user = User.objects.create_user(somebody.username, password=somebody.password)
    User.objects.create_user(other.username, password="another one")
    (found,) = look(databases=["default"])
    assert somebody.username in found.msg
    assert other.username not in found.msg
    user.set_password("another one")
    user.save()
    assert look(databases=["default"]) == []


@pytest.mark.django_db
def test_on_this_machine_demo_logins_are_fine() -> None:
    from demo.logins import list_logins

    User.objects.create_user(list_logins()[0].username, password=list_logins()[0].password)
    assert checks.nobody_signs_in_with_a_public_password(databases=["default"]) == []


@pytest.mark.django_db
def test_the_demo_is_not_seeded_where_others_come(exposed: None) -> None:
    with pytest.raises(CommandError, match="passwords are public"):
        call_command("seed_demo")
    assert not User.objects.exists()
