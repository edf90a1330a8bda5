"""An issuer that answers what no issuer should: people and administrators are told, and nothing is an error of ours."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.sign_in.issuer_check import find_issuer_fault
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.integration.sign_in.browser import follow, signed_in_by_company
from tests.oidc_issuer import Issuer

pytestmark = pytest.mark.django_db


def deep(levels: int) -> Any:
    value: Any = "end"
    for _level in range(levels):
        value = {"a": value}
    return value


CLAIMS: dict[str, dict[str, Any]] = {
    "a name of another type": {"preferred_username": {"a": 1}, "name": 5, "given_name": ["Mei"], "email": [1]},
    "names without end": {"preferred_username": "x" * 5_000, "given_name": "x" * 5_000, "family_name": "x" * 5_000},
    "a subject without end": {"sub": "s" * 5_000},
    "NUL and halves of characters": {"preferred_username": "a\0b\ud800", "given_name": "a\0b", "groups": ["a\0b\ud800"]},
    "deep claims": {"address": deep(200)},
    "claims without bottom": {"address": deep(900)},
    "a number without end": {"age": 10**400},
    "groups without end": {"groups": [{"a": "x" * 1_000}] * 500},
}  # fmt: skip
ANSWERS: dict[str, Any] = {"a list": [1], "null": None, "empty": {}, "deep": deep(900), "odd": {"keys": 5, "sub": 5}}
PATHS = ("/.well-known/openid-configuration", "/keys", "/userinfo")
TOLD = {302, 401, 403, 503}


def way_round() -> int:
    client = Client(raise_request_exception=False)
    away = client.get("/sign-in/with/company/")
    if away.status_code != 302:
        return away.status_code
    answer: Any = client.get(follow(away["Location"]))
    return int(answer.status_code)


@pytest.mark.parametrize("what", CLAIMS)
def test_claims_of_any_form_are_answered(issuer: Issuer, what: str) -> None:
    issuer.claims |= CLAIMS[what]
    assert way_round() in TOLD
    assert all(len(name) <= 150 for name in User.objects.values_list("username", flat=True))


@pytest.mark.parametrize("what", ANSWERS)
def test_documents_of_any_form_are_answered(issuer: Issuer, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    real, odd = issuer.get, ""

    def get(asked: str, query: dict[str, str], headers: Any) -> tuple[int, Any]:
        return (200, ANSWERS[what]) if asked == odd else real(asked, query, headers)

    monkeypatch.setattr(issuer, "get", get)
    for odd in PATHS:
        assert way_round() in TOLD - {302}, odd
        assert not User.objects.exists()
        assert isinstance(find_issuer_fault(issuer.url), str)


def test_an_issuer_that_is_right_has_no_fault_and_lets_in(issuer: Issuer) -> None:
    """The negative control of this file."""
    assert find_issuer_fault(issuer.url) == ""
    assert way_round() == 302
    assert signed_in_by_company()[1].status_code == 302


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, {"issuer": "https://another.example"}), "calls itself “https://another.example”"),
        ((200, {"issuer": "URL", "jwks_uri": "URL/keys"}), "lacks authorization_endpoint, token_endpoint"),
        ((404, {}), "There is no OpenID configuration"),
    ],
)
def test_what_an_issuer_says_wrong_is_told(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, Any], words: str
) -> None:
    status, body = answer
    body = {name: value.replace("URL", issuer.url) for name, value in body.items()}
    monkeypatch.setattr(issuer, "get", lambda *_asked: (status, body))
    assert words in find_issuer_fault(issuer.url)


def test_an_issuer_without_keys_or_without_a_server_is_told(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = issuer.get
    monkeypatch.setattr(
        issuer, "get", lambda path, *rest: (200, {"keys": []}) if path == "/keys" else whole(path, *rest)
    )
    assert "publishes no keys" in find_issuer_fault(issuer.url)
    gone = issuer.url.rpartition(":")[0] + ":9"
    assert find_issuer_fault(gone)


def test_an_address_that_this_server_does_not_connect_to_is_told_from_one_where_nobody_answers(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("public",)
    assert "COPILOT_OUTGOING_ALLOW" in find_issuer_fault("https://localhost:9")
    assert "does not resolve" in find_issuer_fault("https://nowhere.invalid")
    settings.OUTGOING_ALLOW = ("localhost",)
    assert "Nothing answers" in find_issuer_fault("https://localhost:9")


def test_the_button_judges_the_address_as_the_form_does_and_saves_nothing() -> None:
    client = client_of(make_user("root", is_superuser=True))
    said = client.post(reverse("sign-in-try"), {"server_url": "http://issuer.example", "provider_id": "company"})
    assert "needs an https:// address" in text_of(said)
    assert not Entry.objects.filter(action=Action.SIGN_IN_TESTED).exists()
    assert client_of(staff("sam")).post(reverse("sign-in-try"), {}).status_code == 403
    assert client_of(make_user("clara")).post(reverse("sign-in-try"), {}).status_code == 302
