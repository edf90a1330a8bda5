"""Make rows that an outsider may not see, inside a transaction that is rolled back."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self
from uuid import UUID, uuid4

from django.contrib.auth.models import User

from agent.models import Message, Role, Session
from authz.permissions import Right
from authz.rights.grants import give
from evals.rights.rights_world import make_member, make_tree
from knowledge.models import Chunk, Document, DocumentVersion, Folder

FOLDERS = 200  # in each of the two bases
GROUPS = 5  # of the outsider, each with a grant elsewhere


@dataclass(frozen=True)
class Target:
    """The ids that an address can name, one of each kind."""

    base: UUID
    folder: UUID
    document: UUID
    chunk: UUID
    session: UUID
    message: UUID

    @classmethod
    def missing(cls) -> Self:
        """Return ids that no row has."""
        return cls(**{field.name: uuid4() for field in fields(cls)})


@dataclass(frozen=True)
class World:
    """Rows for the benchmark. forbidden: hidden from the outsider. visible: shown to them, for the control."""

    outsider: User
    forbidden: Sequence[Target]
    visible: Sequence[Target]


def make_world(count: int) -> World:
    """Make `count` targets of each kind; the outsider is in groups that may view another base."""
    owner = User.objects.create(username=f"benchmark-owner-{uuid4()}")
    outsider, groups = make_member(GROUPS)
    _base, closed = make_tree(FOLDERS)
    _other, opened = make_tree(FOLDERS)
    for group in groups:
        give(None, [Right.VIEW], opened[0], to=group)
    return World(outsider, _targets(closed, owner, count), _targets(opened, outsider, count))


def _targets(folders: Sequence[Folder], owner: User, count: int) -> list[Target]:
    return [_target(folders[1 + number % (len(folders) - 1)], owner, number) for number in range(count)]


def _target(folder: Folder, owner: User, number: int) -> Target:
    base_id, version_id = folder.knowledge_base_id, uuid4()
    # each row is written once: a second version of it would cost whoever looks for it time, until a vacuum
    document = Document.unscoped.create(
        knowledge_base_id=base_id, folder=folder, access=folder, filename=f"{number}.md", title=f"Benchmark {number}",
        current_version_id=version_id,
    )  # fmt: skip
    version = DocumentVersion.unscoped.create(id=version_id, document=document, number=1, size_bytes=1)
    chunk = Chunk.unscoped.create(
        knowledge_base_id=base_id, document=document, version=version, position=0, text="Text.", kind="text",
        start=0, end=5, length_tokens=1,
    )  # fmt: skip
    session = Session.objects.create(user=owner)
    message = Message.objects.create(session=session, role=Role.ASSISTANT, content="Text.")
    return Target(base_id, folder.pk, document.pk, chunk.id, session.pk, message.pk)
