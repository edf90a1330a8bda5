"""Guessing passwords: a few wrong ones, then a pause, for a name and for an address."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.actions import Action, Outcome
from audit.models import Entry
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
        assert is_in(attempt("guessed", PASSWORD)[0]), "right ones do not count"
    for _time in range(5):
        assert attempt("guessed", "wrong")[1].status_code == 200
    client, answer = attempt("Guessed", PASSWORD, address="192.0.2.51")
    assert (answer.status_code, is_in(client)) == (429, False)
    assert "Too many wrong attempts. Wait five minutes, then try again." in plain(answer.content)
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": None}
    assert is_in(attempt("guessed", PASSWORD)[0]), "without the limit the same attempt is let in"


def test_one_address_that_tries_many_names_is_paused(settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/m/ip,50/300s/key"}
    make_user("sprayed", password=PASSWORD)
    for number in range(3):
        attempt(f"nobody{number}", "wrong", address="192.0.2.77")
    assert attempt("sprayed", PASSWORD, address="192.0.2.77")[1].status_code == 429
    assert is_in(attempt("sprayed", PASSWORD, address="192.0.2.78")[0])


def accepted(listening: socket.socket) -> Iterator[None]:
    """One item for each connection that waits there."""
    listening.setblocking(False)
    with suppress(OSError):  # no further one, or nobody listens
        while True:
            listening.accept()[0].close()
            yield


@pytest.mark.parametrize("hangs", [False, True])
def test_without_valkey_which_counts_them_signing_in_is_unavailable_at_once(settings: Any, hangs: bool) -> None:
    make_user("early", password=PASSWORD)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if hangs:
            silent.listen()
        place = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": place}}
        client, answer = attempt("early", PASSWORD)
        assert len(list(accepted(silent))) == int(hangs), "it is waited for once, for as long as the options say"
    assert settings.CACHES["default"]["OPTIONS"]["socket_timeout"] < 4
    assert (answer.status_code, is_in(client)) == (503, False)
    assert "Part of the server is not responding. Try again in a few seconds." in plain(answer.content)


OLD_PASSWORDS = {
    "password": {"new_password1": "quite another one", "new_password2": "quite another one"},
    "account_reauthenticate": {},
}  # pages that ask somebody who is signed in for their password


def give(client: Client, page: str, password: str) -> Any:
    asked = "old_password" if page == "password" else "password"
    return client.post(reverse(page), OLD_PASSWORDS[page] | {asked: password})


@pytest.mark.parametrize("page", OLD_PASSWORDS)
def test_in_an_open_session_a_password_is_guessed_as_rarely_and_as_seen_as_at_the_door(
    settings: Any, page: str
) -> None:
    person = make_user(password=PASSWORD)
    client = Client(REMOTE_ADDR="192.0.2.60")
    client.force_login(person)
    for _time in range(5):
        give(client, page, "wrong")
    wrong = Entry.objects.filter(action=Action.SIGN_IN_FAILED, target_id=str(person.pk), outcome=Outcome.DENY)
    assert [entry.reason for entry in wrong] == ["wrong password"] * 5
    answer = give(client, page, PASSWORD)
    assert answer.status_code != 302, "the right one has to wait, too"
    assert not Entry.objects.filter(action=Action.PASSWORD_CHANGED).exists()
    assert attempt(person.username, PASSWORD)[1].status_code == 429, "one limit for all pages"
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": None}
    assert give(client, page, PASSWORD).status_code == 302, "without the limit the same attempt is taken"


def test_the_administration_has_no_password_page_of_its_own() -> None:
    client = Client()
    client.force_login(make_user("root", password=PASSWORD, is_superuser=True))
    for method in (client.get, client.post):
        assert method("/admin/password_change/")["Location"] == reverse("password")
    assert f'href="{reverse("password")}"' in client.get(reverse("admin:index")).content.decode()
