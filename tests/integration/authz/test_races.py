"""Revoke, then upload: whatever a reader does in between, the new document never reaches whoever lost the right.

8 ways to lose a right × 126 orders of the writer's five steps and the reader's four: 1,008 interleavings of two connections. The
covering orders have each step of the reader after each step of the writer.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from authz.models import FolderUserGrant, OrgUnit
from authz.people import units
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from knowledge.ingestion.indexing import build_index_rows, find_unindexed_passages, write_index_rows
from knowledge.ingestion.publish import publish_version
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, EmbeddingSpace, Folder, KnowledgeBase
from knowledge.retrieval.candidates import IndexQuery, find_candidates
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.plan import Scope
from knowledge.selectors import list_visible_passages
from knowledge.services import access
from knowledge.services.folders import add_folder, find_root_folder, rename_and_move_folder
from knowledge.services.reindex import reindex_version
from tests.factories import make_base, make_folder, make_group, make_user, prepare_embedder
from tests.integration.authz.steps import Actor, Script, orders, take_turns, while_uncommitted
from tests.passages import DIMENSIONS, make_passage, make_space

pytestmark = pytest.mark.django_db(transaction=True)

Order = tuple[bool, ...]  # True is a step of the writer
VIEW = [Right.VIEW]
QUESTION = IndexQuery(np.eye(1, DIMENSIONS, dtype=np.float32)[0], {1: 1.0})


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
            units.add_member(None, self.unit, user=self.anna)
            self.holder = self.top.group
        self.place = self.folder if way.endswith("here") else self.above
        access.grant_place_rights(None, VIEW, self.place, to=self.holder)

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
            "taken": lambda: access.revoke_place_rights(None, VIEW, self.place, of=self.holder),
            "denied": lambda: access.deny_place_rights(None, VIEW, self.place, to=self.holder),
            "broken": lambda: access.break_inheritance(None, self.folder),
            "left": lambda: units.remove_member(None, self.unit, user=self.anna),
            "folder moved": lambda: rename_and_move_folder(
                nobody, folder_id=self.folder.pk, name=self.folder.name, parent_id=find_root_folder(self.base).pk
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
    seen += [row.title for row in list_visible_passages(anna, [row.chunk_id for row in found])]
    yield
    seen += Chunk.objects.visible_to(anna).values_list("document__title", flat=True)
    yield


def read_with_a_cache(scene: Scene, seen: list[str]) -> Script:
    """The control: the visible folders are remembered for a second, and this all happens within one."""
    anna = Principal(scene.anna.pk, scene.anna.username, frozenset())
    remembered: list[UUID] = []
    for _read in range(4):
        visible = Folder.unscoped.filter(pk__in=select_folder_ids(anna, Right.VIEW))
        remembered = remembered or list(visible.values_list("pk", flat=True))
        seen += Document.unscoped.filter(access_id__in=remembered).values_list("title", flat=True)
        yield


def gaps(order: Order) -> int:
    """How many pieces the reader's steps are in."""
    return sum(not step and (place == 0 or order[place - 1]) for place, step in enumerate(order))


def moments(order: Order) -> list[tuple[int, int]]:
    """For each step of the reader, by number, how many of the writer are done."""
    places = [place for place, is_writer in enumerate(order) if not is_writer]
    return [(number, sum(order[:place])) for number, place in enumerate(places)]


def title_of(chunk_id: UUID) -> str:
    return Chunk.unscoped.select_related("document").get(id=chunk_id).document.title


def leaking(
    actors: tuple[Actor, Actor], way: str, tried: Iterable[Order], reading: Callable[[Scene, list[str]], Script] = read
) -> list[Order]:
    """The orders of the steps in which Anna got the new document."""
    space, base = make_space(), make_base()
    writer, reader = actors
    found = []
    for order in tried:
        scene, seen = Scene(way, space, base), list[str]()
        writer.begin(scene.revoke_then_upload())
        reader.begin(reading(scene, seen))
        take_turns(order, writer, reader)
        if "new" in seen:
            found.append(order)
    return found


EVERY = list(orders(5, 4))
# The reader is asked at once and goes on in one go, from each moment on; and it is asked, and goes on from each moment on.
COVERING = [order for order in EVERY if gaps(order) <= 1 or (not order[0] and gaps(order) == 2 and order[1])]
COVERED = ("taken: group here", "denied: unit above", "folder moved: user above", "disabled: user above")


@pytest.mark.parametrize("way", COVERED)
def test_covering_orders(actors: tuple[Actor, Actor], way: str) -> None:
    assert leaking(actors, way, COVERING) == []


@pytest.mark.parametrize("way", WAYS)
def test_every_order(actors: tuple[Actor, Actor], way: str) -> None:
    assert (len(EVERY), leaking(actors, way, EVERY)) == (126, [])


def test_the_covering_orders_have_each_step_of_the_reader_after_each_of_the_writer() -> None:
    """The steps of the writer that are done when a step of the reader begins: none to all five."""
    assert {(step, done) for order in COVERING for step, done in moments(order)} == {
        (step, done) for step in range(4) for done in range(6)
    }


def test_with_a_cache_of_one_second_it_does(actors: tuple[Actor, Actor]) -> None:
    """The control: the covering orders, and a reader that remembers the visible folders."""
    assert leaking(actors, "taken: user above", COVERING, read_with_a_cache)


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
    access.grant_place_rights(None, VIEW, folder, to=anna)
    prepare_embedder()
    while_denied(actors, anna, lambda: reindex_version(version))
    assert ChunkIndex.unscoped.get().folder_id == Document.unscoped.get().access_id != folder.pk
    assert not ChunkIndex.objects.visible_to(Principal.of(anna)).exists()


def test_a_publication_waits_for_an_exception_and_counts_it(folder: Folder, actors: tuple[Actor, Actor]) -> None:
    version = ingested(folder)
    anna = make_user()
    access.grant_place_rights(None, VIEW, folder, to=anna)
    prepare_embedder()
    _there, missing = find_unindexed_passages(version, load_engine())
    write_index_rows(build_index_rows(version.document, missing, load_engine(), live=False))
    while_denied(actors, anna, transaction.atomic(publish_version(version, lambda _done, _total: None).write))
    row = ChunkIndex.unscoped.get()
    assert (row.live, row.folder_id) == (True, Document.unscoped.get().access_id)
    assert row.folder_id != folder.pk
    assert Folder.unscoped.get(pk=row.folder_id).chunk_count == 1
    assert not ChunkIndex.objects.visible_to(Principal.of(anna)).exists()


def while_denied(actors: tuple[Actor, Actor], person: User, change: Callable[[], object]) -> None:
    """Begin a change while the denial of the one document is not committed yet, and end both."""
    while_uncommitted(actors, lambda: access.deny_place_rights(None, VIEW, Document.unscoped.get(), to=person), change)


def test_a_folder_made_while_its_parent_is_cut_off_is_cut_off(folder: Folder, actors: tuple[Actor, Actor]) -> None:
    anna = make_user()
    access.grant_place_rights(None, VIEW, folder.knowledge_base, to=anna)
    while_uncommitted(actors, lambda: access.break_inheritance(None, folder), lambda: add_folder(None, folder, "below"))
    seen = Folder.objects.visible_to(Principal.of(anna)).values_list("name", flat=True)
    assert list(seen) == [folder.knowledge_base.name]
