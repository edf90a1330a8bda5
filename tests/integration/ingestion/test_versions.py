"""One version answers at a time, and what is counted is what is there."""

from collections import Counter
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.ingestion.lease import claim_version, open_fenced_transaction
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.ingestion.publish import publish_version
from knowledge.models import (
    Chunk,
    ChunkIndex,
    ChunkTokens,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    Folder,
    KnowledgeBase,
    ParseStatus,
    TermFrequency,
)  # fmt: skip
from knowledge.retrieval.search import search
from knowledge.services.folders import find_root_folder
from knowledge.services.removal import remove_document
from knowledge.services.uploads import IncomingFile, add_document
from tests.factories import allow, make_base, make_document, make_folder, make_user, newest_version, prepare_embedder
from tests.integration.pages.house import stored_files
from tests.passages import make_passage, make_space

pytestmark = pytest.mark.django_db

OLD = "# Notice\n\nThe notice period is four weeks.\n"
NEW = "# Notice\n\nThe notice period is three months.\n"
NEWEST = "# Notice\n\nThe notice period is half a year.\n"


def counted(base: KnowledgeBase) -> tuple[dict[UUID, tuple[int, int]], dict[int, int]]:
    """({folder: (chunks, terms)}, {term: chunks}) as stored, without zeros."""
    folders = Folder.unscoped.filter(knowledge_base=base).values_list("pk", "chunk_count", "term_count")
    terms = TermFrequency.unscoped.filter(knowledge_base=base).values_list("term_id", "chunks")
    return {pk: (chunks, total) for pk, chunks, total in folders if chunks or total}, {t: n for t, n in terms if n}


def recounted(base: KnowledgeBase) -> tuple[dict[UUID, tuple[int, int]], dict[int, int]]:
    """The same from the rows that answer; a chunk counts once in all spaces."""
    rows = {row.chunk_id: row for row in ChunkIndex.unscoped.filter(knowledge_base=base, live=True)}
    folders: dict[UUID, tuple[int, int]] = {}
    terms: Counter[int] = Counter()
    for row in rows.values():
        chunks, total = folders.get(row.folder_id, (0, 0))
        folders[row.folder_id] = (chunks + 1, total + row.term_total)
        terms.update(row.term_ids)
    return folders, dict(terms)


def answers(base: KnowledgeBase) -> list[str]:
    reader = make_user()
    allow(reader, base)
    return [hit.passage.text for hit in search(Principal.of(reader), "How long is the notice period?").hits]


def test_the_old_version_answers_until_the_new_one_is_published() -> None:
    base = make_base()
    document = make_document(base, "notice.md", OLD, ingested=True)
    make_document(base, "notice.md", NEW)
    assert ["four weeks" in text for text in answers(base)] == [True]
    run_ingestion(newest_version(document).pk)
    assert ["three months" in text for text in answers(base)] == [True]
    document.refresh_from_db()
    assert document.current_version == newest_version(document)
    assert counted(base) == recounted(base)
    old = document.versions.get(number=1)
    assert Chunk.unscoped.filter(version=old).exists(), "old citations still lead to their passage"
    assert not ChunkIndex.unscoped.filter(version=old).exists()
    assert not ChunkTokens.unscoped.filter(version=old).exists()


def test_a_version_that_fails_leaves_the_old_one_answering() -> None:
    base = make_base()
    document = make_document(base, "notice.md", OLD, ingested=True)
    make_document(base, "notice.md", b"   \n", ingested=True)
    assert newest_version(document).parse_status == ParseStatus.FAILED
    assert ["four weeks" in text for text in answers(base)] == [True]
    assert counted(base) == recounted(base)


class Growing(ContentFile[bytes]):
    """A file that another program writes to while it is read."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        self.file.seek(0, SEEK_END)
        self.file.write(b"One more line.\n")
        return super().chunks(chunk_size)


def test_a_file_that_changes_while_it_is_read_is_not_stored() -> None:
    base = make_base()
    with pytest.raises(InvalidInput, match="was changed while it was read"):
        add_document(None, find_root_folder(base), IncomingFile("log.md", Growing(OLD.encode())))
    assert not Document.unscoped.exists()
    assert stored_files(base) == set()


def test_a_version_that_is_late_does_not_take_over() -> None:
    base = make_base()
    document = make_document(base, "notice.md", OLD)
    make_document(base, "notice.md", NEW)
    first, second = document.versions.order_by("number")
    prepare_embedder()
    run_ingestion(second.pk)
    run_ingestion(first.pk)
    document.refresh_from_db()
    assert document.current_version == second
    assert ["three months" in text for text in answers(base)] == [True]
    assert counted(base) == recounted(base)
    first.refresh_from_db()
    assert (first.parse_status, first.published_at) == (ParseStatus.COMPLETED, None)
    assert not ChunkIndex.unscoped.filter(version=first).exists(), "what will never answer takes no room in the index"
    assert not ChunkTokens.unscoped.filter(version=first).exists()


def test_a_deleted_document_leaves_neither_rows_nor_counts_nor_files() -> None:
    base = make_base()
    document = make_document(base, "notice.md", OLD, ingested=True)
    make_document(base, "other.md", NEWEST, ingested=True)
    version = newest_version(document)
    original, parsed = version.file.path, version.file.storage.path(version.parsed_name)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("django.db.transaction.on_commit", lambda function, **kwargs: function())
        remove_document(None, document)
    assert counted(base) == recounted(base)
    assert ["half a year" in text for text in answers(base)] == [True]
    assert not Chunk.unscoped.filter(document_id=document.pk).exists()
    for path in (original, parsed):
        assert not Path(path).exists()


Steps = list[tuple[str, int, set[int], int]]  # what to do, with which document, terms of each passage, passages


@st.composite
def lives(draw: st.DrawFn) -> Steps:
    step = st.tuples(
        st.sampled_from(["publish", "publish", "prepare", "delete"]),
        st.integers(0, 2),
        st.sets(st.integers(1, 5), min_size=1),
        st.integers(0, 3),
    )
    return draw(st.lists(step, min_size=1, max_size=8))


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(lives())
def test_counts_equal_a_recount_whatever_happens(steps: Steps) -> None:
    base = make_base()
    folders = [find_root_folder(base), make_folder(base)]
    spaces = [make_space("one"), make_space("two")]
    for what, place, terms, passages in steps:
        folder, filename = folders[place % 2], f"{place}.md"
        if what == "delete":
            for document in Document.unscoped.filter(folder=folder, filename=filename):
                remove_document(None, document)
        else:
            version = add_version(folder, filename, terms, passages, spaces)
            if what == "publish":
                claimed = claim_version(version.pk)
                assert claimed is not None
                with open_fenced_transaction(claimed):
                    publish_version(claimed, lambda done, total: None).write()
        assert counted(base) == recounted(base)


def add_version(
    folder: Folder, filename: str, terms: set[int], passages: int, spaces: list[EmbeddingSpace]
) -> DocumentVersion:
    """A version whose passages lie in the index of every space and do not answer yet."""
    document, _new = Document.unscoped.get_or_create(
        folder=folder, filename=filename, defaults={"knowledge_base_id": folder.knowledge_base_id, "title": filename}
    )
    version = DocumentVersion.unscoped.create(document=document, number=document.versions.count() + 1, size_bytes=1)
    for _passage in range(passages):
        make_passage(document, *spaces, lexical=dict.fromkeys(terms, 1.0), live=False)
    return version
