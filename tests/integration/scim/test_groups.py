"""Groups that an identity provider keeps, and that rights begin and end with them: exact sets."""

import pytest
from django.contrib.auth.models import Group, User

from audit.actions import Action
from audit.models import Entry
from authz.models import DirectoryGroup
from authz.people.roles import create_role
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from knowledge.models import KnowledgeBase
from tests.factories import allow, make_base, make_group, make_user
from tests.integration.scim.program import GROUP, Program

pytestmark = pytest.mark.django_db


def members(name: str) -> set[str]:
    return set(Group.objects.get(name=name).user_set.values_list("username", flat=True))


def shown(scim: Program, pk: str) -> set[str]:
    ids = [item["value"] for item in scim.get(f"Groups/{pk}").data.get("members", [])]
    return set(User.objects.filter(directory_account__in=ids).values_list("username", flat=True))


def visible(username: str) -> set[str]:
    principal = Principal.of(User.objects.get(username=username))
    return set(KnowledgeBase.objects.visible_to(principal).values_list("name", flat=True))


def test_rights_begin_and_end_with_the_memberships_that_scim_gives(scim: Program) -> None:
    mei, tao = scim.make_user("mei"), scim.make_user("tao")
    hr, ops = scim.make_group("HR", mei), scim.make_group("Ops", mei, tao)
    allow(Group.objects.get(name="HR"), make_base("Salaries"))
    allow(Group.objects.get(name="Ops"), make_base("Runbooks"))
    assert (visible("mei"), visible("tao")) == ({"Salaries", "Runbooks"}, {"Runbooks"})
    remove = {"op": "Remove", "path": f'members[value eq "{mei}"]'}
    assert scim.patch(f"Groups/{hr}", remove).status_code in {200, 204}
    assert (visible("mei"), visible("tao")) == ({"Runbooks"}, {"Runbooks"})
    assert scim.patch(f"Groups/{hr}", {"op": "add", "path": "members", "value": [{"value": tao}]}).status_code < 300
    assert (visible("mei"), visible("tao")) == ({"Runbooks"}, {"Salaries", "Runbooks"})
    assert scim.patch(f"Users/{tao}", {"op": "replace", "path": "active", "value": False}).status_code < 300
    assert (visible("mei"), visible("tao")) == ({"Runbooks"}, set())
    body = {"schemas": [GROUP], "displayName": "Ops", "members": []}
    assert scim.send("PUT", f"Groups/{ops}", body).status_code == 200
    assert (visible("mei"), members("Ops"), members("HR")) == (set(), set(), {"tao"})
    given = Entry.objects.filter(action__in=(Action.MEMBER_ADDED, Action.MEMBER_REMOVED))
    assert given.count() == 7
    assert {(entry.actor_name, entry.detail["directory"]) for entry in given} == {("okta", "scim")}


def test_entra_removes_members_by_value_and_people_show_their_groups(scim: Program) -> None:
    mei, tao, wen = (scim.make_user(name) for name in ("mei", "tao", "wen"))
    pk = scim.make_group("HR", mei, tao, wen)
    remove = {"op": "Remove", "path": "members", "value": [{"value": mei}, {"value": tao}]}
    assert scim.patch(f"Groups/{pk}", remove).status_code in {200, 204}
    assert members("HR") == shown(scim, pk) == {"wen"}
    assert [item["display"] for item in scim.get(f"Users/{wen}").data["groups"]] == ["HR"]
    assert "groups" not in scim.get(f"Users/{mei}").data
    scim.send("DELETE", f"Users/{wen}")
    assert (members("HR"), shown(scim, pk)) == (set(), set())


def test_people_of_ours_and_administrators_in_a_group_are_not_shown_and_stay(scim: Program) -> None:
    mei, boss = scim.make_user("mei"), scim.make_user("boss")
    pk = scim.make_group("HR", mei, boss)
    Group.objects.get(name="HR").user_set.add(make_user("ours"))
    User.objects.filter(username="boss").update(is_superuser=True)
    assert shown(scim, pk) == {"mei"}
    assert scim.patch(f"Groups/{pk}", {"op": "remove", "path": "members"}).status_code in {200, 204}
    assert members("HR") == {"ours", "boss"}
    for nobody in (boss, "none"):
        refused = scim.patch(
            f"Groups/{pk}", {"op": "add", "path": "members", "value": [{"value": mei}, {"value": nobody}]}
        )
        assert (refused.status_code, members("HR")) == (400, {"ours", "boss"})


