"""The second factor: set up, asked at every way in, asked of staff before the admin opens, and no secret in the database."""

import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
)
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.pages.house import client_of, plain
from tests.integration.sign_in.browser import is_in, signed_in_by_company
from tests.oidc_issuer import Issuer

pytestmark = pytest.mark.django_db
PASSWORD = "a password of a test"


def code_for(secret: str) -> str:
    """What an authenticator app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def with_factor(user: User) -> str:
    """Give somebody a second factor; returns its key."""
    secret = str(generate_totp_secret())
    TOTP.activate(user, secret)
    return secret


def sign_in(username: str, password: str = PASSWORD, **form: str) -> tuple[Client, Any]:
    client = Client()
    return client, client.post("/sign-in/", {"username": username, "password": password, **form})


def test_a_person_sets_it_up_and_is_asked_for_it_from_then_on() -> None:
    make_user("mei", password=PASSWORD)
    client, _answer = sign_in("mei")
    page = client.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    assert secret in plain(page.content)
    answer = client.post(reverse("mfa_activate_totp"), {"code": code_for(secret)})
    assert answer["Location"] == reverse("mfa_view_recovery_codes")
    codes = client.get(answer["Location"]).context["unused_codes"]
    assert len(codes) == 10
    for name in ("mfa_index", "mfa_deactivate_totp", "mfa_generate_recovery_codes"):
        assert client.get(reverse(name)).status_code == 200, name
    again, answer = sign_in("mei", next="/tokens/")
    assert (answer["Location"], is_in(again)) == (reverse("mfa_authenticate"), False)
    assert again.get(reverse("mfa_authenticate")).status_code == 200
    wrong = again.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert (wrong.status_code, is_in(again)) == (200, False)
    assert again.post(reverse("mfa_authenticate"), {"code": codes[0]})["Location"] == "/tokens/"
    assert is_in(again)
    third, _answer = sign_in("mei")
    third.post(reverse("mfa_authenticate"), {"code": codes[0]})
    assert not is_in(third), "a recovery code lets in once"
    actions = list(Entry.objects.values_list("action", flat=True))
    assert actions.count(Action.MFA_FAILED) == 2
    assert Entry.objects.filter(action=Action.SIGNED_IN).latest("id").detail == {"by": ["password", "mfa"]}


def test_it_is_asked_after_the_company_sign_in_too(issuer: Issuer) -> None:
    signed_in_by_company()
    secret = with_factor(User.objects.get())
    client, answer = signed_in_by_company()
    assert (answer["Location"], is_in(client)) == (reverse("mfa_authenticate"), False)
    client.post(reverse("mfa_authenticate"), {"code": code_for(secret)})
    assert is_in(client)


def test_no_other_address_signs_in_past_it() -> None:
    make_user("root", password=PASSWORD, is_superuser=True)
    client = Client()
    answer = client.post("/admin/login/", {"username": "root", "password": PASSWORD, "next": "/admin/"})
    assert answer["Location"].startswith("/sign-in/")
    assert not is_in(client)
    assert client.get(reverse("mfa_authenticate"))["Location"] == "/sign-in/"


def test_the_key_is_not_in_the_database_in_the_clear_and_ends_with_the_signing_key(settings: Any) -> None:
    user = make_user("mei", password=PASSWORD)
    secret = with_factor(user)
    assert secret not in str(Authenticator.objects.get().data)
    settings.SECRET_KEY = "another" * 10
    client, _answer = sign_in("mei")
    answer = client.post(reverse("mfa_authenticate"), {"code": code_for(secret)})
    assert (answer.status_code, is_in(client)) == (400, False)
    assert "created with another signing key" in plain(answer.content)


def staff(name: str = "clerk") -> User:
    return make_user(name, password=PASSWORD, is_superuser=True)


@pytest.mark.parametrize(("wanted", "opens"), [("required", False), ("optional", True)])
def test_staff_without_it_are_led_to_its_set_up_before_the_admin_opens(settings: Any, wanted: str, opens: bool) -> None:
    settings.STAFF_MFA = wanted
    client, _answer = sign_in(staff().username)
    for url in (reverse("admin:index"), reverse("admin:auth_user_changelist"), reverse("admin:jsi18n")):
        answer = client.get(url)
        assert (answer.status_code, answer.get("Location")) == (
            (200, None) if opens else (302, "/second-factor/set-up/")
        )
    assert is_in(client), "the rest of the site stays open"


def test_codes_for_a_lost_phone_alone_do_not_open_the_admin_and_a_factor_does(settings: Any) -> None:
    settings.STAFF_MFA = "required"
    admin = staff()
    RecoveryCodes.activate(admin)
    assert client_of(admin).get("/admin/")["Location"] == reverse("mfa_activate_totp")
    with_factor(admin)
    assert client_of(admin).get("/admin/").status_code == 200


def test_the_password_is_asked_again_before_it_changes_once_the_sign_in_is_old(settings: Any) -> None:
    make_user("mei", password=PASSWORD)
    client, _answer = sign_in("mei")
    assert client.get(reverse("mfa_activate_totp")).status_code == 200
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    answer = client.get(reverse("mfa_activate_totp"))
    assert answer["Location"].startswith(reverse("account_reauthenticate"))
    assert client.get(answer["Location"]).status_code == 200
    assert client.post(answer["Location"], {"password": "wrong"}).status_code == 200
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
    assert client.post(answer["Location"], {"password": PASSWORD}).status_code in {200, 302}


def test_an_administrator_resets_it_for_a_lost_phone_and_that_is_recorded(settings: Any) -> None:
    mei, admin = make_user("mei", password=PASSWORD), make_user("root", is_superuser=True)
    secret = with_factor(mei)
    client, factor = client_of(admin), Authenticator.objects.get()
    assert secret not in plain(client.get(reverse("admin:mfa_authenticator_change", args=[factor.pk])).content)
    client.post(reverse("admin:mfa_authenticator_delete", args=[factor.pk]), {"post": "yes"})
    entry = Entry.objects.get(action=Action.MFA_REMOVED)
    assert (entry.actor_name, entry.target_id) == ("root", str(mei.pk))
    assert is_in(sign_in("mei")[0])


def test_codes_are_throttled() -> None:
    mei = make_user("mei-who-guesses", password=PASSWORD)
    secret = with_factor(mei)
    client, _answer = sign_in(mei.username)
    for _time in range(6):
        client.post(reverse("mfa_authenticate"), {"code": "000000"})
    client.post(reverse("mfa_authenticate"), {"code": code_for(secret)})
    assert not is_in(client)
