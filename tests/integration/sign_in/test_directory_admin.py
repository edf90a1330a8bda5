"""Accounts and groups that are here already are handed over to a directory by a superuser, and taken back."""

import pytest
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import DirectoryAccount, DirectoryGroup
from tests.factories import make_group, make_user
from tests.integration.pages.house import client_of, plain

pytestmark = pytest.mark.django_db
ADD = "admin:authz_directoryaccount_add"


def test_an_account_is_handed_over_and_taken_back_and_both_are_recorded() -> None:
    root, mei = make_user("root", is_superuser=True), make_user("mei")
    client = client_of(root)
    answer = client.post(reverse(ADD), {"user": mei.pk, "directory": "ldap", "external_id": "an-id"})
    assert answer.status_code == 302
    row = DirectoryAccount.objects.get()
    assert (row.user, row.directory, row.external_id) == (mei, "ldap", "an-id")
    page = plain(client.get(reverse("admin:authz_directoryaccount_changelist")).content)
    assert "mei" in page
    assert "/scim/v2" in page  # what to enter at the provider
    client.post(reverse("admin:authz_directoryaccount_delete", args=[row.pk]), {"post": "yes"})
    assert not DirectoryAccount.objects.exists()
    mei.refresh_from_db()
    recorded = Entry.objects.filter(target_id=str(mei.pk), detail={"directory": "ldap"})
    assert {entry.action for entry in recorded} == {Action.PROVIDER_LINKED, Action.PROVIDER_UNLINKED}


@pytest.mark.parametrize(
    ("name", "directory", "external_id", "says"),
    [
        ("root", "scim", "an-id", "System administrators and service accounts are always managed here."),
        ("mei", "ldap", "", "Give the id of the entry"),
    ],
)
def test_what_cannot_be_handed_over_is_said(name: str, directory: str, external_id: str, says: str) -> None:
    people = {"root": make_user("root", is_superuser=True), "mei": make_user("mei")}
    given = {"user": people[name].pk, "directory": directory, "external_id": external_id}
    answer = client_of(people["root"]).post(reverse(ADD), given)
    assert (answer.status_code, says in plain(answer.content)) == (200, True)
    assert not DirectoryAccount.objects.exists()


def test_a_group_is_handed_over_and_stays_when_it_is_taken_back() -> None:
    group, client = make_group("HR", members=[make_user("ours")]), client_of(make_user("root", is_superuser=True))
    assert client.post(reverse("admin:authz_directorygroup_add"), {"group": group.pk}).status_code == 302
    row = DirectoryGroup.objects.get()
    assert (row.group, row.is_made) == (group, False)
    client.post(reverse("admin:authz_directorygroup_delete", args=[row.pk]), {"post": "yes"})
    assert set(group.user_set.values_list("username", flat=True)) == {"ours"}
    assert Entry.objects.filter(action=Action.GROUP_CHANGED).count() == 2
