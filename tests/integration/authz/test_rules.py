"""The rules of rights one by one: units, ends, breaks, denials, exceptions of documents, narrowed tokens."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.models import Denial, FolderUserGrant, KnowledgeBaseUserGrant
from authz.people.roles import create_role, delete_group
from authz.people.units import add_member, create_unit, move_unit, remove_member
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.models import ChunkIndex, Folder, FolderKind, KnowledgeBase
from knowledge.services import access
from knowledge.services.documents import delete_document, move_document
from knowledge.services.folders import rename_and_move_folder
from knowledge.services.uploads import upload_document
from tests.factories import allow, make_folder, make_group, make_user
from tests.integration.authz.company import Company

pytestmark = pytest.mark.django_db

VIEW = [Right.VIEW]
ALL = {"root", "rules", "travel", "abroad", "pay"}


def who(user: User) -> Principal:
    return Principal.of(User.objects.get(pk=user.pk))


def test_a_grant_to_a_unit_reaches_the_people_of_the_units_below(company: Company, anna: User) -> None:
    top = create_unit(None, name="Engineering")
    below = create_unit(None, name="Platform", parent=top)
    lowest = create_unit(None, name="Storage", parent=below)
    add_member(None, lowest, user=anna)
    add_member(None, create_unit(None, name="Sales"), user=make_user("bert"))
    allow(top.group, company.folders["rules"])
    assert company.sees(who(anna)) == {"rules", "travel", "abroad"}
    assert company.sees(Principal.named("bert")) == set()
    assert who(anna).org_units == {"Engineering", "Platform", "Storage"}
    move_unit(None, lowest, parent=None)
    assert company.sees(who(anna)) == set()
    move_unit(None, lowest, parent=top)
    assert company.sees(who(anna)) == {"rules", "travel", "abroad"}
    remove_member(None, lowest, user=anna)
    assert company.sees(who(anna)) == set()
    add_member(None, top, user=anna)
    allow(below.group, company.base)
    assert company.sees(who(anna)) == {"rules", "travel", "abroad"}, "a unit below gives nothing to those above it"


def test_a_unit_cannot_belong_to_itself(company: Company) -> None:
    top = create_unit(None, name="Engineering")
    below = create_unit(None, name="Platform", parent=top)
    for parent in (top, below):
        with pytest.raises(InvalidInput, match=r"“Engineering” cannot belong to “(Engineering|Platform)”"):
            move_unit(None, top, parent=parent)


def test_the_group_of_a_unit_or_a_role_does_not_go_alone() -> None:
    for carried in (create_unit(None, name="Engineering"), create_role(None, name="auditor")):
        with pytest.raises(InvalidInput, match="belongs to a unit or a role"):
            delete_group(None, carried.group)
        carried.refresh_from_db()


def test_roles_are_groups_with_a_name(company: Company, anna: User) -> None:
    role = create_role(None, name="auditor")
    add_member(None, role, user=anna)
    allow(role.group, company.folders["pay"])
    assert who(anna).roles == {"auditor"}
    assert who(anna).org_units == frozenset()
    assert company.sees(who(anna)) == {"pay"}


@pytest.mark.parametrize("on", ["folder", "base"])
def test_a_grant_counts_until_its_end_which_is_not_in_the_past(company: Company, anna: User, on: str) -> None:
    row = company.folders["root"] if on == "folder" else company.base
    with pytest.raises(InvalidInput, match="cannot end in the past"):
        access.grant_place_rights(None, VIEW, row, to=anna, expires_at=timezone.now() - timedelta(days=1))
    access.grant_place_rights(None, VIEW, row, to=anna, expires_at=timezone.now() + timedelta(days=1))
    assert company.sees(who(anna)) == ALL
    model = FolderUserGrant if on == "folder" else KnowledgeBaseUserGrant
    model.objects.filter(user=anna).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert company.sees(who(anna)) == set()
    assert not KnowledgeBase.objects.visible_to(who(anna)).exists()


def test_a_break_cuts_what_comes_from_above_and_keeps_what_is_given_below(company: Company, anna: User) -> None:
    bert = make_user("bert")
    allow(anna, company.base)
    allow(bert, company.folders["travel"])
    company.cut(company.folders["travel"])
    assert company.sees(who(anna)) == {"root", "rules", "pay"}
    assert company.sees(who(bert)) == {"travel", "abroad"}
    company.folders["new"] = make_folder(company.folders["abroad"])
    company.add("new", company.folders["new"])
    assert company.sees(who(anna)) == {"root", "rules", "pay"}
    assert company.sees(who(bert)) == {"travel", "abroad", "new"}
    access.restore_inheritance(None, company.folders["travel"])
    assert company.sees(who(anna)) == ALL | {"new"}


def test_a_break_can_copy_what_came_from_above(company: Company, anna: User) -> None:
    group = make_group(members=[anna])
    end = timezone.now() + timedelta(days=3)
    access.grant_place_rights(None, VIEW, company.base, to=group, expires_at=end)
    access.grant_place_rights(None, [Right.ADD], company.folders["rules"], to=anna)
    access.break_inheritance(None, company.folders["travel"], copy=True)
    assert company.sees(who(anna)) == ALL
    access.revoke_place_rights(None, VIEW, company.base, of=group)
    assert company.sees(who(anna)) == {"travel", "abroad"}
    copied = company.folders["travel"].group_grants.get()
    assert (copied.expires_at, copied.permission.codename) == (end, "view_folder")


def test_a_moved_folder_keeps_its_break_and_takes_its_new_place(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"])
    company.cut(company.folders["abroad"])
    by = who(make_user())
    rename_and_move_folder(
        by, folder_id=company.folders["travel"].pk, name="travel", parent_id=company.folders["pay"].pk
    )
    assert company.sees(who(anna)) == {"rules"}
    rename_and_move_folder(
        by, folder_id=company.folders["travel"].pk, name="travel", parent_id=company.folders["rules"].pk
    )
    assert company.sees(who(anna)) == {"rules", "travel"}


def test_a_denial_wins_at_its_level_and_below_whoever_it_is_given_to(company: Company, anna: User) -> None:
    top = create_unit(None, name="Engineering")
    add_member(None, create_unit(None, name="Platform", parent=top), user=anna)
    holders: tuple[User | Group, ...] = (anna, make_group(members=[anna]), top.group)
    lost = {"base": ALL, "rules": {"rules", "travel", "abroad"}, "travel": {"travel", "abroad"}}
    places: list[KnowledgeBase | Folder] = [company.base, *company.folders.values()]
    for place in places:
        allow(anna, place)
    for holder, denied_on in product(holders, lost):
        row = company.base if denied_on == "base" else company.folders[denied_on]
        access.deny_place_rights(None, VIEW, row, to=holder, reason="leaves the team")
        assert company.sees(who(anna)) == ALL - lost[denied_on], (holder, denied_on)
        access.revoke_place_denials(None, VIEW, row, of=holder)
        assert company.sees(who(anna)) == ALL


def test_a_denial_of_one_right_leaves_the_others(company: Company, anna: User) -> None:
    allow(anna, company.base, *Right)
    access.deny_place_rights(None, [Right.DOWNLOAD], company.base, to=anna)
    assert company.sees(who(anna)) == ALL
    assert not Folder.objects.reachable_by(who(anna), Right.DOWNLOAD).exists()
    assert not KnowledgeBase.objects.reachable_by(who(anna), Right.DOWNLOAD).exists()


def test_a_denial_goes_with_its_place_and_is_there_once(company: Company, anna: User) -> None:
    for reason in ("first", "second"):
        access.deny_place_rights(None, VIEW, company.folders["abroad"], to=anna, reason=reason)
    assert Denial.objects.get().reason == "second"
    assert Entry.objects.filter(action=Action.DENIAL_GIVEN).count() == 1
    company.document("abroad").delete()
    company.folders["abroad"].delete()
    assert not Denial.objects.exists()


def test_a_document_may_be_seen_where_its_folder_is_not(company: Company, anna: User) -> None:
    access.grant_place_rights(None, VIEW, company.document("travel"), to=anna)
    assert company.sees(who(anna)) == {"travel"}
    assert not Folder.objects.visible_to(who(anna)).exists()
    assert KnowledgeBase.objects.visible_to(who(anna)).get() == company.base
    node = Folder.unscoped.get(kind=FolderKind.DOCUMENT)
    assert ChunkIndex.unscoped.get(document=company.document("travel")).folder_id == node.pk
    allow(anna, company.base, *Right)
    for right in Right:
        assert not Folder.objects.reachable_by(who(anna), right).filter(pk=node.pk).exists(), "its node has no door"
    access.revoke_place_rights(None, VIEW, company.document("travel"), of=anna)
    assert not Folder.unscoped.filter(kind=FolderKind.DOCUMENT).exists()


def test_a_document_may_be_hidden_or_stop_inheriting_where_its_folder_is_seen(company: Company, anna: User) -> None:
    bert = make_user("bert")
    allow(anna, company.base)
    access.deny_place_rights(None, VIEW, company.document("travel"), to=anna)
    assert company.sees(who(anna)) == ALL - {"travel"}
    assert Folder.objects.visible_to(who(anna)).count() == len(ALL)
    access.revoke_place_denials(None, VIEW, company.document("travel"), of=anna)
    assert company.sees(who(anna)) == ALL
    access.grant_place_rights(None, VIEW, company.document("travel"), to=bert)
    company.cut(company.document("travel"))
    assert company.sees(who(anna)) == ALL - {"travel"}
    assert company.sees(who(bert)) == {"travel"}
    access.restore_inheritance(None, company.document("travel"))
    assert company.sees(who(anna)) == ALL


def test_exceptions_go_with_a_document_that_moves_and_with_a_folder_that_moves(company: Company, anna: User) -> None:
    allow(anna, company.base, Right.VIEW, Right.CHANGE, Right.ADD)
    bert = make_user("bert")
    access.grant_place_rights(None, VIEW, company.document("travel"), to=bert)
    move_document(who(anna), document_id=company.document("travel").pk, folder_id=company.folders["pay"].pk)
    assert company.sees(who(bert)) == {"travel"}
    rename_and_move_folder(
        who(anna), folder_id=company.folders["pay"].pk, name="pay", parent_id=company.folders["rules"].pk
    )
    assert company.sees(who(bert)) == {"travel"}
    access.deny_place_rights(None, VIEW, company.folders["rules"], to=bert)
    assert company.sees(who(bert)) == set()
    assert company.sees(who(anna)) == ALL


def test_a_moved_document_takes_the_rights_of_its_new_place(company: Company, anna: User) -> None:
    mover = make_user("bert")
    allow(mover, company.base, Right.VIEW, Right.CHANGE, Right.ADD)
    allow(anna, company.folders["pay"])
    move_document(who(mover), document_id=company.document("travel").pk, folder_id=company.folders["pay"].pk)
    assert company.sees(who(anna)) == {"pay", "travel"}
    move_document(who(mover), document_id=company.document("travel").pk, folder_id=company.folders["root"].pk)
    assert company.sees(who(anna)) == {"pay"}


def test_a_deleted_document_leaves_no_node(company: Company, anna: User) -> None:
    allow(anna, company.base, Right.VIEW, Right.CHANGE)
    access.grant_place_rights(None, VIEW, company.document("travel"), to=make_user())
    delete_document(who(anna), document_id=company.document("travel").pk)
    assert not Folder.unscoped.filter(kind=FolderKind.DOCUMENT).exists()
    assert company.sees(who(anna)) == ALL - {"travel"}


def test_a_hidden_document_s_name_is_free_and_both_are_kept_apart(company: Company, anna: User) -> None:
    """Whoever may not see a file uploads one of the same name: it becomes their own document, not a version of the hidden one."""
    hidden = company.document("travel")
    allow(anna, company.base, Right.VIEW, Right.ADD)
    access.deny_place_rights(None, VIEW, hidden, to=anna)
    made = upload_document(who(anna), folder_id=hidden.folder_id, filename="travel.md", file=ContentFile(b"mine"))
    assert made.document.pk != hidden.pk
    assert hidden.versions.count() == 1
    access.revoke_place_denials(
        None, VIEW, hidden, of=anna
    )  # the two cannot share the folder's node: the hidden one keeps its own
    assert company.document("travel").access_id != hidden.folder_id
    assert who(anna)
    assert {row.pk for row in type(hidden).objects.visible_to(who(anna)).filter(filename="travel.md")} == {
        hidden.pk, made.document.pk,
    }  # fmt: skip


def test_a_token_s_folder_narrows_and_never_widens(company: Company, anna: User) -> None:
    allow(anna, company.base)
    access.deny_place_rights(None, VIEW, company.folders["abroad"], to=anna)
    narrowed = who(anna).narrowed(scopes=frozenset({"search"}), folder_id=company.folders["rules"].pk)
    assert company.sees(narrowed) == {"rules", "travel"}
    assert [folder.name for folder in Folder.objects.visible_to(narrowed).order_by("name")] == ["rules", "travel"]
    assert not KnowledgeBase.objects.reachable_by(narrowed, Right.MANAGE).exists()
    assert KnowledgeBase.objects.visible_to(narrowed).get() == company.base
    assert company.sees(who(anna).narrowed(scopes=frozenset(), folder_id=uuid4())) == set()
    bert = who(make_user("bert")).narrowed(scopes=frozenset({"search"}), folder_id=company.folders["rules"].pk)
    assert company.sees(bert) == set()


def test_only_managers_change_rights(company: Company, anna: User) -> None:
    place = company.folders["rules"]
    with pytest.raises(NotFound):
        access.grant_place_rights(who(anna), VIEW, place, to=anna)
    allow(anna, company.base)
    changes: list[Callable[[], None]] = [
        lambda: access.grant_place_rights(who(anna), VIEW, place, to=anna),
        lambda: access.deny_place_rights(who(anna), VIEW, place, to=anna),
        lambda: access.break_inheritance(who(anna), place),
        lambda: access.set_discoverable(who(anna), place, is_discoverable=True),
        lambda: access.transfer_base(who(anna), company.base, to=None),
    ]
    for change in changes:
        with pytest.raises(PermissionDenied):
            change()
    allow(anna, company.folders["rules"], Right.MANAGE)
    access.grant_place_rights(who(anna), VIEW, company.document("travel"), to=make_user())
    with pytest.raises(PermissionDenied):
        access.grant_place_rights(who(anna), VIEW, company.document("pay"), to=make_user())


def test_a_unit_does_not_come_below_one_that_is_denied_what_its_people_alone_manage(company: Company) -> None:
    keeper, staff, denied = (
        User.objects.get(username="keeper"),
        create_unit(None, name="Staff"),
        create_unit(None, name="Denied"),
    )
    add_member(None, staff, user=keeper)
    access.deny_place_rights(None, [Right.MANAGE], company.base, to=denied.group)
    with pytest.raises(InvalidInput, match="This would leave"):
        move_unit(None, staff, parent=denied)
    access.grant_place_rights(None, [Right.MANAGE], company.base, to=make_user("kim"))
    move_unit(None, staff, parent=denied)


def test_the_last_manager_is_not_locked_out(company: Company, anna: User) -> None:
    kim = make_user("kim")
    staff = create_unit(None, name="Staff")
    add_member(None, staff, user=kim)
    access.grant_place_rights(None, [Right.MANAGE], company.base, to=staff.group)
    access.revoke_place_rights(None, [Right.MANAGE], company.base, of=User.objects.get(username="keeper"))
    denied = create_unit(None, name="Denied")
    access.deny_place_rights(None, [Right.MANAGE], company.base, to=denied.group)
    soon = timezone.now() + timedelta(days=1)
    changes: dict[str, Callable[[], None]] = {
        "taken back": lambda: access.revoke_place_rights(None, [Right.MANAGE], company.base, of=staff.group),
        "denied, with another right before it": lambda: access.deny_place_rights(
            None, [Right.VIEW, Right.MANAGE], company.base, to=kim
        ),
        "given an end": lambda: access.grant_place_rights(
            None, [Right.MANAGE], company.base, to=staff.group, expires_at=soon
        ),
        "left": lambda: remove_member(None, staff, user=kim),
        "joined those who are denied it": lambda: add_member(None, denied, user=kim),
        "broken": lambda: access.break_inheritance(None, company.folders["rules"]),
        "document broken": lambda: access.break_inheritance(None, company.document("rules")),
    }
    before = Entry.objects.count()
    for change in changes.values():
        with pytest.raises(InvalidInput, match="This would leave"):
            change()
    assert Entry.objects.count() == before
    assert Denial.objects.get().group == denied.group
    assert not Folder.unscoped.filter(inherits=False).exists()
    assert not Folder.unscoped.filter(kind=FolderKind.DOCUMENT).exists()
    access.grant_place_rights(None, [Right.MANAGE], company.base, to=anna)
    access.break_inheritance(None, company.folders["rules"], copy=True)
    changes["taken back"]()
    with pytest.raises(InvalidInput, match="This would leave"):
        access.revoke_place_rights(None, [Right.MANAGE], company.base, of=anna)
