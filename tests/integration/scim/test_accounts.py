"""Accounts that an identity provider keeps: made, changed, disabled, enabled and deleted as it says."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from audit.actions import Action
from audit.models import Entry
from authz.directory.accounts import (
    KnownPerson,
    delete_directory_account,
    disable_directory_account,
    update_directory_account,
)
from authz.models import DirectoryAccount
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import NotFound
from tests.factories import make_user
from tests.integration.scim.program import USER, Program
from tests.integration.sign_in.browser import is_in
from tests.tokens import owner_of

pytestmark = pytest.mark.django_db


def user_of(account_id: str) -> User:
    return DirectoryAccount.objects.get(pk=account_id).user


def test_an_account_is_made_with_what_is_kept_of_it_and_without_any_right(scim: Program) -> None:
    answer = scim.send("POST", "Users", {
        "schemas": [USER, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"], "externalId": "00u1",
        "userName": "mei@evenkeel.example", "name": {"givenName": "Mei", "familyName": "Lin", "formatted": "Mei Lin"},
        "emails": [{"value": "home@x.local", "type": "home"}, {"value": "mei@x.local", "type": "work", "primary": True}],
        "active": True, "title": "Engineer", "password": "never kept",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "HR"},
    })  # fmt: skip
    assert answer.status_code == 201
    shown, user = answer.data, user_of(answer.data["id"])
    assert (user.username, user.get_full_name(), user.email) == ("mei@evenkeel.example", "Mei Lin", "mei@x.local")
    assert [user.has_usable_password(), user.is_staff, user.is_superuser, user.groups.exists()] == [False] * 4
    assert {name: shown[name] for name in ("userName", "externalId", "active", "name")} == {
        "userName": "mei@evenkeel.example", "externalId": "00u1", "active": True,
        "name": {"givenName": "Mei", "familyName": "Lin"},
    }  # fmt: skip
    assert "title" not in shown
    assert answer["Location"] == shown["meta"]["location"] == f"http://testserver/scim/v2/Users/{shown['id']}"
    again = scim.get(f"Users/{shown['id']}")
    assert (again.data, "no-store" in again["Cache-Control"]) == (shown, True)
    entry = Entry.objects.get(action=Action.USER_CREATED, target_id=str(user.pk))
    assert (entry.actor_name, entry.detail["directory"]) == ("okta", "scim")


def test_what_okta_and_entra_send_to_disable_ends_sessions_and_tokens_at_once_and_for_good(scim: Program) -> None:
    pk = scim.make_user("mei")
    user, browser = user_of(pk), Client()
    browser.force_login(user, backend="authz.sign_in.backends.PeopleBackend")
    _row, secret = issue_token(Principal.of(user), name="mine")
    assert (is_in(browser), owner_of(secret)) == (True, user)
    answer = scim.patch(f"Users/{pk}", {"op": "Replace", "path": "active", "value": "False"})
    assert answer.status_code in {200, 204}
    assert scim.get(f"Users/{pk}").data["active"] is False
    assert (is_in(browser), owner_of(secret)) == (False, None)
    assert Entry.objects.filter(action=Action.USER_DISABLED, actor_name="okta").count() == 1
    assert scim.patch(f"Users/{pk}", {"op": "replace", "value": {"active": True}}).status_code in {200, 204}
    assert user_of(pk).is_active
    assert (is_in(browser), owner_of(secret)) == (False, None), "what ended does not come back with the account"
    browser.force_login(user_of(pk), backend="authz.sign_in.backends.PeopleBackend")
    assert is_in(browser)


def test_what_an_administrator_disabled_stays_so(scim: Program) -> None:
    pk = scim.make_user("mei")
    User.objects.filter(pk=user_of(pk).pk).update(is_active=False)
    body = {"schemas": [USER], "userName": "mei", "active": True, "emails": [{"value": "new@x.example"}]}
    answer = scim.send("PUT", f"Users/{pk}", body)
    assert (answer.status_code, answer.data["active"]) == (200, False)
    assert (user_of(pk).is_active, user_of(pk).email) == (False, "new@x.example")


def test_attributes_are_changed_as_entra_writes_paths(scim: Program) -> None:
    pk = scim.make_user("mei", emails=[{"value": "a@x.example", "type": "work", "primary": True}])
    answer = scim.patch(
        f"Users/{pk}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "b@x.example"},
        {"op": "Add", "path": "name.familyName", "value": "Lin"},
        {"op": "Replace", "value": {"name.givenName": "Mei", "userName": "mei.lin", "title": "Engineer"}},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "HR"},
    )
    assert answer.status_code in {200, 204}, answer.content
    user = user_of(pk)
    assert (user.username, user.get_full_name(), user.email) == ("mei.lin", "Mei Lin", "b@x.example")
    entry = Entry.objects.get(action=Action.USER_CHANGED, actor_name="okta")
    assert entry.detail["fields"] == ["email", "first_name", "last_name", "username"]
    assert scim.patch(f"Users/{pk}", {"op": "remove", "path": "emails"}).status_code in {200, 204}
    assert user_of(pk).email == ""


FILTERS: dict[str, set[str]] = {
    'userName eq "MEI"': {"mei"},
    'externalId eq "00u2"': {"tao"},
    'emails.value eq "mei@x.example"': {"mei"},
    'userName eq "mei" and externalId eq "00u2"': set(),
    'userName sw "m" or userName eq "tao"': {"mei", "tao"},
    'not (userName eq "mei")': {"tao"},
    'userName eq "\\ud800"': set(),
    'userName eq "root"': set(),
}


def test_filters_find_exactly_these(scim: Program) -> None:
    scim.make_user("mei", externalId="00u1", emails=[{"value": "mei@x.example"}])
    scim.make_user("tao", externalId="00u2")
    for wanted, names in FILTERS.items():
        answer = scim.get(f"Users?{urlencode({'filter': wanted})}")
        assert answer.status_code == 200, answer.content
        assert {item["userName"] for item in answer.data.get("Resources", [])} == names, wanted
        assert answer.data["totalResults"] == len(names)


def test_lists_come_in_pages_that_hold_everybody_once(scim: Program) -> None:
    names = {f"person{number}" for number in range(5)}
    for name in names:
        scim.make_user(name)
    pages = [scim.get(f"Users?startIndex={start}&count=2").data for start in (1, 3, 5, 7)]
    assert [(page["totalResults"], page["itemsPerPage"]) for page in pages] == [(5, 2), (5, 2), (5, 1), (5, 0)]
    shown = [element["userName"] for page in pages for element in page.get("Resources", [])]
    assert (set(shown), len(shown)) == (names, 5)
    assert scim.get("Users?count=0").data["totalResults"] == 5
    assert scim.get("Users?filter=userName+pr&startIndex=4&count=9").data["itemsPerPage"] == 2


def test_a_change_on_an_old_state_is_refused_and_one_that_was_read_need_not_be_read_again(scim: Program) -> None:
    pk = scim.make_user("mei")
    old = scim.get(f"Users/{pk}")["ETag"]
    assert scim.get(f"Users/{pk}", **{"If-None-Match": old}).status_code == 304
    change = {"op": "replace", "path": "name.familyName", "value": "Lin"}
    assert scim.patch(f"Users/{pk}", change, **{"If-Match": old}).status_code in {200, 204}
    refused = scim.patch(f"Users/{pk}", change | {"value": "Li"}, **{"If-Match": old})
    assert (refused.status_code, user_of(pk).last_name) == (412, "Lin")


def test_who_became_an_administrator_meanwhile_is_not_touched(scim: Program) -> None:
    account = DirectoryAccount.objects.get(pk=scim.make_user("mei"))
    User.objects.filter(pk=account.user_id).update(is_superuser=True)
    for change in (
        disable_directory_account,
        delete_directory_account,
        lambda by, row: update_directory_account(by, row, KnownPerson("", "other")),
    ):
        with pytest.raises(NotFound):
            change(None, account)
    assert (user_of(str(account.pk)).is_active, user_of(str(account.pk)).username) == (True, "mei")


def test_who_is_ours_or_governs_the_system_is_neither_shown_nor_touched(scim: Program) -> None:
    ours, promoted = make_user("ours"), scim.make_user("promoted")
    User.objects.filter(pk=user_of(promoted).pk).update(is_superuser=True)
    ldap = DirectoryAccount.objects.create(directory="ldap", external_id="x", user=make_user("of.ldap"))
    assert scim.found("Users") == set()
    before = {user.pk: (user.username, user.is_active, user.email) for user in User.objects.all()}
    for pk in (promoted, str(ldap.pk), str(ours.pk)):
        put = {"schemas": [USER], "userName": "taken.over", "active": False}
        for answer in (
            scim.get(f"Users/{pk}"), scim.send("PUT", f"Users/{pk}", put), scim.send("DELETE", f"Users/{pk}"),
            scim.patch(f"Users/{pk}", {"op": "replace", "path": "active", "value": False}),
        ):  # fmt: skip
            assert answer.status_code == 404, pk
    for name in ("ours", "OURS", "root", "okta", "promoted"):
        refused = scim.send("POST", "Users", {"schemas": [USER], "userName": name})
        assert (refused.status_code, refused.data["scimType"]) == (409, "uniqueness"), name
    free = scim.make_user("free")
    assert scim.patch(f"Users/{free}", {"op": "replace", "path": "userName", "value": "root"}).status_code == 409
    DirectoryAccount.objects.get(pk=free).user.delete()
    assert {user.pk: (user.username, user.is_active, user.email) for user in User.objects.all()} == before


def test_a_deleted_account_is_gone_and_its_name_is_free(scim: Program) -> None:
    pk = scim.make_user("mei")
    assert scim.send("DELETE", f"Users/{pk}").status_code == 204
    assert scim.get(f"Users/{pk}").status_code == scim.send("DELETE", f"Users/{pk}").status_code == 404
    assert not User.objects.filter(username="mei").exists()
    assert Entry.objects.get(action=Action.USER_DELETED).actor_name == "okta"
    assert scim.make_user("mei") != pk


IMPOSSIBLE: list[tuple[str, str, Any, int]] = [
    ("POST", "Users", "[" * 100_000, 400),
    ("POST", "Users", {"schemas": [USER]}, 400),
    ("POST", "Users", {"schemas": [USER], "userName": "a b"}, 400),
    ("POST", "Users", {"schemas": [USER], "userName": "x", "externalId": "y" * 251}, 400),
    ("POST", "Users", {"schemas": [USER], "userName": "x", "externalId": "y" * 3_000_000}, 400),
    ("GET", "Users?filter=userName+like+1", None, 400),
    ("GET", "Users/none", None, 404),
    ("DELETE", "Users", None, 405),
    ("POST", "Bulk", {"schemas": [], "Operations": []}, 501),
]


def test_what_cannot_be_done_is_said_in_the_words_of_scim_and_changes_nothing(scim: Program) -> None:
    before = User.objects.count()
    for method, path, body, status in IMPOSSIBLE:
        answer = scim.send(method, path, body)
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/scim+json"), answer.content[:300]
        assert answer.data["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
        assert answer.data["status"] == str(status)
    assert User.objects.count() == before


def test_the_scope_and_the_permission_are_needed_both(provider_account: Any) -> None:
    account = Principal.of(provider_account.user)

    def status(owner: Principal, *scopes: TokenScope) -> int:
        return int(Program(issue_token(owner, name="t", scopes=scopes)[1]).get("Users").status_code)

    assert status(account, TokenScope.PROVISION) == 200
    assert status(Principal.of(make_user("boss", is_superuser=True)), TokenScope.PROVISION) == 200
    assert status(account, *(scope for scope in TokenScope if scope is not TokenScope.PROVISION)) == 403
    assert status(Principal.of(make_user("anybody")), *TokenScope) == 403
    provider_account.user.user_permissions.clear()
    assert status(Principal.of(User.objects.get(pk=provider_account.user_id)), TokenScope.PROVISION) == 403


def test_nobody_comes_by_a_session_without_a_token_or_with_a_revoked_one(secret: str) -> None:
    from authz.models import ApiToken

    boss = Client()
    boss.force_login(make_user("boss", is_superuser=True), backend="authz.sign_in.backends.PeopleBackend")
    for client in (boss, Client()):
        answer = client.get("/scim/v2/Users")
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    ApiToken.objects.update(revoked_at="2026-01-01T00:00Z")
    assert Program(secret).get("Users").status_code == 401
