"""One request of an identity provider is a bounded piece of work, and members come and go as a set."""

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz.models import Directory, DirectoryAccount
from authz.scim import requests
from authz.scim.requests import MAX_OPERATIONS
from tests.factories import make_user
from tests.integration.scim.program import GROUP, USER, Program

pytestmark = pytest.mark.django_db


def people(count: int) -> list[str]:
    """Ids of so many accounts that SCIM keeps."""
    users = User.objects.bulk_create(User(username=f"person{number:04}") for number in range(count))
    accounts = [DirectoryAccount(user=user, directory=Directory.SCIM) for user in users]
    return [str(row.pk) for row in DirectoryAccount.objects.bulk_create(accounts)]


def added(*ids: str) -> dict[str, Any]:
    return {"op": "add", "path": "members", "value": [{"value": identifier} for identifier in ids]}


def taken(pk: str) -> dict[str, Any]:
    return {"op": "remove", "path": f'members[value eq "{pk}"]'}


def shown(scim: Program, pk: str) -> set[str]:
    return {item["value"] for item in scim.get(f"Groups/{pk}").data.get("members", [])}


@pytest.mark.parametrize("path", ["Groups", "Users"])
def test_a_patch_of_too_many_operations_is_refused_as_a_whole(scim: Program, path: str) -> None:
    (person,) = people(1)
    pk = scim.make_group("HR") if path == "Groups" else person
    many = [{"op": "replace", "path": "externalId", "value": str(number)} for number in range(MAX_OPERATIONS + 1)]
    refused = scim.patch(f"{path}/{pk}", *many)
    assert (refused.status_code, refused.data["status"]) == (413, "413")
    assert "at most 1000 are taken here at once" in refused.data["detail"]
    assert "externalId" not in scim.get(f"{path}/{pk}").data
    unread = scim.send("PATCH", f"{path}/{pk}", '{"operations": [' + ", ".join(["{}"] * (MAX_OPERATIONS + 1)) + "]}")
    assert unread.status_code == 413, "before they are checked one by one"


def test_members_come_and_go_as_a_set_in_the_order_of_the_operations(scim: Program) -> None:
    ids = people(4)
    pk = scim.make_group("HR", ids[0], ids[1])
    changes = [added(ids[2]), taken(ids[0]), added(ids[3], ids[0]), taken(ids[3]), taken("nobody")]
    changes.append({"op": "Remove", "path": "members", "value": [{"value": ids[1]}]})
    assert scim.patch(f"Groups/{pk}", *changes).status_code in {200, 204}
    assert shown(scim, pk) == {ids[0], ids[2]}
    version = scim.get(f"Groups/{pk}").data["meta"]["version"]
    assert scim.patch(f"Groups/{pk}", added(ids[1]), **{"If-Match": 'W/"other"'}).status_code == 412
    assert scim.patch(f"Groups/{pk}", added(ids[0]), taken(ids[3])).status_code in {200, 204}
    assert scim.get(f"Groups/{pk}").data["meta"]["version"] == version, "nothing changed"
    assert scim.patch(f"Groups/{pk}", added("nobody")).status_code == 400
    assert shown(scim, pk) == {ids[0], ids[2]}


def test_statements_do_not_grow_with_the_members_but_for_the_audit_log(scim: Program) -> None:
    def statements(name: str, ids: list[str]) -> int:
        pk = scim.make_group(name)
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert scim.patch(f"Groups/{pk}", *map(added, ids)).status_code in {200, 204}
            assert scim.patch(f"Groups/{pk}", *map(taken, ids)).status_code in {200, 204}
        return sum("audit_entry" not in query["sql"] for query in seen.captured_queries)

    ids = people(40)
    assert statements("HR", ids) == statements("Ops", ids[:2])


def test_other_changes_of_a_large_group_are_refused_where_they_would_take_long(
    scim: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = people(10)
    pk = scim.make_group("HR", *ids)
    monkeypatch.setattr(requests, "MAX_COMPARED", 25)
    rename = {"op": "replace", "path": "displayName", "value": "People"}
    refused = scim.patch(f"Groups/{pk}", rename, *map(taken, ids[:2]))
    assert refused.status_code == 413
    assert "at most 2 are taken here at once" in refused.data["detail"]
    assert (scim.get(f"Groups/{pk}").data["displayName"], shown(scim, pk)) == ("HR", set(ids))
    assert scim.patch(f"Groups/{pk}", rename, taken(ids[0])).status_code in {200, 204}
    assert shown(scim, pk) == set(ids[1:])


# --- What an identity provider may send by mistake or by malice: refused in the words of SCIM, never an error of
# ours ---
HALF, DEEP = "\\ud800", 5_000
FILTERS = [
    "(" * DEEP + 'userName eq "a"' + ")" * DEEP,
    "not (" * DEEP + 'userName eq "a"' + ")" * DEEP,
    "emails[" * 100 + "value pr" + "]" * 100,
    " and ".join(['userName eq "a"'] * 3_000),
    f'userName eq "{HALF}"',
    f'userName ne "{HALF}"',
    'userName eq "\\u0000"',
    f'userName eq "{"x" * 20_000}"',
    f"userName eq {'9' * 5_000}",
    "userName gt 5",
    "meta.created gt true",
    "\x00",
    '"',
]


def test_half_of_a_character_in_a_path_is_refused(scim: Program) -> None:
    pk = scim.make_user("anna")
    change = {"op": "replace", "path": f'emails[type eq "{HALF}"].value', "value": "x@x.example"}
    answer = scim.patch(f"Users/{pk}", change)
    assert answer.status_code == 400, answer.content
    assert "cannot be kept" in answer.data["detail"]


def test_no_filter_is_an_error_of_ours(scim: Program) -> None:
    scim._client.raise_request_exception = False
    scim.make_user("anna")
    found = {}
    for item in FILTERS:
        asked = quote(item.encode("utf-8", "surrogatepass"))
        search = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": item}
        found[item] = (
            scim.get(f"Users?filter={asked}").status_code,
            scim.send("POST", "Users/.search", search).status_code,
        )
    assert {item[:40]: statuses for item, statuses in found.items() if max(statuses) >= 500} == {}


LOOK_ALIKES = {
    "full width": "\uff41\uff44\uff4d\uff49\uff4e",
    "Cyrillic a": "\u0430dmin",
    "capitals of Greek and Cyrillic": "\u0391DM\u0406\u039d",
    "without a dot": "adm\u0131n",
    "mathematical": "\U0001d41admin",
    "another case": "ADMIN",
}


def test_a_name_that_looks_like_an_administrator_s_is_refused_and_an_ordinary_one_of_any_script_taken(
    scim: Program,
) -> None:
    make_user("admin", is_superuser=True)
    make_user("jose")
    pk = scim.make_user("mei")
    for what, name in LOOK_ALIKES.items():
        answer = scim.send("POST", "Users", {"schemas": [USER], "userName": name})
        assert (answer.status_code, answer.data["scimType"]) == (409, "uniqueness"), what
        assert "“admin”" in answer.data["detail"]
        renamed = scim.patch(f"Users/{pk}", {"op": "replace", "path": "userName", "value": name})
        assert renamed.status_code == 409, what
        assert User.objects.filter(username="mei").exists()
    for name in ("иван.петров", "josé", "李梅", "zoë.müller", "Νίκος", "admin2"):
        scim.make_user(name)
        assert User.objects.filter(username=name).exists()


# --- A key that this service does not understand is refused, and nothing is changed; what the standard has and is
# not kept is passed over ---
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
