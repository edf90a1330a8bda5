"""Whatever the tree, the groups, the grants and the moves: what a person sees is what four lines of Python say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from authz.models import FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Chunk, Document, DocumentVersion, Folder
from knowledge.retrieval.candidates import Question, find_candidates
from knowledge.retrieval.plan import Scope
from knowledge.services.folders import govern_folder, root_folder
from tests.factories import allow, make_base, make_folder, make_group, make_user
from tests.passages import DIMENSIONS, make_passage, make_space

pytestmark = pytest.mark.django_db

BASES = 2
Grant = tuple[str, int, str, int]  # "user" or "group", which, "base" or "folder", which
QUESTION = Question(np.eye(1, DIMENSIONS, dtype=np.float32)[0], {1: 1.0})


@dataclass(frozen=True)
class Plan:
    """A company. Folders 0 and 1 are the roots of bases 0 and 1; folder 2 + i hangs below `parents[i]`."""

    parents: list[int]
    members: list[set[int]]  # of each group, as numbers of persons
    grants: list[Grant]
    moves: list[tuple[int, int]]  # folder, new parent


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(0, 5))
    parents = [draw(st.integers(0, BASES + place - 1)) for place in range(count)]
    folders = st.integers(0, BASES + count - 1)
    rows = st.tuples(st.just("folder"), folders) | st.tuples(st.just("base"), st.integers(0, BASES - 1))
    holders = st.tuples(st.sampled_from(["user", "group"]), st.integers(0, 1))
    return Plan(
        parents=parents,
        members=[draw(st.sets(st.integers(0, 1))) for _group in range(2)],
        grants=[(*draw(holders), *draw(rows)) for _grant in range(draw(st.integers(0, 4)))],
        moves=draw(st.lists(st.tuples(folders, folders), max_size=3)),
    )


def expected(plan: Plan, parents: list[int | None], person: int) -> set[int]:
    """The oracle: a folder is seen when the person, or a group of theirs, has a grant on it, above it, or on its base."""
    held = {
        (row, which)
        for kind, holder, row, which in plan.grants
        if (holder == person if kind == "user" else person in plan.members[holder])
    }

    def above(folder: int) -> list[int]:
        parent = parents[folder]
        return [folder, *(above(parent) if parent is not None else [])]

    return {
        folder
        for folder in range(len(parents))
        if ("base", above(folder)[-1]) in held or any(("folder", each) in held for each in above(folder))
    }


@dataclass
class Built:
    """The same company as rows: each folder has one document with one passage."""

    plan: Plan
    people: list[User]
    folders: list[Folder]
    space_id: int

    @classmethod
    def of(cls, plan: Plan) -> "Built":
        space = make_space()
        bases = [make_base() for _base in range(BASES)]
        folders = [root_folder(base) for base in bases]
        for parent in plan.parents:
            folders.append(make_folder(folders[parent]))
        for folder in folders:
            document = Document.unscoped.create(
                knowledge_base_id=folder.knowledge_base_id, folder=folder, filename="a.md", title="a"
            )
            DocumentVersion.unscoped.create(document=document, number=1, size_bytes=1)
            make_passage(document, space)
        people = [make_user() for _person in range(2)]
        groups = [make_group(members=[people[number] for number in members]) for members in plan.members]
        holders: dict[str, list[Any]] = {"user": people, "group": groups}
        rows: dict[str, list[Any]] = {"folder": folders, "base": bases}
        for kind, holder, row, which in plan.grants:
            allow(holders[kind][holder], rows[row][which])
        return cls(plan, people, folders, space.pk)

    def moved(self) -> list[int | None]:
        """Do the moves that the service accepts; returns the parent of each folder after them."""
        parents: list[int | None] = [*([None] * BASES), *self.plan.parents]
        by = Principal.of(self.people[0])
        for folder, parent in self.plan.moves:
            row = Folder.unscoped.get(pk=self.folders[folder].pk)
            try:
                govern_folder(by, folder_id=row.pk, name=row.name, parent_id=self.folders[parent].pk)
            except InvalidInput:
                continue
            parents[folder] = parent
        return parents

    def seen(self, person: int) -> dict[str, list[int]]:
        """The folders that each way of reading shows rows of, one entry for each row."""
        principal = Principal.of(self.people[person])
        number = {folder.pk: place for place, folder in enumerate(self.folders)}
        ids: dict[str, list[Any]] = {
            "folders": list(Folder.objects.visible_to(principal).values_list("pk", flat=True)),
            "documents": list(Document.objects.visible_to(principal).values_list("folder_id", flat=True)),
            "passages": list(Chunk.objects.visible_to(principal).values_list("document__folder_id", flat=True)),
        }
        for use_indexes in (False, True):
            found = find_candidates(
                principal, QUESTION, Scope(), space_id=self.space_id, depth=50, use_indexes=use_indexes, rare_terms=[1]
            )
            folder_of = dict(Document.unscoped.values_list("pk", "folder_id"))
            ids[f"search, indexes={use_indexes}"] = [folder_of[row.document_id] for row in found]
        return {way: sorted(number[pk] for pk in rows) for way, rows in ids.items()}


def disagreements(plan: Plan) -> list[str]:
    """Where the database and the oracle differ, in words; leaves no row behind."""
    found = []
    with transaction.atomic():
        built = Built.of(plan)
        parents = built.moved()
        for person in range(2):
            right = sorted(expected(plan, parents, person))
            found += [
                f"person {person}, {way}: {rows} instead of {right}"
                for way, rows in built.seen(person).items()
                if rows != right
            ]
        transaction.set_rollback(True)
    return found


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(plans())
def test_what_a_person_sees_equals_the_oracle(plan: Plan) -> None:
    assert disagreements(plan) == []


def without_inheritance(principal: Principal, right: Right) -> Any:
    return _granted(principal, right, below="content_object_id")


def or_for_and(principal: Principal, right: Right) -> Any:
    return _granted(principal, right, join=lambda person, permission: person | permission)


def without_membership(principal: Principal, right: Right) -> Any:
    return _granted(principal, right, join=lambda _person, permission: permission)


def without_account(principal: Principal, right: Right) -> Any:
    """Group grants alone."""
    return _granted(principal, right, models=(FolderGroupGrant, KnowledgeBaseGroupGrant))


def _granted(
    principal: Principal,
    right: Right,
    *,
    below: str = "content_object__descendant_links__descendant_id",
    join: Callable[[Q, Q], Q] = lambda person, permission: person & permission,
    models: tuple[Any, ...] = (FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant),
) -> Any:
    """`folder_ids_with`, open to mistakes."""
    parts = []
    for model in models:
        on_folder = model in (FolderGroupGrant, FolderUserGrant)
        by_group = model in (FolderGroupGrant, KnowledgeBaseGroupGrant)
        person = Q(**{"group__user__pk" if by_group else "user__pk": principal.user_id})
        permission = Q(permission__codename=f"{right.value}_{'folder' if on_folder else 'knowledgebase'}")
        path = below if on_folder else "content_object__folders__id"
        parts.append(model.objects.filter(join(person, permission)).values_list(path))
    return parts[0].union(*parts[1:])


def put_in_place(monkeypatch: pytest.MonkeyPatch, filter_: Callable[[Principal, Right], Any]) -> None:
    for module in ("bases", "folders", "documents", "chunks"):
        monkeypatch.setattr(f"knowledge.models.{module}.folder_ids_with", filter_)


def one_that_disagrees() -> Plan:
    """A company that shows the mistake; raises NoSuchExample when none does."""
    return find(
        plans(),
        lambda plan: bool(disagreements(plan)),
        settings=settings(max_examples=60, deadline=None, phases=[Phase.generate], derandomize=True),
    )


@pytest.mark.parametrize(
    "mutant", [without_inheritance, or_for_and, without_membership, without_account], ids=lambda m: m.__name__
)
def test_a_filter_with_a_mistake_is_caught(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Principal, Right], Any]
) -> None:
    put_in_place(monkeypatch, mutant)
    assert one_that_disagrees()


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(plans())
def test_the_copy_without_a_mistake_agrees(plan: Plan) -> None:
    """The control of the controls: what the mutants are made of is right before the mistake."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        put_in_place(monkeypatch, _granted)
        assert disagreements(plan) == []
