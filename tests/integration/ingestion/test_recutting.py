"""A base's own sizes of passages and language: documents are cut again while the old passages answer, and old citations still open."""

from itertools import count
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.documents.text import open_cited_source
from knowledge.ingestion import indexing, recutting
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.ingestion.recutting import find_versions_to_cut, recut_base, recut_version
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, KnowledgeBase, TermFrequency
from knowledge.retrieval.search import search
from knowledge.selectors import list_document_passages
from knowledge.services.passages import Cutting, change_cutting, preview_cutting
from knowledge.services.reindex import begin_indexing
from tests.factories import allow, make_base, make_document, make_user
from tests.sharing import share_world

pytestmark = pytest.mark.django_db
TEXT = "# Rules\n\nLeave is thirty days a year.\n\n" + "\n\n".join(
    f"Rule {n} says that rooms close at {n}." for n in range(60)
)
SMALL = Cutting(60, 90)


class Shelf:
    """A base with one document; its keeper manages and reads it, its reader reads it, its governor manages it and reads nothing."""

    def __init__(self) -> None:
        self.base = make_base("Rules")
        self.keeper, self.reader, self.governor = (make_user(name) for name in ("k", "r", "g"))
        User.objects.filter(username__in=("k", "r", "g")).update(is_staff=True)
        allow(self.keeper, self.base, Right.VIEW, Right.MANAGE)
        allow(self.reader, self.base)
        allow(self.governor, self.base, Right.MANAGE)
        self.document = make_document(self.base, "rules.md", TEXT, ingested=True)

    def cut_as(self, cutting: Cutting) -> None:
        change_cutting(Principal.of(self.keeper), self.base.pk, cutting)

    def passages(self) -> list[UUID]:
        document = Document.unscoped.get(pk=self.document.pk)
        return [passage.chunk_id for passage in list_document_passages(Principal.of(self.reader), document)]

    def found(self) -> set[UUID]:
        return {hit.passage.chunk_id for hit in search(Principal.of(self.reader), "How many days is leave?").hits}

    def indexed(self) -> set[UUID]:
        return set(ChunkIndex.unscoped.filter(document=self.document, live=True).values_list("chunk_id", flat=True))


shared_shelf, shelf = share_world("shelf", Shelf)


def page(person: User, base: KnowledgeBase, **sent: object) -> tuple[int, str]:
    client = Client()
    client.force_login(person)
    address = reverse("passages-of-base", args=[base.pk])
    answer = client.post(address, sent) if sent else client.get(address)
    return answer.status_code, answer.content.decode()


