"""Revoke, then upload: whatever a reader does in between, the new document never reaches whoever lost the right.

8 ways to lose a right × 126 orders of the writer's five steps and the reader's four: 1,008 interleavings of two connections.
"""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from authz import units
from authz.folders import folder_ids_with
from authz.models import FolderUserGrant, OrgUnit
from authz.permissions import Right
from authz.principal import Principal
from knowledge.ingestion.indexing import index_rows, passages_to_index
from knowledge.ingestion.publish import publish
from knowledge.ingestion.rows import write_index_rows
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, EmbeddingSpace, Folder, KnowledgeBase
from knowledge.retrieval.candidates import Question, find_candidates
from knowledge.retrieval.engine import engine
from knowledge.retrieval.plan import Scope
from knowledge.selectors import passages
from knowledge.services import access
from knowledge.services.folders import add_folder, govern_folder, root_folder
from knowledge.services.reindex import reindex_version
from tests.factories import make_base, make_folder, make_group, make_user, prepare_embedder
from tests.integration.authz.steps import Actor, Script, orders, take_turns, while_uncommitted
from tests.passages import DIMENSIONS, make_passage, make_space

pytestmark = pytest.mark.django_db(transaction=True)

VIEW = [Right.VIEW]
QUESTION = Question(np.eye(1, DIMENSIONS, dtype=np.float32)[0], {1: 1.0})


class Scene:
    """Anna may view a folder by one grant; the folder holds one document that she may know."""

    def __init__(self, way: str, space: EmbeddingSpace, base: KnowledgeBase) -> None:
        self.way, self.space, self.base = way, space, base
        self.anna: User = make_user()
        self.above = make_folder(base)
        self.folder = make_folder(self.above)
        self.document("old")
        self.holder: User | Group = make_group(members=[self.anna]) if "group" in way else self.anna
        if "unit" in way:
            self.top: OrgUnit = units.create_unit(None, name=f"top {uuid4()}")
            self.unit = units.create_unit(None, name=f"unit {uuid4()}", parent=self.top)
            units.join(None, self.unit, user=self.anna)
            self.holder = self.top.group
        self.place = self.folder if way.endswith("here") else self.above
        access.give(None, VIEW, self.place, to=self.holder)

    def document(self, title: str) -> Document:
        document = Document.unscoped.create(
            knowledge_base_id=self.base.pk, folder=self.folder, filename=f"{title}.md", title=title
        )
        DocumentVersion.unscoped.create(document=document, number=1, size_bytes=1)
        return document

    def revoke(self) -> None:
        """Let Anna lose her right, in the way of this scene."""
        nobody = Principal.nobody()
        ways: dict[str, Callable[[], object]] = {
            "taken": lambda: access.take_back(None, VIEW, self.place, of=self.holder),
            "denied": lambda: access.deny(None, VIEW, self.place, to=self.holder),
            "broken": lambda: access.break_inheritance(None, self.folder),
            "left": lambda: units.leave(None, self.unit, user=self.anna),
            "folder moved": lambda: govern_folder(
                nobody, folder_id=self.folder.pk, name=self.folder.name, parent_id=root_folder(self.base).pk
            ),
            "ended": lambda: FolderUserGrant.objects.filter(user=self.anna).update(
                expires_at=timezone.now() - timedelta(seconds=1)
            ),
            "disabled": lambda: User.objects.filter(pk=self.anna.pk).update(is_active=False),
        }
        ways[self.way.partition(":")[0]]()

    def revoke_then_upload(self) -> Script:
        """Five steps: revoke, commit, store, index, commit."""
        with transaction.atomic():
            self.revoke()
            yield
        yield
        with transaction.atomic():
            document = self.document("new")
            yield
            make_passage(document, self.space)
            yield
        yield


WAYS = (
    "taken: user above", "taken: group here", "denied: unit above", "broken: user above", "left: unit above",
    "folder moved: user above", "ended: user here", "disabled: user above",
)  # fmt: skip


def read(scene: Scene, seen: list[str]) -> Script:
    """A search in its statements, and a list of documents: four steps."""
    anna = Principal(scene.anna.pk, scene.anna.username, frozenset())
    seen += Document.objects.visible_to(anna).values_list("title", flat=True)
    yield
    found = find_candidates(anna, QUESTION, Scope(), space_id=scene.space.pk, depth=9, use_indexes=False)
    seen += [title_of(row.chunk_id) for row in found]
    yield
    seen += [row.title for row in passages(anna, [row.chunk_id for row in found])]
    yield
    seen += Chunk.objects.visible_to(anna).values_list("document__title", flat=True)
    yield


