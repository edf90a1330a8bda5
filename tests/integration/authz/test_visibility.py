"""Visible rows as exact sets, for every protected model; they are gone for the next statement when the right ends."""

import ast
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils import timezone

from authz.models import FolderUserGrant
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, has_right, require_right
from authz.rights.folders import select_folder_ids
from authz.rights.grants import grant_rights, revoke_rights
from copilot_site.lib.errors import NotFound, PermissionDenied
from knowledge.models import Folder, KnowledgeBase
from knowledge.services import access
from knowledge.services.folders import find_root_folder
from tests import mistakes
from tests.factories import allow, make_base, make_group, make_user
from tests.integration.authz.company import Company
from tests.test_architecture import ROOT, sources

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
    company.add("plans", find_root_folder(base))
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
        grant_rights(None, [Right.VIEW], row, to=holder)
        assert sees(company, asking) == GRANTS[granted]
        revoke_rights(None, [Right.VIEW], row, of=holder)


def test_grants_add_up_and_no_row_comes_twice(company: Company, elsewhere: KnowledgeBase, anna: User) -> None:
    """By person and by group, on a folder, above it, and on the base: still one row each, and every row has its model."""
    group, other = make_group(members=[anna]), make_group(members=[anna])
    for row in (company.folders["rules"], company.folders["travel"], company.base, find_root_folder(elsewhere)):
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
    assert not has_right(root, Right.VIEW, company.folders["rules"])


