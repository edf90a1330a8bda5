"""Django's own question, `user.has_perm(…, row)`, has our answer: the one of the statement of rights."""

import ast
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction

from authz.models import FolderUserGrant
from authz.permissions import Right
from authz.principal import Principal
from tests.factories import allow, make_user
from tests.integration.authz.company import Company
from tests.integration.authz.test_statement import CASES, Case
from tests.test_architecture import ROOT, sources

pytestmark = pytest.mark.django_db
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
