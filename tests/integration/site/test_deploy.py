"""`manage.py check --deploy` as an operator runs it: silent for a production environment, one sentence for each thing that is missing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from copilot_site.config import ConfigError, load_config
from tests.homes import ROOT, Checkout

PRODUCTION = {
    "DATABASE_URL": "postgresql://copilot:xW7hQ2tN5v@db.example.com:5432/copilot",
    "REDIS_URL": "rediss://:mB4kR8sD1p@valkey.example.com:6379/0",
    "COPILOT_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!?",
    "COPILOT_ALLOWED_HOSTS": "knowledge.example.com",
    "COPILOT_HTTPS": "true",
    "COPILOT_TRUSTED_PROXY": "true",
    "COPILOT_OIDC_ISSUER": "https://login.example.com/realms/company",
    "COPILOT_OIDC_CLIENT_ID": "copilot",
    "COPILOT_OIDC_CLIENT_SECRET": "a secret of the issuer",
}


def checked(home: Path, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """The check in a production environment with these changes; None leaves a setting out."""
    environment = {name: value for name, value in (PRODUCTION | changes).items() if value is not None}
    return Checkout(home / "home", extra=environment).manage("check", "--deploy", "--fail-level", "WARNING")


def test_a_production_environment_passes_without_a_warning(tmp_path: Path) -> None:
    done = checked(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "System check identified no issues (1 silenced).\n"


def test_all_that_is_wrong_with_an_environment_is_said_and_fails(tmp_path: Path) -> None:
    done = checked(tmp_path, COPILOT_SECRET_KEY=None, COPILOT_STAFF_MFA="optional", COPILOT_ALLOWED_HOSTS="localhost")
    said = (
        "COPILOT_SECRET_KEY is not set, so every host makes its own",
        "the administration opens with a password alone",
        "names this machine only",
    )
    assert done.returncode != 0
    assert [sentence for sentence in said if sentence not in done.stderr] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"COPILOT_ALLOWED_HOSTS": "*"}, "whatever host a client claims is believed"),
        ({"COPILOT_HTTPS": "false"}, "SESSION_COOKIE_SECURE is not set to True"),
    ],
)
def test_plain_http_and_every_host_that_a_client_claims_fail(
    tmp_path: Path, changes: dict[str, str], said: str
) -> None:
    done = checked(tmp_path, **changes)
    assert (done.returncode != 0, said in done.stderr) == (True, True)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"COPILOT_OIDC_CLIENT_SECRET": ""},
            "set COPILOT_OIDC_ISSUER, COPILOT_OIDC_CLIENT_ID and COPILOT_OIDC_CLIENT_SECRET together",
        ),
        (
            {"COPILOT_OIDC_ISSUER": "http://login.example.com"},
            "COPILOT_OIDC_ISSUER cannot be used: must start with https://",
        ),
        ({"COPILOT_STAFF_MFA": "sometimes"}, "COPILOT_STAFF_MFA cannot be used"),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], says: str
) -> None:
    for name, value in (PRODUCTION | changes).items():
        monkeypatch.setenv(name, value)
    load_config.cache_clear()
    try:
        with pytest.raises(ConfigError, match=re.escape(says)):
            load_config()
    finally:
        load_config.cache_clear()


def test_neither_the_web_server_nor_up_starts_with_what_is_dangerous(tmp_path: Path) -> None:
    """Each danger is named in tests/unit/site/test_exposure.py."""
    checkout = Checkout(tmp_path / "home", extra=PRODUCTION | {"COPILOT_HTTPS": "false"})
    server = [sys.executable, "-c", "import copilot_site.asgi"]
    asked = subprocess.run(server, env=checkout.environment(), capture_output=True, text=True, check=False, cwd=ROOT)
    for done in (checkout.manage("up"), asked):
        assert done.returncode != 0
        assert "Others reach this site by plain HTTP" in done.stderr
        assert "Traceback" not in done.stderr