def test_groups_that_are_not_its_own_are_neither_shown_nor_touched(scim: Program) -> None:
    mei = scim.make_user("mei")
    apart, role = make_group("Apart", members=[make_user("ours")]), create_role(None, name="auditors")
    for pk in (str(apart.pk), str(role.pk), "00000000-0000-0000-0000-000000000000"):
        body = {"schemas": [GROUP], "displayName": "Taken", "members": [{"value": mei}]}
        assert scim.send("PUT", f"Groups/{pk}", body).status_code == 404
        assert scim.send("DELETE", f"Groups/{pk}").status_code == scim.get(f"Groups/{pk}").status_code == 404
    for name in ("Apart", "auditors"):
        refused = scim.send("POST", "Groups", {"schemas": [GROUP], "displayName": name})
        assert (refused.status_code, refused.data["scimType"]) == (409, "uniqueness")
    assert (scim.found("Groups"), members("Apart"), members("auditors")) == (set(), {"ours"}, set())


def test_a_group_that_was_handed_over_is_filled_and_neither_renamed_nor_deleted(scim: Program) -> None:
    mei, role = scim.make_user("mei"), create_role(None, name="auditors")
    row = DirectoryGroup.objects.create(group=role.group)
    assert scim.found("Groups") == {"auditors"}
    add = {"op": "add", "path": "members", "value": [{"value": mei}]}
    assert scim.patch(f"Groups/{row.pk}", add).status_code in {200, 204}
    assert members("auditors") == {"mei"}
    rename = {"op": "replace", "path": "displayName", "value": "others"}
    assert scim.patch(f"Groups/{row.pk}", rename).status_code == 400
    assert scim.send("DELETE", f"Groups/{row.pk}").status_code == 204
    assert (scim.found("Groups"), members("auditors")) == (set(), set())


def test_a_deleted_group_takes_its_rights_along_and_leaves_ours_their_last_place(scim: Program) -> None:
    mei = scim.make_user("mei")
    gone, kept = scim.make_group("Gone", mei), scim.make_group("Kept", mei)
    group, base = Group.objects.get(name="Kept"), make_base("Runbooks")
    group.user_set.add(make_user("ours"))
    allow(Group.objects.get(name="Gone"), make_base("Salaries"))
    grant_rights(None, [Right.VIEW, Right.MANAGE], base, to=group)
    assert visible("mei") == {"Salaries", "Runbooks"}
    for pk in (gone, kept):
        assert scim.send("DELETE", f"Groups/{pk}").status_code == 204
        assert scim.get(f"Groups/{pk}").status_code == 404
    assert (visible("mei"), visible("ours")) == (set(), {"Runbooks"})
    assert not Group.objects.filter(name="Gone").exists()
    assert members("Kept") == {"ours"}


def test_renaming_finding_and_leaving_members_out(scim: Program) -> None:
    mei = scim.make_user("mei")
    pk = scim.make_group("HR", mei)
    scim.make_group("Ops")
    rename = {"op": "Replace", "value": {"id": pk, "displayName": "People"}}
    assert scim.patch(f"Groups/{pk}", rename).status_code in {200, 204}
    assert members("People") == {"mei"}
    taken = {"op": "replace", "path": "displayName", "value": "Ops"}
    assert scim.patch(f"Groups/{pk}", taken).status_code == 409
    assert scim.found("Groups?filter=displayName+eq+%22people%22") == {"People"}
    assert scim.found("Groups?filter=displayName+eq+%22HR%22") == set()
    assert scim.found(f"Groups?filter=members+eq+%22{mei}%22") == {"People"}
    assert scim.found(f"Groups?excludedAttributes=members&filter=members.value+eq+%22{mei}%22") == {"People"}
    assert "members" not in scim.get(f"Groups/{pk}?excludedAttributes=members").data
    assert scim.found("Groups") == {"People", "Ops"}
