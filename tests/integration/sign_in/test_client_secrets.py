"""A company sign-in that stands in the admin: its client secret is encrypted, for its issuer alone, and never shown again."""

from typing import Any

import pytest
from allauth.socialaccount.models import SocialApp
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.sign_in.client_secrets import store_secret, stored_secret
from copilot_site.sign_in_checks import company_sign_ins
from tests.factories import make_user
from tests.integration.pages.house import client_of, plain
from tests.integration.sign_in.browser import is_in, signed_in_by_company
from tests.oidc_issuer import CLIENT_ID, CLIENT_SECRET, Issuer

pytestmark = pytest.mark.django_db


def test_a_company_sign_in_of_the_admin_works_like_one_of_the_settings(issuer: Issuer, settings: Any) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True}}
    client = client_of(make_user("root", is_superuser=True))
    form = {"name": "Partner", "provider_id": "company", "server_url": issuer.url, "client_id": "copilot",
            "secret": "a secret of the tests", "groups_claim": "groups"}  # fmt: skip
    url = reverse("admin:socialaccount_socialapp_add")
    assert "http://testserver/sign-in/with/PROVIDER-ID/callback/" in plain(client.get(url).content)
    assert "needs an https:// address" in plain(client.post(url, form).content)
    assert "Give the client secret" in plain(client.post(url, form | {"secret": ""}).content)
    form["server_url"] = issuer.url.replace("http://", "https://")
    assert client.post(url, form).status_code == 302
    page = plain(client.get(reverse("admin:socialaccount_socialapp_change", args=[SocialApp.objects.get().pk])).content)
    assert "a secret of the tests" not in page
    assert "http://testserver/sign-in/with/company/callback/" in page
    SocialApp.objects.update(provider_id="")
    page = plain(client.get(reverse("admin:socialaccount_socialapp_change", args=[SocialApp.objects.get().pk])).content)
    assert "/sign-in/with/PROVIDER-ID/callback/" in page, "one without a short word opens"


def of_the_admin(issuer: Issuer, settings: Any, **more: Any) -> SocialApp:
    """The issuer as a row, its secret stored for it."""
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True}}
    options = {"server_url": issuer.url, "groups_claim": "groups", "link_by_email": False}
    row = SocialApp(
        provider="openid_connect", provider_id="company", name="Partner", client_id=CLIENT_ID, settings=options | more
    )
    store_secret(row, CLIENT_SECRET)
    row.save()
    return row


def stored() -> str:
    """The table, as whoever has a copy of the database reads it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(app::text, '') FROM socialaccount_socialapp app")
        return str(cursor.fetchone()[0])


def test_a_client_secret_is_for_the_issuer_that_made_it(issuer: Issuer, settings: Any) -> None:
    """Whatever way the row is changed, past the form as well: another issuer is not told the secret."""
    row = of_the_admin(issuer, settings)
    client, _answer = signed_in_by_company()
    assert is_in(client), "with its secret it works"
    heard = len(issuer.heard)
    row.settings["server_url"] = issuer.url.replace("127.0.0.1", "localhost")
    row.save()
    signed_in_by_company()
    assert len(issuer.heard) > heard, "the other one is asked"
    assert CLIENT_SECRET not in str(issuer.heard[heard:])


def test_another_issuer_is_stored_with_its_own_secret_alone(issuer: Issuer, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("public",)
    row = of_the_admin(issuer, settings)
    client = client_of(make_user("root", is_superuser=True))
    url = reverse("admin:socialaccount_socialapp_change", args=[row.pk])
    form = {"name": "Partner", "provider_id": "company", "server_url": "https://sso.example", "client_id": CLIENT_ID,
            "secret": "", "groups_claim": "groups"}  # fmt: skip
    assert "Give the client secret that this issuer made" in plain(client.post(url, form).content)
    assert SocialApp.objects.get().settings["server_url"] == issuer.url
    assert client.post(url, form | {"secret": "the new one"}).status_code == 302
    assert client.post(url, form | {"name": "Another name"}).status_code == 302
    assert (stored_secret(SocialApp.objects.get()), SocialApp.objects.get().name) == ("the new one", "Another name")
    assert "the new one" not in stored()
    assert "Give the client secret" in plain(client.post(url, form | {"client_id": "another"}).content)
    first = Entry.objects.filter(action=Action.SETTING_CHANGED).earliest("pk")
    assert first.detail == {"issuer_before": issuer.url, "issuer": "https://sso.example"}
    for refused in ("https://127.0.0.1", "https://169.254.169.254", "https://10.0.0.1"):
        assert "may not connect to" in plain(client.post(url, form | {"server_url": refused, "secret": "x"}).content)


def test_an_issuer_of_the_admin_is_asked_where_it_is_allowed_to_be(issuer: Issuer, settings: Any) -> None:
    """One of the environment is the operator's own word: the other tests here ask it on this machine."""
    settings.OUTGOING_ALLOW = ("private", "public")
    assert is_in(signed_in_by_company()[0])
    of_the_admin(issuer, settings)
    heard = len(issuer.heard)
    assert Client().get("/sign-in/with/company/").status_code == 503
    assert len(issuer.heard) == heard


def test_a_client_secret_is_not_in_the_database(issuer: Issuer, settings: Any) -> None:
    """Nor shown again; with the secret key of another site it is none."""
    row = of_the_admin(issuer, settings)
    assert CLIENT_SECRET not in stored()
    page = client_of(make_user("root", is_superuser=True)).get(
        reverse("admin:socialaccount_socialapp_change", args=[row.pk])
    )
    assert CLIENT_SECRET not in plain(page.content)
    assert row.settings["sealed_secret"] not in plain(page.content)
    assert company_sign_ins().ok
    settings.SECRET_KEY = "another key, of another site"
    assert (company_sign_ins().ok, "Partner" in company_sign_ins().detail) == (False, True)
    heard = len(issuer.heard)
    assert not is_in(signed_in_by_company()[0])
    assert CLIENT_SECRET not in str(issuer.heard[heard:])
