"""A company sign-in is tried before it is saved: each thing that would keep people out has its sentence."""

from typing import Any

import pytest
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.issuer_check import fault_of
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.oidc_issuer import Issuer

pytestmark = pytest.mark.django_db


def test_an_issuer_that_is_as_it_must_be_has_no_fault(issuer: Issuer) -> None:
    assert fault_of(issuer.url) == ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, {"issuer": "https://another.example"}), "calls itself “https://another.example”"),
        ((200, {"issuer": "URL", "jwks_uri": "URL/keys"}), "lacks authorization_endpoint, token_endpoint"),
        ((404, {}), "There is no OpenID configuration"),
        ((200, []), "There is no OpenID configuration"),
    ],
)
def test_what_an_issuer_says_wrong_is_told(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, Any], words: str
) -> None:
    status, body = answer
    if isinstance(body, dict):
        body = {name: value.replace("URL", issuer.url) for name, value in body.items()}
    monkeypatch.setattr(issuer, "get", lambda *_asked: (status, body))
    assert words in fault_of(issuer.url)


def test_an_issuer_without_keys_or_without_a_server_is_told(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = issuer.get
    monkeypatch.setattr(
        issuer, "get", lambda path, *rest: (200, {"keys": []}) if path == "/keys" else whole(path, *rest)
    )
    assert "publishes no keys" in fault_of(issuer.url)
    gone = issuer.url.rpartition(":")[0] + ":9"
    assert fault_of(gone)


def test_an_address_that_this_server_does_not_connect_to_is_told_from_one_where_nobody_answers(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("public",)
    assert "COPILOT_OUTGOING_ALLOW" in fault_of("https://localhost:9")
    assert "does not resolve" in fault_of("https://nowhere.invalid")
    settings.OUTGOING_ALLOW = ("localhost",)
    assert "Nothing answers" in fault_of("https://localhost:9")


def test_the_button_judges_the_address_as_the_form_does_and_saves_nothing() -> None:
    client = client_of(make_user("root", is_superuser=True))
    said = client.post(reverse("sign-in-try"), {"server_url": "http://issuer.example", "provider_id": "company"})
    assert "https:// only" in text_of(said)
    assert not Entry.objects.filter(action=Action.SIGN_IN_TESTED).exists()
    assert client_of(staff("sam")).post(reverse("sign-in-try"), {}).status_code == 403
    assert client_of(make_user("clara")).post(reverse("sign-in-try"), {}).status_code == 302
