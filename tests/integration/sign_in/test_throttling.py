"""Guessing passwords: a few wrong ones, then a pause, for a name and for an address."""

from typing import Any

import pytest
from django.test import Client

from tests.factories import make_user
from tests.integration.pages.house import plain
from tests.integration.sign_in.browser import is_in

pytestmark = pytest.mark.django_db
PASSWORD = "a password of a test"


def attempt(username: str, password: str, address: str = "192.0.2.50") -> tuple[Client, Any]:
    client = Client(REMOTE_ADDR=address)
    return client, client.post("/sign-in/", {"username": username, "password": password})


def test_after_five_wrong_passwords_the_right_one_has_to_wait(settings: Any) -> None:
    make_user("guessed", password=PASSWORD)
    for _time in range(5):
        assert attempt("guessed", "wrong")[1].status_code == 200
    client, answer = attempt("Guessed", PASSWORD, address="192.0.2.51")
    assert (answer.status_code, is_in(client)) == (429, False)
    assert "Too many wrong attempts. Wait five minutes, then try again." in plain(answer.content)
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": None}
    assert is_in(attempt("guessed", PASSWORD)[0]), "without the limit the same attempt is let in"


def test_right_passwords_do_not_count(settings: Any) -> None:
    make_user("frequent", password=PASSWORD)
    for _time in range(7):
        assert is_in(attempt("frequent", PASSWORD)[0])


def test_one_address_that_tries_many_names_is_paused(settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/m/ip,50/300s/key"}
    make_user("sprayed", password=PASSWORD)
    for number in range(3):
        attempt(f"nobody{number}", "wrong", address="192.0.2.77")
    assert attempt("sprayed", PASSWORD, address="192.0.2.77")[1].status_code == 429
    assert is_in(attempt("sprayed", PASSWORD, address="192.0.2.78")[0])
