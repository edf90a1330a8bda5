"""Synthetic collections for the benchmark of rights, made by bulk statements inside a transaction that is rolled back."""

import random
from collections.abc import Sequence
from uuid import uuid4

import numpy as np
from django.contrib.auth.models import Group, User
from django.db import connection
from numpy.typing import NDArray

from authz.grants import deny, give
from authz.permissions import Right
from authz.principal import Principal
from knowledge.ingestion.rows import IndexRow, write_index_rows
from knowledge.models import Document, DocumentVersion, EmbeddingSpace, Folder, KnowledgeBase
from knowledge.services.folders import create_knowledge_base, root_folder
from knowledge.services.tree import mark_cuts

DIMENSIONS = 384
TOPICS = 200  # centres that the vectors lie around
SPREAD = 0.8  # length of the noise beside a centre of length 1
TERMS = 500
FAN_OUT = 10  # folders in a folder
BATCH = 2_000  # index rows in one COPY

_LINK = """
INSERT INTO knowledge_folderlink (ancestor_id, descendant_id, depth, is_cut)
WITH RECURSIVE up (ancestor, descendant, depth) AS (
    SELECT parent_id, id, 1 FROM knowledge_folder WHERE knowledge_base_id = %(base)s AND parent_id IS NOT NULL
    UNION ALL SELECT f.parent_id, up.descendant, up.depth + 1 FROM up JOIN knowledge_folder f ON f.id = up.ancestor
    WHERE f.parent_id IS NOT NULL
)
SELECT ancestor, descendant, depth, false FROM up
UNION ALL SELECT id, id, 0, false FROM knowledge_folder WHERE knowledge_base_id = %(base)s AND parent_id IS NOT NULL
"""


def make_tree(count: int, name: str = "") -> tuple[KnowledgeBase, list[Folder]]:
    """A base of `count` folders, FAN_OUT in each, the root first."""
    base = create_knowledge_base(None, name=name or f"benchmark {uuid4()}")
    folders = [root_folder(base)]
    for number in range(1, count):
        parent = folders[(number - 1) // FAN_OUT]
        folders.append(Folder(knowledge_base=base, parent=parent, name=f"folder {number}"))
    Folder.unscoped.bulk_create(folders[1:], batch_size=2_000)
    with connection.cursor() as cursor:
        cursor.execute(_LINK, {"base": base.pk})
    return base, folders


SETS = 10  # of groups, in which the people of an audience are


def make_member(groups: int) -> tuple[User, list[Group]]:
    """A person in so many groups."""
    user = User.objects.create(username=f"benchmark-{uuid4()}")
    made = [Group.objects.create(name=f"benchmark-{uuid4()}") for _group in range(groups)]
    user.groups.set(made)
    return user, made


def make_audience(people: int, groups: Sequence[Group]) -> list[int]:
    """Ids of so many people more, each in nine tenths of the groups; every tenth of them in the same."""
    made = User.objects.bulk_create(User(username=f"benchmark-{uuid4()}") for _person in range(people))
    members = [
        User.groups.through(user_id=user.pk, group_id=group.pk)
        for number, user in enumerate(made)
        for place, group in enumerate(groups)
        if place % SETS != number % SETS
    ]
    User.groups.through.objects.bulk_create(members)
    return [user.pk for user in made]


def share_out(folders: Sequence[Folder], groups: Sequence[Group], chance: random.Random) -> None:
    """Three grants for each group, on folders anywhere; a break in every fiftieth folder, and two hundred denials."""
    Folder.unscoped.filter(pk__in=[folder.pk for folder in folders[50::50]]).update(inherits=False)
    mark_cuts(folders[0])
    for group in groups:
        for folder in chance.sample(folders[1:], 3):
            give(None, [Right.VIEW], folder, to=group)
    for folder in chance.sample(folders[1:], min(200, len(folders) - 1)):
        deny(None, [Right.VIEW], folder, to=chance.choice(groups))


class Collection:
    """Passages spread evenly over the leaves of a tree, and people who see shares of them."""

    def __init__(self, passages: int, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing
        self.random = np.random.default_rng(seed)
        self.centres = self._unit(self.random.standard_normal((TOPICS, DIMENSIONS)))
        self.space = EmbeddingSpace.objects.create(name=f"benchmark {uuid4()}", dimensions=DIMENSIONS)
        self.base, folders = make_tree(1_112)
        self.leaves = folders[112:]  # a thousand
        self._fill(passages // len(self.leaves))

    def reader(self, share: float) -> Principal:
        """A person who sees a share of the passages: through grants on leaves, or on the base when it is all."""
        user, (group,) = make_member(1)
        if share == 1:
            give(None, [Right.VIEW], self.base, to=group)
        else:
            for leaf in self.chance.sample(self.leaves, max(1, round(share * len(self.leaves)))):
                give(None, [Right.VIEW], leaf, to=group)
        return Principal.of(user)

    def question(self) -> tuple[NDArray[np.float32], int]:
        """A vector near a topic and a term."""
        return self._near(1)[0], self.chance.randrange(1, TERMS)

    def _fill(self, in_each: int) -> None:
        documents = [
            Document(knowledge_base=self.base, folder=leaf, access=leaf, filename="a.md", title="a")
            for leaf in self.leaves
        ]
        Document.unscoped.bulk_create(documents)
        versions = [DocumentVersion(document=document, number=1, size_bytes=1) for document in documents]
        DocumentVersion.unscoped.bulk_create(versions)
        Folder.unscoped.filter(pk__in=[leaf.pk for leaf in self.leaves]).update(chunk_count=in_each)
        rows: list[IndexRow] = []
        for version in versions:
            rows += [self._row(version, vector) for vector in self._near(in_each)]
            if len(rows) >= BATCH:
                write_index_rows(rows)
                rows = []
        write_index_rows(rows)

    def _row(self, version: DocumentVersion, vector: NDArray[np.float32]) -> IndexRow:
        document = version.document
        return IndexRow(
            knowledge_base_id=self.base.pk, chunk_id=uuid4(), space_id=self.space.pk, folder_id=document.folder_id,
            document_id=document.pk, version_id=version.pk, language="en", live=True, term_total=1, vector=vector,
            lexical={self.chance.randrange(1, TERMS): 1.0}, packed=None,
        )  # fmt: skip

    def _near(self, count: int) -> NDArray[np.float32]:
        noise = self._unit(self.random.standard_normal((count, DIMENSIONS))) * SPREAD
        return self._unit(self.centres[self.random.integers(0, TOPICS, count)] + noise)

    @staticmethod
    def _unit(rows: NDArray[np.float64] | NDArray[np.float32]) -> NDArray[np.float32]:
        unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit
