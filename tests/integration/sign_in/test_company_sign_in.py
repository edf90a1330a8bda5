"""Signing in with the company's account: a real issuer over HTTP says who somebody is and where they belong."""

import time
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount, SocialApp
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.directory.accounts import KnownPerson, create_directory_account
from authz.models import ClaimMapping, ClaimMembership, Directory, DirectoryAccount, UnmappedClaim
from authz.people.accounts import create_service_account
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights, grant_rights
from authz.sign_in.claims import MAX_VALUES, read_claim_values
from authz.sign_in.client_secrets import read_stored_secret, store_secret
from copilot_site.sign_in_checks import check_company_sign_ins
from tests.factories import make_base, make_group, make_user
from tests.integration.pages.house import client_of, plain
from tests.integration.sign_in.browser import follow, is_in, signed_in_by_company
from tests.oidc_issuer import CLIENT_ID, CLIENT_SECRET, Issuer

pytestmark = pytest.mark.django_db


def test_the_button_is_there_when_a_company_sign_in_is_set_up_and_only_then(issuer: Issuer, settings: Any) -> None:
    assert "/sign-in/with/company/?next=%2Flibrary%2F" in plain(Client().get("/sign-in/?next=/library/").content)
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert "Company account" not in plain(Client().get("/sign-in/").content)
    assert Client().get("/sign-in/with/company/").status_code == 404


def test_somebody_new_gets_an_account_without_any_right_and_goes_where_they_wanted(issuer: Issuer) -> None:
    issuer.claims |= {
        "given_name": "Mei",
        "family_name": "Lin",
        "email": "mei@evenkeel.example",
        "email_verified": True,
    }
    client, answer = signed_in_by_company(following="/tokens/")
    assert answer["Location"] == "/tokens/"
    assert is_in(client)
    user = User.objects.get()
    assert (user.username, user.first_name, user.email) == ("mei", "Mei", "mei@evenkeel.example")
    assert [user.has_usable_password(), user.is_staff, user.is_superuser, user.groups.exists()] == [False] * 4
    assert Entry.objects.get(action=Action.SIGNED_IN).detail == {"by": ["socialaccount"]}
    assert Entry.objects.filter(action=Action.USER_CREATED, actor_name="mei").exists()
    issuer.claims["preferred_username"] = "mei.lin"
    assert is_in(signed_in_by_company()[0])
    assert User.objects.get() == user, "the second time it is the same account, whatever they are called by then"


