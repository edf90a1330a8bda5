"""Who sees which rows: exact sets, for every protected model, in one small company.

Handbook: root > rules > travel > abroad, and root > pay. Elsewhere: root > plans. Each folder holds one document with one
passage, so that a leaked row is named by its folder.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from authz.checks import can, get_visible, require
from authz.grants import give, take_back
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import NotFound, PermissionDenied
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, DocumentVersion, Folder, KnowledgeBase
from knowledge.services.folders import root_folder
from tests.factories import allow, make_base, make_document, make_folder, make_group, make_user
from tests.passages import make_passage, make_space
from tests.sharing import Share

pytestmark = pytest.mark.django_db

EVERYWHERE = ["Handbook", "rules", "travel", "abroad", "pay", "Elsewhere", "plans"]
FOLDER_OF: dict[Any, str] = {
    Folder: "name",
    Document: "folder__name",
    DocumentVersion: "document__folder__name",
    Chunk: "document__folder__name",
    ChunkIndex: "folder__name",
    ChunkTokens: "version__document__folder__name",
}


@dataclass
class Company:
    """The rows, by name; `group` has the one member `anna`."""

    anna: User
    group: Group
    rows: dict[str, Any] = field(default_factory=dict)

    @property
    def principal(self) -> Principal:
        return Principal.of(User.objects.get(pk=self.anna.pk))

    def sees(self, principal: Principal | None = None) -> dict[str, list[str]]:
        """{model: names of the folders whose rows are seen, one for each row}."""
        who = principal or self.principal
        return {
            model.__name__: sorted(model.objects.visible_to(who).values_list(path, flat=True))
            for model, path in FOLDER_OF.items()
        }

    def bases(self) -> list[str]:
        return sorted(KnowledgeBase.objects.visible_to(self.principal).values_list("name", flat=True))


def in_every_model(*folders: str) -> dict[str, list[str]]:
    return {model.__name__: sorted(folders) for model in FOLDER_OF}


@pytest.fixture(scope="module")
def shared_company(share: Share) -> Callable[[], Company]:
    return share(make_company)


@pytest.fixture
def company(shared_company: Callable[[], Company], db: None) -> Company:
    return shared_company()


def make_company() -> Company:
    anna = make_user("anna")
    company = Company(anna, make_group("staff", members=[anna]))
    space = make_space()
    for base_name, tree in {
        "Handbook": [("rules", "Handbook"), ("travel", "rules"), ("abroad", "travel"), ("pay", "Handbook")],
        "Elsewhere": [("plans", "Elsewhere")],
    }.items():
        base = make_base(base_name)
        folders = {base_name: root_folder(base)}
        for name, parent in tree:
            folders[name] = make_folder(folders[parent], name)
        for name, folder in folders.items():
            make_passage(make_document(folder, f"{name}.md"), space)
        company.rows |= folders | {f"base {base_name}": base}
    return company


# what is granted → the folders whose rows are seen, the knowledge bases that are listed
GRANTS: dict[str, tuple[str, list[str], list[str]]] = {
    "a folder in the middle": ("rules", ["rules", "travel", "abroad"], ["Handbook"]),
    "a leaf": ("abroad", ["abroad"], ["Handbook"]),
    "the sibling": ("pay", ["pay"], ["Handbook"]),
    "the root folder": ("Handbook", ["Handbook", "rules", "travel", "abroad", "pay"], ["Handbook"]),
    "the knowledge base": ("base Handbook", ["Handbook", "rules", "travel", "abroad", "pay"], ["Handbook"]),
    "another base": ("base Elsewhere", ["Elsewhere", "plans"], ["Elsewhere"]),
}


@pytest.mark.parametrize("granted", GRANTS)
def test_a_grant_reaches_down_and_nowhere_else(company: Company, granted: str) -> None:
    """And is there for the next statement, whoever holds it."""
    on, visible, bases = GRANTS[granted]
    asking = company.principal
    for holder in (company.anna, company.group):
        assert company.sees(asking) == in_every_model()
        give(None, [Right.VIEW], company.rows[on], to=holder)
        assert company.sees(asking) == in_every_model(*visible)
        assert company.bases() == bases
        take_back(None, [Right.VIEW], company.rows[on], of=holder)


def test_grants_add_up_and_no_row_comes_twice(company: Company) -> None:
    """By person and by group, on a folder, above it, and on the base: still one row each."""
    for row in ("rules", "travel", "base Handbook", "plans"):
        allow(company.anna, company.rows[row])
        allow(company.group, company.rows[row])
    other = make_group(members=[company.anna])
    allow(other, company.rows["rules"])
    assert company.sees() == in_every_model("Handbook", "rules", "travel", "abroad", "pay", "plans")
    assert company.bases() == ["Elsewhere", "Handbook"]


@pytest.mark.parametrize("right", [Right.DOWNLOAD, Right.MANAGE])
def test_another_right_is_not_the_right_to_see(company: Company, right: Right) -> None:
    allow(company.anna, company.rows["rules"], right)
    assert company.sees() == in_every_model()
    folders = Folder.objects.reachable_by(company.principal, right)
    assert sorted(folder.name for folder in folders) == ["abroad", "rules", "travel"]


def test_a_grant_of_somebody_else_or_of_nobody_gives_nothing(company: Company) -> None:
    """`user = NULL` must not match the missing member of an empty group."""
    allow(make_user("bert"), company.rows["base Handbook"])
    allow(make_group("board", members=[make_user("cora")]), company.rows["base Elsewhere"])
    allow(make_group("empty"), company.rows["base Handbook"])
    for person in (company.principal, Principal.nobody()):
        assert company.sees(person) == in_every_model()
        assert not KnowledgeBase.objects.visible_to(person).exists()


def test_a_superuser_without_a_grant_sees_no_content(company: Company) -> None:
    root = Principal.of(make_user("root", is_superuser=True))
    assert root.is_superuser
    assert company.sees(root) == in_every_model()
    assert not can(root, Right.VIEW, company.rows["rules"])


# The same Principal object is used before and after: a right ends for the next statement, not for the next sign-in.
REVOCATIONS: dict[str, Callable[[Company], object]] = {
    "taken back": lambda c: take_back(None, [Right.VIEW], c.rows["rules"], of=c.group),
    "removed from the group": lambda c: c.group.user_set.remove(c.anna),
    "group deleted": lambda c: c.group.delete(),
    "account disabled": lambda c: User.objects.filter(pk=c.anna.pk).update(is_active=False),
    "account deleted": lambda c: User.objects.get(pk=c.anna.pk).delete(),
}


@pytest.mark.parametrize("how", REVOCATIONS)
def test_a_right_that_ends_is_gone_for_the_next_statement(company: Company, how: str) -> None:
    allow(company.group, company.rows["rules"])
    asking = company.principal
    assert company.sees(asking) == in_every_model("rules", "travel", "abroad")
    REVOCATIONS[how](company)
    assert company.sees(asking) == in_every_model()
    assert not KnowledgeBase.objects.visible_to(asking).exists()


def test_missing_and_forbidden_are_the_same_words(company: Company) -> None:
    said = set()
    for asked in (company.rows["rules"].pk, "11111111-1111-4111-8111-111111111111", "no uuid"):
        with pytest.raises(NotFound) as refusal:
            get_visible(Folder, company.principal, pk=asked)
        said.add(str(refusal.value))
    assert len(said) == 1


def test_a_right_one_lacks_is_named_with_the_row(company: Company) -> None:
    allow(company.anna, company.rows["rules"])
    with pytest.raises(PermissionDenied, match=r"travel.*add documents"):
        require(company.principal, Right.ADD, company.rows["travel"])
    allow(company.anna, company.rows["base Handbook"], Right.ADD)
    require(company.principal, Right.ADD, company.rows["travel"])


def test_every_folder_has_its_rows(company: Company) -> None:
    """The control of this file: with all rights, every name appears in every model."""
    for base in ("base Handbook", "base Elsewhere"):
        allow(company.anna, company.rows[base])
    assert company.sees() == in_every_model(*EVERYWHERE)