# The same Principal object is used before and after: a right ends for the next statement, not for the next sign-in.
REVOCATIONS: dict[str, Callable[[Company, User], object]] = {
    "taken back": lambda it, anna: revoke_rights(None, [Right.VIEW], it.folders["rules"], of=anna.groups.get()),
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
        require_right(Principal.of(anna), Right.ADD, company.folders["travel"])
    allow(anna, company.base, Right.ADD)
    require_right(Principal.of(anna), Right.ADD, company.folders["travel"])


# --- every part of the statement matters: with a mistake in it, somebody sees something else ---

VIEW = [Right.VIEW]
Case = Callable[[Company, User], Principal | None]


def below(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"])


def denied_below(company: Company, anna: User) -> None:
    allow(anna, company.base)
    access.deny_place_rights(None, VIEW, company.folders["rules"], to=anna)


def granted_to_others(company: Company, anna: User) -> None:
    allow(make_group(members=[make_user()]), company.folders["rules"])


def behind_a_break(company: Company, anna: User) -> None:
    allow(anna, company.base)
    company.cut(company.folders["travel"])


def behind_a_root_that_takes_over_nothing(company: Company, anna: User) -> None:
    allow(anna, company.base)
    company.cut(company.folders["root"])


def denied_above_a_break(company: Company, anna: User) -> None:
    company.cut(company.folders["travel"])
    allow(anna, company.folders["travel"])
    access.deny_place_rights(None, VIEW, company.base, to=anna)


def ended(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"])
    FolderUserGrant.objects.filter(user=anna).update(expires_at=timezone.now() - timedelta(minutes=1))


def in_a_unit_below(company: Company, anna: User) -> None:
    above = create_unit(None, name="Engineering")
    add_member(None, create_unit(None, name="Platform", parent=above), user=anna)
    allow(above.group, company.folders["rules"])


def disabled(company: Company, anna: User) -> Principal:
    allow(anna, company.folders["rules"])
    before = Principal.of(anna)
    User.objects.filter(pk=anna.pk).update(is_active=False)
    return before


def another_right(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"], Right.DOWNLOAD)


def through_a_token_for_a_folder(company: Company, anna: User) -> Principal:
    allow(anna, company.base)
    return Principal.of(anna).narrowed(scopes=frozenset({"search"}), folder_id=company.folders["travel"].pk)


# mistake → the case that shows it, and what is seen there rightly
CASES: dict[str, tuple[Case, set[str]]] = {
    "no inheritance": (below, {"rules", "travel", "abroad"}),
    "no denial": (denied_below, {"root", "pay"}),
    "or for and": (granted_to_others, set()),
    "no break": (behind_a_break, {"root", "rules", "pay"}),
    "no break of a root": (behind_a_root_that_takes_over_nothing, set()),
    "denials end at a break": (denied_above_a_break, set()),
    "denials do not go down": (denied_below, {"root", "pay"}),
    "no end": (ended, set()),
    "no unit above": (in_a_unit_below, {"rules", "travel", "abroad"}),
    "disabled people": (disabled, set()),
    "any right": (another_right, set()),
    "no token": (through_a_token_for_a_folder, {"travel", "abroad"}),
}


def seen(company: Company, principal: Principal) -> set[str]:
    ids = set(Folder.unscoped.filter(pk__in=select_folder_ids(principal, Right.VIEW)).values_list("pk", flat=True))
    return {name for name, folder in company.folders.items() if folder.pk in ids}


def test_every_mistake_has_its_case() -> None:
    assert CASES.keys() == mistakes.MISTAKES.keys()


@pytest.mark.parametrize("mistake", CASES)
def test_the_right_statement_and_one_with_a_mistake_differ(
    company: Company, anna: User, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    case, rightly = CASES[mistake]
    principal = case(company, anna) or Principal.of(anna)
    assert seen(company, principal) == rightly
    mistakes.make(monkeypatch, mistake)
    assert seen(company, principal) != rightly


# --- django's own question, `user.has_perm(…, row)`, has our answer: the one of the statement of rights ---
RAW = ["authz.sign_in.backends.PeopleBackend", "guardian.backends.ObjectPermissionBackend"]
OF_PEOPLE = {name: case for name, case in CASES.items() if name != "no token"}  # a user who is asked about has no token


def held(company: Company, user: User | AnonymousUser, right: str = "view") -> set[str]:
    return {name for name, folder in company.folders.items() if user.has_perm(f"knowledge.{right}_folder", folder)}


def again(user: User) -> User:
    """Without what guardian or Django remember on the object."""
    return User.objects.get(pk=user.pk)


@pytest.mark.parametrize(("case", "rightly"), OF_PEOPLE.values(), ids=OF_PEOPLE)
def test_it_says_what_the_statement_says(company: Company, anna: User, case: Case, rightly: set[str]) -> None:
    case(company, anna)
    assert held(company, again(anna)) == rightly


def test_guardian_s_own_backend_would_say_something_else(company: Company, anna: User, settings: Any) -> None:
    settings.AUTHENTICATION_BACKENDS = RAW
    differ = set()
    for name, (case, rightly) in OF_PEOPLE.items():
        with transaction.atomic():
            case(company, anna)
            if held(company, again(anna)) != rightly:
                differ.add(name)
            transaction.set_rollback(True)
    assert differ >= {"no inheritance", "no denial", "no break", "no end", "no unit above"}


def test_each_right_stands_alone_and_rows_of_every_protected_model_are_asked_about(
    company: Company, anna: User
) -> None:
    allow(anna, company.folders["rules"], Right.DOWNLOAD)
    allow(anna, company.folders["pay"], Right.VIEW, Right.MANAGE)
    assert held(company, again(anna), "download") == {"rules", "travel", "abroad"}
    assert held(company, again(anna), "manage") == {"pay"}
    pay = company.folders["pay"]
    assert again(anna).get_all_permissions(pay) == {"knowledge.view_folder", "knowledge.manage_folder"}
    readable = {name for name in company.documents if again(anna).has_perm("view_document", company.document(name))}
    assert readable == {"pay"}
    assert not again(anna).has_perm("knowledge.view_knowledgebase", pay)
    assert not again(anna).has_perm("agent.view_folder", pay)
    assert again(anna).has_perm("knowledge.view_knowledgebase", company.base)


def test_nobody_and_rows_without_rights_of_their_own_are_refused(company: Company, anna: User) -> None:
    allow(anna, company.base)
    assert held(company, AnonymousUser()) == set()
    assert not again(anna).has_perm("authz.view_folderusergrant", FolderUserGrant())
    assert not again(anna).has_perm("knowledge.view_folder")


def test_no_code_of_ours_asks_about_a_row_by_has_perm(company: Company) -> None:
    """Django answers yes for superusers before it asks us."""
    asking = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        if "has_perm" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") in {"has_perm", "has_perms"}
        and len(node.args) + len(node.keywords) > 1
    }
    assert asking == set()
    root = make_user("root", is_superuser=True)
    assert held(company, root) == set(company.folders)
    assert company.sees(Principal.of(root)) == set()
