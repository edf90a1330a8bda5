"""A key that this service does not understand is refused, and nothing is changed; what the standard has and is not kept is passed over."""

from typing import Any

import pytest

from authz.models import DirectoryAccount
from tests.integration.scim.program import GROUP, USER, Program

pytestmark = pytest.mark.django_db
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
WORK = [{"value": "a@x.example", "type": "work", "primary": True}]


def kept(pk: str) -> tuple[str, str, str]:
    user = DirectoryAccount.objects.get(pk=pk).user
    return user.username, user.last_name, user.email


def test_what_entra_sends_without_a_path_is_applied_as_a_whole(scim: Program) -> None:
    pk = scim.make_user("kim", emails=WORK)
    change = {"name.familyName": "Ortmann", 'emails[type eq "work"].value': "kim3@x.example", "title": "Engineer"}
    assert scim.patch(f"Users/{pk}", {"op": "Replace", "value": change}).status_code in {200, 204}
    assert kept(pk) == ("kim", "Ortmann", "kim3@x.example")
    added = {'emails[type eq "home"].value': "home@x.example"}
    assert scim.patch(f"Users/{pk}", {"op": "Add", "value": added}).status_code in {200, 204}
    shown = {item["type"]: item["value"] for item in scim.get(f"Users/{pk}").data["emails"]}
    assert shown == {"work": "kim3@x.example", "home": "home@x.example"}


UNKNOWN_CHANGES: list[dict[str, Any]] = [
    {"value": {"name.familyName": "Ortmann", "nickname.first": "K"}},
    {"value": {"name": {"familyName": "Ortmann", "sirname": "x"}}},
    {"value": {'emails[type eq "work"].address': "b@x.example"}},
    {"value": {"emails": [{"value": "b@x.example", "kind": "work"}]}},
    {"path": "name.surname", "value": "Ortmann"},
    {"path": f"{ENTERPRISE}:floor", "value": "3"},
    {"path": "name.familyName", "values": "Ortmann"},
]


def test_a_change_with_an_unknown_key_is_refused_as_a_whole(scim: Program) -> None:
    pk = scim.make_user("kim", emails=WORK)
    first = {"op": "replace", "path": "name.givenName", "value": "Kim"}
    for change in UNKNOWN_CHANGES:
        answer = scim.patch(f"Users/{pk}", first, {"op": "replace"} | change)
        assert answer.status_code == 400, change
        assert "Nothing was changed" in answer.data["detail"]
        assert kept(pk) == ("kim", "", "a@x.example")
        assert DirectoryAccount.objects.get(pk=pk).user.first_name == ""


def test_a_resource_with_an_unknown_key_is_refused(scim: Program) -> None:
    pk = scim.make_user("kim", emails=WORK)
    for more in (
        {"surname": "Ortmann"},
        {"name.familyName": "Ortmann"},
        {"emails": [{"value": "b@x.example", "kind": "work"}]},
        {ENTERPRISE: {"floor": "3"}},
    ):
        assert scim.send("POST", "Users", {"schemas": [USER], "userName": "lee"} | more).status_code == 400, more
        assert scim.send("PUT", f"Users/{pk}", {"schemas": [USER], "userName": "kim"} | more).status_code == 400, more
        assert kept(pk) == ("kim", "", "a@x.example")
    assert scim.found("Users") == {"kim"}


def test_what_the_standard_has_is_taken_and_passed_over(scim: Program) -> None:
    body = {
        "schemas": [USER, ENTERPRISE], "id": "theirs", "meta": {"resourceType": "User"}, "userName": "kim", "displayName": "Kim",
        "nickName": "K", "locale": "en", "timezone": "Europe/Berlin", "password": "x", "preferredLanguage": "en", "TITLE": "Engineer",
        "phoneNumbers": [{"value": "1", "type": "work"}], "addresses": [{"type": "work", "locality": "Oslo"}], "groups": [],
        "roles": [{"value": "r", "primary": True}], "photos": [], "active": True,
        ENTERPRISE: {"department": "HR", "manager": {"value": "7", "$ref": "Users/7"}, "employeeNumber": "9"},
    }  # fmt: skip
    answer = scim.send("POST", "Users", body)
    assert answer.status_code == 201, answer.content
    pk = answer.data["id"]
    assert scim.send("PUT", f"Users/{pk}", body).status_code == 200
    passed = {f"{ENTERPRISE}:department": "IT", f"{ENTERPRISE}:manager.value": "8", "locale": "de"}
    assert scim.patch(f"Users/{pk}", {"op": "add", "value": passed}).status_code in {200, 204}


def test_a_group_is_read_the_same_way(scim: Program) -> None:
    mei = scim.make_user("mei")
    member = {"value": mei, "$ref": f"Users/{mei}", "display": "Mei", "type": "User"}
    made = scim.send("POST", "Groups", {"schemas": [GROUP], "displayName": "HR", "members": [member]})
    assert made.status_code == 201, made.content
    for body in ({"description": "ours"}, {"members": [{"value": mei, "role": "owner"}]}):
        assert scim.send("POST", "Groups", {"schemas": [GROUP], "displayName": "Ops"} | body).status_code == 400
    pk = made.data["id"]
    refused = scim.patch(f"Groups/{pk}", {"op": "replace", "value": {"displayName": "People", "owner": mei}})
    assert (refused.status_code, scim.found("Groups")) == (400, {"HR"})
