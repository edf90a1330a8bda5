"""Visible rows as exact sets, for every protected model; they are gone for the next statement when the right ends."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import can, get_visible, require
from authz.rights.grants import give, take_back
from copilot_site.lib.errors import NotFound, PermissionDenied
from knowledge.models import Folder, KnowledgeBase
from knowledge.services.folders import root_folder
from tests.factories import allow, make_base, make_group, make_user
from tests.integration.authz.company import Company

pytestmark = pytest.mark.django_db

ALL = {"root", "rules", "travel", "abroad", "pay"}
# what is granted → whose rows are seen; “plans” lies in another base
GRANTS: dict[str, set[str]] = {
    "rules": {"rules", "travel", "abroad"},
    "abroad": {"abroad"},
    "root": ALL,
    "base": ALL,
    "other base": {"plans"},
}


@pytest.fixture
def elsewhere(company: Company) -> KnowledgeBase:
    """Another base with one document of its own."""
    base = make_base("Elsewhere")
    company.add("plans", root_folder(base))
    return base


def sees(company: Company, principal: Principal) -> set[str]:
    """The same documents and folders in every model, and no base without one of them."""
    seen = company.sees(principal)
    names = {name for name, folder in company.folders.items() if folder in Folder.objects.visible_to(principal)}
    assert names == seen - {"plans"}
    bases = {company.documents[name].knowledge_base_id for name in seen}
    assert set(KnowledgeBase.objects.visible_to(principal).values_list("pk", flat=True)) == bases
    return seen


@pytest.mark.parametrize("granted", GRANTS)
def test_a_grant_reaches_down_and_nowhere_else_from_the_next_statement_on(
    company: Company, elsewhere: KnowledgeBase, anna: User, granted: str
) -> None:
    row = {"base": company.base, "other base": elsewhere, **company.folders}[granted]
    group = make_group(members=[anna])
    asking = Principal.of(anna)
    for holder in (anna, group):
        assert sees(company, asking) == set()
        give(None, [Right.VIEW], row, to=holder)
        assert sees(company, asking) == GRANTS[granted]
        take_back(None, [Right.VIEW], row, of=holder)


def test_grants_add_up_and_no_row_comes_twice(company: Company, elsewhere: KnowledgeBase, anna: User) -> None:
    """By person and by group, on a folder, above it, and on the base: still one row each, and every row has its model."""
    group, other = make_group(members=[anna]), make_group(members=[anna])
    for row in (company.folders["rules"], company.folders["travel"], company.base, root_folder(elsewhere)):
        allow(anna, row)
        allow(group, row)
    allow(other, company.folders["rules"])
    assert sees(company, Principal.of(anna)) == ALL | {"plans"}


@pytest.mark.parametrize("right", [Right.DOWNLOAD, Right.MANAGE])
def test_another_right_is_not_the_right_to_see(company: Company, anna: User, right: Right) -> None:
    allow(anna, company.folders["rules"], right)
    assert sees(company, Principal.of(anna)) == set()
    folders = Folder.objects.reachable_by(Principal.of(anna), right)
    assert sorted(folder.name for folder in folders) == ["abroad", "rules", "travel"]


def test_a_grant_of_somebody_else_or_of_nobody_gives_nothing(company: Company, anna: User) -> None:
    """`user = NULL` must not match the missing member of an empty group; nor is a superuser without a grant shown content."""
    allow(make_user("bert"), company.base)
    allow(make_group("board", members=[make_user("cora")]), company.folders["rules"])
    allow(make_group("empty"), company.base)
    root = Principal.of(make_user("root", is_superuser=True))
    for person in (Principal.of(anna), Principal.nobody(), root):
        assert sees(company, person) == set()
    assert not can(root, Right.VIEW, company.folders["rules"])


# The same Principal object is used before and after: a right ends for the next statement, not for the next sign-in.
REVOCATIONS: dict[str, Callable[[Company, User], object]] = {
    "taken back": lambda it, anna: take_back(None, [Right.VIEW], it.folders["rules"], of=anna.groups.get()),
    "removed from the group": lambda _it, anna: anna.groups.clear(),
    "group deleted": lambda _it, anna: anna.groups.get().delete(),
    "account disabled": lambda _it, anna: User.objects.filter(pk=anna.pk).update(is_active=False),
    "account deleted": lambda _it, anna: anna.delete(),
}


@pytest.mark.parametrize("how", REVOCATIONS)
def test_a_right_that_ends_is_gone_for_the_next_statement(company: Company, anna: User, how: str) -> None:
    allow(make_group(members=[anna]), company.folders["rules"])
    asking = Principal.of(anna)
    assert sees(company, asking) == {"rules", "travel", "abroad"}
    REVOCATIONS[how](company, anna)
    assert sees(company, asking) == set()


def test_missing_and_forbidden_are_the_same_words_and_a_right_one_lacks_is_named(company: Company, anna: User) -> None:
    said = set()
    for asked in (company.folders["rules"].pk, "11111111-1111-4111-8111-111111111111", "no uuid"):
        with pytest.raises(NotFound) as refusal:
            get_visible(Folder, Principal.of(anna), pk=asked)
        said.add(str(refusal.value))
    assert len(said) == 1
    allow(anna, company.folders["rules"])
    with pytest.raises(PermissionDenied, match=r"travel.*add documents"):
        require(Principal.of(anna), Right.ADD, company.folders["travel"])
    allow(anna, company.base, Right.ADD)
    require(Principal.of(anna), Right.ADD, company.folders["travel"])
