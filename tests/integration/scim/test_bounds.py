"""One request of an identity provider is a bounded piece of work, and members come and go as a set."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz.models import Directory, DirectoryAccount
from authz.scim import requests
from authz.scim.requests import MAX_OPERATIONS
from tests.integration.scim.program import Program

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
