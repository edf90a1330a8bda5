"""Every part of the statement of rights matters: with a mistake in it, somebody in a small company sees something else."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from authz.models import FolderUserGrant
from authz.people.units import create_unit, join
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import folder_ids_with
from knowledge.models import Folder
from knowledge.services import access
from tests import mistakes
from tests.factories import allow, make_group, make_user
from tests.integration.authz.company import Company

pytestmark = pytest.mark.django_db

VIEW = [Right.VIEW]
Case = Callable[[Company, User], Principal | None]


def below(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"])


def denied_below(company: Company, anna: User) -> None:
    allow(anna, company.base)
    access.deny(None, VIEW, company.folders["rules"], to=anna)


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
    access.deny(None, VIEW, company.base, to=anna)


def ended(company: Company, anna: User) -> None:
    allow(anna, company.folders["rules"])
    FolderUserGrant.objects.filter(user=anna).update(expires_at=timezone.now() - timedelta(minutes=1))


def in_a_unit_below(company: Company, anna: User) -> None:
    above = create_unit(None, name="Engineering")
    join(None, create_unit(None, name="Platform", parent=above), user=anna)
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
    ids = set(Folder.unscoped.filter(pk__in=folder_ids_with(principal, Right.VIEW)).values_list("pk", flat=True))
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