def read_with_a_cache(scene: Scene, seen: list[str]) -> Script:
    """The control: the visible folders are remembered for a second, and this all happens within one."""
    anna = Principal(scene.anna.pk, scene.anna.username, frozenset())
    remembered: list[UUID] = []
    for _read in range(4):
        visible = Folder.unscoped.filter(pk__in=folder_ids_with(anna, Right.VIEW))
        remembered = remembered or list(visible.values_list("pk", flat=True))
        seen += Document.unscoped.filter(access_id__in=remembered).values_list("title", flat=True)
        yield


def title_of(chunk_id: UUID) -> str:
    return Chunk.unscoped.select_related("document").get(id=chunk_id).document.title


def leaks(actors: tuple[Actor, Actor], way: str, reading: Callable[[Scene, list[str]], Script]) -> tuple[int, int]:
    """How many orders of the steps there are, and in how many of them Anna got the new document."""
    space, base = make_space(), make_base()
    writer, reader = actors
    tried = leaked = 0
    for order in orders(5, 4):
        scene, seen = Scene(way, space, base), list[str]()
        writer.begin(scene.revoke_then_upload())
        reader.begin(reading(scene, seen))
        take_turns(order, writer, reader)
        tried += 1
        leaked += "new" in seen
    return tried, leaked


@pytest.mark.parametrize("way", WAYS)
def test_what_is_uploaded_after_a_revocation_never_reaches_who_lost_the_right(
    actors: tuple[Actor, Actor], way: str
) -> None:
    assert leaks(actors, way, read) == (126, 0)


def test_with_a_cache_of_one_second_it_does(actors: tuple[Actor, Actor]) -> None:
    """The control: the same orders, and a reader that remembers the visible folders."""
    tried, leaked = leaks(actors, "taken: user above", read_with_a_cache)
    assert (tried, leaked > 0) == (126, True)


def ingested(folder: Folder) -> DocumentVersion:
    """A document whose one passage is split off and not indexed yet."""
    document = Document.unscoped.create(
        knowledge_base_id=folder.knowledge_base_id, folder=folder, filename="a.md", title="a"
    )
    version = DocumentVersion.unscoped.create(document=document, number=1, size_bytes=1)
    make_passage(document)
    return DocumentVersion.unscoped.select_related("document__knowledge_base").get(pk=version.pk)


@pytest.fixture
def folder() -> Folder:
    return make_folder(make_base())


def test_a_new_index_waits_for_an_exception_and_counts_it(folder: Folder, actors: tuple[Actor, Actor]) -> None:
    """Rows that answer at once are written while a denial is not committed yet: they wait, and find the new place."""
    version = ingested(folder)
    anna = make_user()
    access.give(None, VIEW, folder, to=anna)
    prepare_embedder()
    while_denied(actors, anna, lambda: reindex_version(version))
    assert ChunkIndex.unscoped.get().folder_id == Document.unscoped.get().access_id != folder.pk
    assert not ChunkIndex.objects.visible_to(Principal.of(anna)).exists()


def test_a_publication_waits_for_an_exception_and_counts_it(folder: Folder, actors: tuple[Actor, Actor]) -> None:
    version = ingested(folder)
    anna = make_user()
    access.give(None, VIEW, folder, to=anna)
    prepare_embedder()
    _there, missing = passages_to_index(version, engine())
    write_index_rows(index_rows(version.document, missing, engine(), live=False))
    while_denied(actors, anna, transaction.atomic(publish(version, lambda _done, _total: None).write))
    row = ChunkIndex.unscoped.get()
    assert (row.live, row.folder_id) == (True, Document.unscoped.get().access_id)
    assert row.folder_id != folder.pk
    assert Folder.unscoped.get(pk=row.folder_id).chunk_count == 1
    assert not ChunkIndex.objects.visible_to(Principal.of(anna)).exists()


def while_denied(actors: tuple[Actor, Actor], person: User, change: Callable[[], object]) -> None:
    """Begin a change while the denial of the one document is not committed yet, and end both."""
    while_uncommitted(actors, lambda: access.deny(None, VIEW, Document.unscoped.get(), to=person), change)


def test_a_folder_made_while_its_parent_is_cut_off_is_cut_off(folder: Folder, actors: tuple[Actor, Actor]) -> None:
    anna = make_user()
    access.give(None, VIEW, folder.knowledge_base, to=anna)
    while_uncommitted(actors, lambda: access.break_inheritance(None, folder), lambda: add_folder(None, folder, "below"))
    seen = Folder.objects.visible_to(Principal.of(anna)).values_list("name", flat=True)
    assert list(seen) == [folder.knowledge_base.name]
