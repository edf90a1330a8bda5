"""A file of every format, from the upload to the answer: completed, covered by its passages, and to be found."""

import pytest

from authz.principal import Principal
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.ingestion.stages import load_parsed_document
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, Folder, ParseStatus, StageStatus
from knowledge.retrieval.search import search
from knowledge.services.folders import find_root_folder
from tests.contract.test_parsers import FORMATS, PROSE, SAMPLES, name_of
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder

pytestmark = pytest.mark.django_db
PAGES = {"pdf": 2, "pptx": 1}


def chunks_of(document: Document) -> list[Chunk]:
    return list(Chunk.unscoped.filter(version=document.current_version).order_by("position"))


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_read_split_indexed_and_published(name: str) -> None:
    base = make_base()
    document = make_document(base, name_of(name), SAMPLES[name], ingested=True)
    version = newest_version(document)
    assert (version.parse_status, version.failure, version.attempts) == (ParseStatus.COMPLETED, None, 1)
    assert document.current_version == version
    assert {stage.status for stage in version.stages.all()} == {StageStatus.DONE}
    assert all(stage.items_done == stage.items_total for stage in version.stages.all())

    text = load_parsed_document(version).text
    chunks = chunks_of(document)
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert PROSE in " ".join(" ".join(chunk.text for chunk in chunks).split())

    ids = {chunk.id for chunk in chunks}
    assert set(ChunkIndex.unscoped.filter(version=version, live=True).values_list("chunk_id", flat=True)) == ids
    assert set(ChunkTokens.unscoped.filter(version=version).values_list("chunk_id", flat=True)) == ids
    assert Folder.unscoped.get(pk=document.folder_id).chunk_count == len(ids)

    if name in PAGES:
        assert (chunks[0].page_from, max(chunk.page_to or 0 for chunk in chunks)) == (1, PAGES[name])
        assert version.page_count == PAGES[name]
    if name in ("markdown", "html", "docx"):
        assert (document.title, document.language) == ("Travel 差旅", "zh")

    reader = make_user()
    allow(reader, base)
    hits = search(Principal.of(reader), "员工出差应优先选择什么?").hits
    assert {hit.passage.document_id for hit in hits} == {document.pk}


def test_a_new_version_names_a_document_that_was_called_by_its_file() -> None:
    base = make_base()
    make_document(base, "travel-rules_2026.md", "No heading names this.\n", title="travel-rules_2026", ingested=True)
    assert Document.unscoped.get().title == "travel-rules_2026"
    make_document(base, "travel-rules_2026.md", "# Travel\n\nBook early.\n", ingested=True)
    assert Document.unscoped.get().title == "Travel"


def test_a_title_and_a_language_that_a_person_gave_stay() -> None:
    document = make_document(
        make_base(), "a.md", SAMPLES["markdown"], title="Our journeys", language="en", ingested=True
    )
    assert (document.title, document.language) == ("Our journeys", "en")


def test_passages_know_the_headings_above_them() -> None:
    long = "A sentence that takes its place in a section of some length. " * 40
    source = f"# Leave\n\n## Annual\n\n{long}\n\n## Sick\n\n### Notice\n\n{long}\n"
    document = make_document(make_base(), "leave.md", source, ingested=True)
    paths = {tuple(chunk.heading_path) for chunk in chunks_of(document)}
    assert {path[-1] for path in paths if path} >= {"Annual", "Notice"}
    assert any("Sick" in path and path[-1] == "Notice" for path in paths)


# --- traditional and simplified Chinese find each other ---

TRADITIONAL = "# 請假規定\n\n新進員工的試用期為三個月，試用期間不得請特別休假。"
SIMPLIFIED = "# 报销规定\n\n出差的住宿费凭发票报销。"


def test_a_simplified_question_finds_a_traditional_document_and_is_shown_its_own_characters() -> None:
    prepare_embedder()
    base, reader = make_base(), make_user()
    allow(reader, base)
    for name, text in (("leave.md", TRADITIONAL), ("travel.md", SIMPLIFIED)):
        run_ingestion(newest_version(make_document(find_root_folder(base), name, text)).pk)
    hit = search(Principal.of(reader), "新进员工的试用期是几个月？").hits[0]
    assert "新進員工的試用期為三個月" in hit.passage.text
    assert (hit.scores.dense_rank, hit.scores.lexical_rank) == (1, 1)
