"""In front of others: who they are is read anew each time, and a right that one of them lacks is nobody's."""

import pytest
from django.contrib.auth.models import Group, User

import authz.rights.folders
from authz.models import PermissionSnapshot
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_group_ids
from authz.rights.snapshot import is_intact, take_snapshot
from copilot_site.lib.errors import NotFound
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow, make_base, make_document, make_folder, make_group, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def base() -> KnowledgeBase:
    return make_base()


@pytest.fixture
def folder(base: KnowledgeBase) -> Folder:
    return make_folder(base)


def together(*people: User) -> Principal:
    return Principal.of(people[0]).before(person.pk for person in people[1:])


def seen(principal: Principal) -> set[str]:
    return set(Folder.objects.visible_to(principal).values_list("name", flat=True))


def test_what_both_may_read_by_different_ways_is_seen(base: KnowledgeBase, folder: Folder) -> None:
    anna, ben, group = make_user(), make_user(), make_group()
    group.user_set.add(anna)
    allow(group, base)
    allow(ben, folder)
    document = make_document(folder, "rules.md")
    other = make_document(make_folder(base), "plans.md")
    assert set(Document.objects.visible_to(Principal.of(anna))) == {document, other}
    assert set(Document.objects.visible_to(together(anna, ben))) == {document}
    assert set(Document.objects.visible_to(together(ben, anna))) == {document}
    assert seen(together(anna, ben)) == {folder.name}


# what is one's own makes nobody else's right, though they are in the same groups; and the table in which it stands
OWN = {
    "a grant on a folder": "authz_folderusergrant g",
    "a grant on a base": "authz_knowledgebaseusergrant g",
    "a denial": "authz_denial d",
}


def own(kind: str, base: KnowledgeBase, folder: Folder) -> tuple[User, User]:
    """Two people in one group; the second lacks what the first has."""
    group = make_group()
    first, second = make_user(groups=[group]), make_user(groups=[group])
    if kind == "a denial":
        allow(group, base)
        access.deny_place_rights(None, [Right.VIEW], base, to=second)
    else:
        allow(first, folder if kind == "a grant on a folder" else base)
    return first, second


@pytest.mark.parametrize("kind", OWN)
def test_what_is_one_s_own_is_not_the_others(kind: str, base: KnowledgeBase, folder: Folder) -> None:
    first, second = own(kind, base, folder)
    assert folder.name in seen(Principal.of(first))
    assert seen(together(first, second)) == seen(together(second, first)) == set()
    assert not KnowledgeBase.objects.visible_to(together(first, second)).exists()


@pytest.mark.parametrize("kind", OWN)
def test_each_kind_of_one_s_own_is_looked_for(
    kind: str, base: KnowledgeBase, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: a statement that does not ask for it takes both for the same."""
    looked_for = f"(SELECT 1 FROM {OWN[kind]} WHERE "
    assert looked_for in authz.rights.folders._ALL
    monkeypatch.setattr(
        authz.rights.folders, "_ALL", authz.rights.folders._ALL.replace(looked_for, f"{looked_for}false AND ")
    )
    first, second = own(kind, base, folder)
    assert seen(together(first, second)) != set()


def test_a_right_that_one_loses_is_gone_for_all(base: KnowledgeBase, folder: Folder) -> None:
    anna, ben = make_user(), make_user()
    allow(anna, base)
    allow(ben, folder)
    principal = together(anna, ben)
    assert seen(principal) == {folder.name}
    access.revoke_place_rights(None, [Right.VIEW], folder, of=ben)
    assert seen(principal) == set()


def test_nobody_sees_anything_before_somebody_who_is_gone(base: KnowledgeBase, folder: Folder) -> None:
    anna, ben = make_user(), make_user()
    allow(anna, base)
    allow(ben, base)
    principal = together(anna, ben)
    User.objects.filter(pk=ben.pk).update(is_active=False)
    assert seen(principal) == set()
    with pytest.raises(NotFound):
        principal.again()
    with pytest.raises(NotFound):
        together(anna, ben)
    with pytest.raises(NotFound):
        Principal.of(anna).before([ben.pk, 0])


def test_groups_units_and_roles_are_those_of_all() -> None:
    both, one = make_group(), make_group()
    above = create_unit(None, name="Engineering")
    below = create_unit(None, name="Platform", parent=above)
    anna, ben = make_user(groups=[both, one], is_superuser=True), make_user(groups=[both])
    add_member(None, above.group, user=anna)
    add_member(None, below.group, user=ben)
    principal = together(anna, ben)
    assert principal.group_ids == {both.pk, above.group.pk}
    assert principal.org_units == {"Engineering"}
    assert not principal.is_superuser
    assert set(principal.again().group_ids) == {both.pk, above.group.pk}
    assert set(Group.objects.filter(pk__in=select_group_ids(principal))) == {both, above.group}


def test_a_snapshot_says_who_read_along(base: KnowledgeBase) -> None:
    anna, ben = make_user(), make_user()
    allow(anna, base)
    allow(ben, base)
    assert Principal.of(anna).before([anna.pk]) == Principal.of(anna)
    alone, before = take_snapshot(Principal.of(anna)), take_snapshot(together(anna, ben))
    assert alone != before
    stored = PermissionSnapshot.objects.get(pk=before)
    assert stored.principal["audience"] == [ben.pk]
    assert is_intact(stored)
