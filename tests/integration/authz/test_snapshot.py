"""Snapshots: the same rights are one row, other rights another; what they saw can be read back and is not changed unseen."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz.models import PermissionSnapshot, VisibleFolders
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from authz.rights.snapshot import is_intact, take_snapshot
from tests.factories import allow, make_base, make_folder, make_group, make_user
from tests.snapshots import folder_ids_in

pytestmark = pytest.mark.django_db


def taken(user: User) -> PermissionSnapshot:
    return PermissionSnapshot.objects.get(pk=take_snapshot(Principal.of(user)))


def test_a_snapshot_holds_who_they_were_and_exactly_what_they_saw() -> None:
    folder, group = make_folder(make_base()), make_group("Platform")
    below, _unseen = make_folder(folder), make_folder(make_base())
    user = make_user("anna", groups=[group])
    allow(group, folder)
    snapshot = taken(user)
    assert folder_ids_in(snapshot) == {folder.pk, below.pk}
    assert (snapshot.username, snapshot.user_id) == ("anna", user.pk)
    assert snapshot.principal["group_ids"] == [group.pk]
    assert snapshot.folders.count == 2
    assert re.fullmatch(r"perm_20\d{6}_[0-9a-f]{12}", snapshot.pk)
    other = make_user()
    allow(other, folder)
    assert taken(other) != snapshot
    assert VisibleFolders.objects.count() == 1, "who sees the same shares the set"


def test_the_same_rights_are_stored_once_and_read_without_writing() -> None:
    user = make_user()
    allow(user, make_base())
    first = taken(user)
    with CaptureQueriesContext(connection) as queries:
        assert take_snapshot(Principal.of(user)) == first.pk
    assert not [query for query in queries if query["sql"].startswith(("INSERT", "UPDATE"))]
    assert PermissionSnapshot.objects.count() == 1


def test_other_rights_are_another_snapshot_and_the_old_one_stays() -> None:
    user, base = make_user(), make_base()
    allow(user, base)
    seen = taken(user)
    revoke_rights(None, [Right.VIEW], base, of=user)
    blind = taken(user)
    assert (seen.folders.count, blind.folders.count) == (1, 0)
    allow(user, base)
    assert taken(user) == seen, "back to the same rights is back to the same snapshot"


@pytest.mark.parametrize("change", ["principal", "folders"])
def test_a_changed_snapshot_is_seen(change: str) -> None:
    user = make_user()
    allow(user, make_base())
    snapshot = taken(user)
    assert is_intact(snapshot)
    if change == "principal":
        snapshot.principal = snapshot.principal | {"roles": ["auditor"]}
    else:
        snapshot.folders.packed = bytes(16)
    assert not is_intact(snapshot)