def groups_of(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_memberships_follow_the_claim_at_each_sign_in_and_those_by_hand_stay(issuer: Issuer) -> None:
    hr, staff, choir = make_group("HR"), make_group("Staff"), make_group("Choir")
    for value, group in (("hr", hr), ("all", staff), ("hr", staff)):
        ClaimMapping.objects.create(value=value, group=group)
    issuer.claims["groups"] = ["hr", "all"]
    signed_in_by_company()
    user = User.objects.get()
    user.groups.add(choir)
    ClaimMapping.objects.create(value="singers", group=choir)  # which takes over no membership that was given by hand
    issuer.claims["groups"] = ["hr", "all", "singers"]
    signed_in_by_company()
    assert groups_of(user) == {"HR", "Staff", "Choir"}
    assert set(ClaimMembership.objects.values_list("group__name", flat=True)) == {"HR", "Staff"}
    issuer.claims["groups"] = ["all"]
    signed_in_by_company()
    assert groups_of(user) == {"Staff", "Choir"}
    del issuer.claims["groups"]
    signed_in_by_company()
    assert groups_of(user) == {"Choir"}, "no claim is no group"
    assert Entry.objects.filter(action=Action.MEMBER_REMOVED).count() == 2


def test_the_last_manager_of_a_place_is_let_in_whatever_the_company_says_of_them(issuer: Issuer) -> None:
    """The rule for the last manager holds for what is done here; a sign-in would lock them out of everything."""
    signed_in_by_company()
    user, base, apart = User.objects.get(), make_base(), make_group("Apart")
    grant_rights(None, [Right.MANAGE], base, to=user)
    deny_rights(None, [Right.MANAGE], base, to=apart)
    ClaimMapping.objects.create(value="apart", group=apart)
    issuer.claims["groups"] = ["apart"]
    client, _answer = signed_in_by_company()
    assert is_in(client)
    assert groups_of(user) == {"Apart"}


def test_unknown_groups_mean_nothing_and_are_listed_for_the_administrator(issuer: Issuer) -> None:
    ClaimMapping.objects.create(provider="another", value="hr", group=make_group("HR"))
    for no_list in ({"a": 1}, 7, None):
        issuer.claims["groups"] = no_list
        assert is_in(signed_in_by_company()[0])
        assert not UnmappedClaim.objects.exists()
    issuer.claims["groups"] = ["hr", "<b>x</b>", 7, None, "y" * 300]
    signed_in_by_company()
    assert len(read_claim_values([str(number) for number in range(MAX_VALUES + 1)])) == MAX_VALUES
    assert groups_of(User.objects.get()) == set()
    assert set(UnmappedClaim.objects.values_list("value", flat=True)) == {"hr", "<b>x</b>"}
    page = plain(client_of(make_user(is_superuser=True)).get(reverse("admin:authz_unmappedclaim_changelist")).content)
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "?value=hr&amp;provider=company" in page


def test_an_account_of_that_name_which_is_not_linked_is_not_handed_over(issuer: Issuer) -> None:
    make_user("MEI", is_superuser=True)
    client, answer = signed_in_by_company()
    assert (answer.status_code, is_in(client)) == (403, False)
    assert "The account “mei” already exists here but is not linked to your company sign-in." in plain(answer.content)
    assert not SocialAccount.objects.exists()


def test_an_administrator_links_an_account_by_hand(issuer: Issuer) -> None:
    admin, mei = make_user("root", is_superuser=True), make_user("mei")
    form = {"user": str(mei.pk), "provider": "company", "uid": "u-1"}
    assert client_of(admin).post(reverse("admin:socialaccount_socialaccount_add"), form).status_code == 302
    client, _answer = signed_in_by_company()
    assert is_in(client)
    assert client.session["_auth_user_id"] == str(mei.pk)
    assert Entry.objects.filter(action=Action.PROVIDER_LINKED, actor_name="root").exists()
    link = SocialAccount.objects.get(user=mei)
    deleted = client_of(admin).post(
        reverse("admin:socialaccount_socialaccount_delete", args=[link.pk]), {"post": "yes"}
    )
    assert deleted.status_code == 302
    assert not SocialAccount.objects.exists()
    assert Entry.objects.get(action=Action.PROVIDER_UNLINKED).target_id == str(mei.pk)


@pytest.mark.parametrize(
    ("switches", "linked"),
    [({"link"}, True), (set(), False), ({"link", "superuser"}, False), ({"link", "program"}, False)],
)
def test_a_verified_address_links_where_that_is_switched_on_and_never_a_superuser(
    issuer: Issuer, settings: Any, switches: set[str], linked: bool
) -> None:
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["link_by_email"] = "link" in switches
    chen = make_user("chen", is_superuser="superuser" in switches)
    if "program" in switches:
        chen = create_service_account(Principal.nobody(), username="robot", purpose="x").user
    User.objects.filter(pk=chen.pk).update(email="Chen@evenkeel.example")
    issuer.claims |= {"email": "chen@evenkeel.example", "email_verified": True}
    signed_in_by_company()
    assert SocialAccount.objects.filter(user=chen).exists() == linked


def test_a_disabled_account_and_a_service_account_are_not_let_in(issuer: Issuer) -> None:
    signed_in_by_company()
    User.objects.update(is_active=False)
    robot = create_service_account(Principal.nobody(), username="robot", purpose="x").user
    for user in (User.objects.get(username="mei"), robot):
        SocialAccount.objects.update(user=user)
        client, answer = signed_in_by_company()
        assert (answer.status_code, is_in(client)) == (403, False)
        assert "This account cannot sign in." in plain(answer.content)


def with_another_key(issuer: Issuer) -> None:
    issuer.signed_by = rsa.generate_private_key(65537, 2048)


WRONG: dict[str, Any] = {
    "signed by another key": with_another_key,
    "for another site": lambda issuer: issuer.id_token_extra.update(aud="somebody else"),
    "of another issuer": lambda issuer: issuer.id_token_extra.update(iss="https://evil.example"),
    "expired": lambda issuer: issuer.id_token_extra.update(exp=int(time.time()) - 3600),
    "of nobody": lambda issuer: issuer.id_token_extra.update(sub=""),
    "of somebody else than userinfo": lambda issuer: issuer.userinfo_extra.update(sub="u-2"),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_identity_that_is_not_proven_lets_nobody_in(issuer: Issuer, what: str) -> None:
    WRONG[what](issuer)
    client, answer = signed_in_by_company()
    assert (answer.status_code, is_in(client)) == (401, False)
    assert "returned something unusable" in plain(answer.content)
    assert not User.objects.exists()


def test_a_code_without_the_state_of_this_browser_lets_nobody_in(issuer: Issuer) -> None:
    away = Client().get("/sign-in/with/company/")
    stranger = Client()
    answer = stranger.get(follow(away["Location"]))
    assert (answer.status_code, is_in(stranger)) == (401, False)


def test_whoever_does_not_consent_is_led_back(issuer: Issuer) -> None:
    issuer.refuses = True
    client, answer = signed_in_by_company()
    answer = client.get(answer["Location"], follow=True)
    assert "The company sign-in was not completed." in plain(answer.content)


def test_an_issuer_that_does_not_answer_is_one_sentence(issuer: Issuer, settings: Any) -> None:
    app = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]
    app["settings"]["server_url"] = "http://127.0.0.1:1"
    answer = Client().get("/sign-in/with/company/")
    assert (answer.status_code, "is not responding" in plain(answer.content)) == (503, True)


def test_mapping_is_edited_in_the_admin_and_recorded() -> None:
    group, client = make_group("HR"), client_of(make_user("root", is_superuser=True))
    form = {"provider": "", "value": "hr", "group": str(group.pk)}
    assert client.post(reverse("admin:authz_claimmapping_add"), form).status_code == 302
    assert client.post(reverse("admin:authz_claimmapping_add"), form).status_code == 200, "twice is refused"
    mapping = ClaimMapping.objects.get()
    client.post(reverse("admin:authz_claimmapping_delete", args=[mapping.pk]), {"post": "yes"})
    actions = Entry.objects.filter(actor_name="root").values_list("action", flat=True)
    assert set(actions) >= {Action.CLAIM_MAPPED, Action.CLAIM_UNMAPPED}


def provisioned(external_id: str, username: str = "mei") -> User:
    """An account that SCIM made."""
    known = KnownPerson(external_id, username)
    return create_directory_account(None, Directory.SCIM, known).user


@pytest.mark.parametrize("claim", ["sub", "oid"])
def test_the_account_that_scim_made_for_somebody_is_the_one_they_sign_in_to(issuer: Issuer, claim: str) -> None:
    user = provisioned("00u1")
    issuer.claims[claim] = "00u1"
    client, _answer = signed_in_by_company()
    assert is_in(client)
    assert SocialAccount.objects.get().user == user
    assert set(User.objects.all()) == {user}


def test_an_account_of_ours_of_an_administrator_or_of_two_sign_ins_is_not_handed_over_by_an_id(
    issuer: Issuer, settings: Any
) -> None:
    user = provisioned("00u1")
    issuer.claims["sub"] = "00u1"
    User.objects.update(is_superuser=True)
    assert not is_in(signed_in_by_company()[0])
    User.objects.update(is_superuser=False)
    DirectoryAccount.objects.update(directory="ldap")
    assert not is_in(signed_in_by_company()[0])
    DirectoryAccount.objects.update(directory="scim", external_id="")
    assert not is_in(signed_in_by_company()[0])
    DirectoryAccount.objects.update(external_id="00u1")
    apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"] = [*apps, apps[0] | {"provider_id": "partner"}]
    assert not is_in(signed_in_by_company()[0])
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"] = apps
    assert is_in(signed_in_by_company()[0]), "each of them was what kept it"
    assert SocialAccount.objects.get().user == user


# --- A company sign-in that stands in the admin: its client secret is encrypted, for its issuer alone, and never
# shown again ---


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
    assert (read_stored_secret(SocialApp.objects.get()), SocialApp.objects.get().name) == (
        "the new one",
        "Another name",
    )
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
    assert check_company_sign_ins().ok
    settings.SECRET_KEY = "another key, of another site"
    assert (check_company_sign_ins().ok, "Partner" in check_company_sign_ins().detail) == (False, True)
    heard = len(issuer.heard)
    assert not is_in(signed_in_by_company()[0])
    assert CLIENT_SECRET not in str(issuer.heard[heard:])