def test_the_old_passages_answer_until_the_new_ones_are_in_and_old_citations_still_open(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shelf.passages()
    shelf.cut_as(SMALL)
    seen: list[bool] = []
    write = indexing.write_document_rows

    def looked(*args: object) -> None:
        seen.append(shelf.passages() == before and shelf.found() <= set(before) and bool(shelf.found()))
        write(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(recutting, "write_document_rows", looked)
    shelf.base.refresh_from_db()
    assert [version.document_id for version in find_versions_to_cut(shelf.base)] == [shelf.document.pk]
    assert recut_base(shelf.base.pk) is False
    assert seen
    assert all(seen)
    after = shelf.passages()
    assert len(after) > len(before)
    assert shelf.indexed() == set(after)
    assert shelf.found() <= set(after)
    lengths = Chunk.unscoped.filter(document=shelf.document, is_retired=False).values_list("length_tokens", flat=True)
    assert max(lengths) <= 90
    cited = Chunk.unscoped.get(id=before[0])
    assert cited.id not in after
    opened = open_cited_source(Principal.of(shelf.reader), shelf.base.pk, cited.id, None)
    assert "thirty days" in opened.body
    assert not opened.is_outdated
    with pytest.raises(NotFound):
        open_cited_source(Principal.of(make_user()), shelf.base.pk, cited.id, None)
    later = make_document(shelf.base, "later.md", TEXT + "\n\nLater.", ingested=True)
    assert max(Chunk.unscoped.filter(document=later).values_list("length_tokens", flat=True)) <= 90


def test_going_back_gives_the_passages_their_ids_again(shelf: Shelf) -> None:
    before = shelf.passages()
    shelf.cut_as(SMALL)
    recut_base(shelf.base.pk)
    frequencies = dict(TermFrequency.unscoped.filter(chunks__gt=0).values_list("term_id", "chunks"))
    shelf.cut_as(Cutting())
    recut_base(shelf.base.pk)
    assert shelf.passages() == before
    assert shelf.indexed() == set(before)
    tokens = set(
        ChunkTokens.unscoped.filter(version=shelf.document.current_version_id).values_list("chunk_id", flat=True)
    )
    assert tokens == set(before)
    once = dict(TermFrequency.unscoped.filter(chunks__gt=0).values_list("term_id", "chunks"))
    assert once.keys() == frequencies.keys()
    assert sum(once.values()) < sum(frequencies.values())
    shelf.base.refresh_from_db()
    assert not find_versions_to_cut(shelf.base).exists()


def test_whoever_begins_to_index_it_again_overtakes_the_cutting(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a lease the cutting would put its passages beside those of the later work."""
    shelf.cut_as(SMALL)
    version_id = shelf.document.current_version_id
    assert version_id is not None
    monkeypatch.setattr(indexing, "BATCH", 4)
    write, turns = indexing.write_document_rows, count()

    def overtaken(*args: object) -> None:
        write(*args)  # type: ignore[arg-type]
        (begin_indexing, run_ingestion)[next(turns)](version_id)

    monkeypatch.setattr(recutting, "write_document_rows", overtaken)
    before = Chunk.unscoped.filter(document=shelf.document).count()
    assert recut_version(version_id) is False
    assert not shelf.indexed()
    run_ingestion(version_id)
    assert Chunk.unscoped.filter(document=shelf.document).count() == before
    assert shelf.indexed() == set(shelf.passages())
    assert set(ChunkIndex.unscoped.filter(document=shelf.document).values_list("live", flat=True)) == {True}


def test_one_that_cannot_be_cut_keeps_its_passages_and_no_other_from_its_own() -> None:
    shelf = Shelf()  # of its own: a file is deleted
    version = shelf.document.current_version
    assert version is not None
    other = make_document(shelf.base, "other.md", TEXT + "\n\nMore.", ingested=True)
    version.file.storage.delete(version.parsed_name)
    before = shelf.passages()
    shelf.cut_as(SMALL)
    assert recut_base(shelf.base.pk) is False
    assert shelf.passages() == before
    base = KnowledgeBase.unscoped.get(pk=shelf.base.pk)
    assert {item.document_id for item in find_versions_to_cut(base)} == {shelf.document.pk}
    assert Chunk.unscoped.filter(document=other, is_retired=True).exists()


def test_the_language_of_a_base_is_that_of_its_documents_until_it_has_none(shelf: Shelf) -> None:
    def told() -> set[str]:
        rows = ChunkIndex.unscoped.filter(document__in=Document.unscoped.filter(knowledge_base=shelf.base))
        return {*rows.values_list("language", flat=True), *Document.unscoped.values_list("language", flat=True)}

    assert told() == {"en"}
    shelf.cut_as(Cutting(language="zh"))
    recut_base(shelf.base.pk)
    make_document(shelf.base, "more.md", TEXT, ingested=True)
    assert told() == {"zh"}
    shelf.cut_as(Cutting())
    make_document(shelf.base, "more.md", TEXT + "\n\nEven more.", ingested=True)  # before the worker comes to it
    recut_base(shelf.base.pk)
    assert told() == {"en"}


def test_sizes_outside_of_the_bounds_are_refused(shelf: Shelf) -> None:
    for cutting in (Cutting(29), Cutting(300, 200), Cutting(None, 100), Cutting(100, 513), Cutting(language="xx")):
        with pytest.raises(InvalidInput):
            shelf.cut_as(cutting)
    shelf.base.refresh_from_db()
    assert shelf.base.cut_as == ""


def test_a_preview_shows_what_would_be_and_stores_nothing(shelf: Shelf) -> None:
    before = shelf.passages()
    preview = preview_cutting(Principal.of(shelf.keeper), shelf.base.pk, SMALL, document_id=shelf.document.pk)
    assert preview.before == len(before) < len(preview.drafts)
    assert preview.is_whole
    shelf.base.refresh_from_db()
    assert (shelf.base.cut_as, shelf.passages()) == ("", before)
    opened = Entry.objects.filter(action=Action.DOCUMENT_OPENED, target_id=str(shelf.document.pk))
    assert opened.count() == 1


def test_the_page_is_for_who_manages_the_base_and_shows_what_they_may_read(
    shelf: Shelf, settings: LazySettings
) -> None:
    people = {"keeper": shelf.keeper, "governor": shelf.governor, "reader": shelf.reader}
    assert {name: page(person, shelf.base)[0] for name, person in people.items()} == {
        "keeper": 200,
        "governor": 200,
        "reader": 404,
    }
    named = {name for name, person in people.items() if str(shelf.document.pk) in page(person, shelf.base)[1]}
    assert named == {"keeper"}
    look = {"target": 60, "most": 90, "language": "", "document": shelf.document.pk, "look": "1"}
    shown = {name: page(person, shelf.base, **look) for name, person in people.items()}
    assert {name: status for name, (status, _text) in shown.items()} == {"keeper": 200, "governor": 400, "reader": 404}
    assert {name for name, (_status, text) in shown.items() if "Leave is thirty days a year." in text} == {"keeper"}
    shelf.base.refresh_from_db()
    assert shelf.base.cut_as == ""
    saved = {name: page(person, shelf.base, target=60, most=90, language="")[0] for name, person in people.items()}
    assert saved == {"keeper": 302, "governor": 302, "reader": 404}
    shelf.base.refresh_from_db()
    assert (shelf.base.chunk_tokens, shelf.base.chunk_max_tokens) == (60, 90)
    assert "0 of 1 documents are split with these settings" in page(shelf.keeper, shelf.base)[1]
