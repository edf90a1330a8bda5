"""An issuer that answers what no issuer should: the person is told, and nothing is an error of ours."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from authz.issuer_check import fault_of
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
ANSWERS: dict[str, Any] = {
    "a list": [1],
    "null": None,
    "a text": "x",
    "empty": {},
    "deep": deep(900),
    "odd": {"keys": 5, "sub": 5},
}
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


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("what", ANSWERS)
def test_documents_of_any_form_are_answered(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, path: str, what: str
) -> None:
    real = issuer.get

    def get(asked: str, query: dict[str, str], headers: Any) -> tuple[int, Any]:
        return (200, ANSWERS[what]) if asked == path else real(asked, query, headers)

    monkeypatch.setattr(issuer, "get", get)
    assert way_round() in TOLD - {302}
    assert not User.objects.exists()
    assert isinstance(fault_of(issuer.url), str)


def test_an_issuer_that_is_right_lets_in(issuer: Issuer) -> None:
    """The negative control of this file."""
    assert way_round() == 302
    assert signed_in_by_company()[1].status_code == 302
