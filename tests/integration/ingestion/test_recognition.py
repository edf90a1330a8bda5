"""Text in pictures: scans and photos are read like documents, as their base wants it, and say where on the page they said it."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from authz.permissions import Right
from authz.principal import Principal
from knowledge import tasks
from knowledge.documents.text import OpenedPassage, open_document
from knowledge.ingestion import pictures
from knowledge.ingestion.pipeline import WorkShare, run_ingestion
from knowledge.ingestion.stages import load_parsed_document
from knowledge.models import Chunk, Document, ParseStatus, Recognition
from knowledge.parsers import sandbox
from knowledge.parsers.base import ParseFailed
from knowledge.retrieval.search import search
from knowledge.services.documents import delete_document
from knowledge.services.folders import change_knowledge_base
from knowledge.services.reindex import list_outdated_versions
from knowledge.tasks import ingest_version
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder
from tests.integration.ingestion.queues import drained
from tests.scans import drawn, pdf, png

pytestmark = pytest.mark.django_db

Commit = Callable[..., Any]
ENGLISH = ("# Parking rules", "Visitors park on level two of the garage.", "A permit costs 14 euros a month.")
CHINESE = ("# 停车规定", "访客请停在车库二层。", "月卡费用为每月一百元。")


def texts(document: Document) -> str:
    return "\n".join(Chunk.unscoped.filter(document=document).order_by("position").values_list("text", flat=True))


def read_and_cited(name: str, content: bytes, said: str, question: str) -> tuple[Document, User]:
    """Read a scan of one page and let somebody ask for it: return it and them."""
    document = make_document(make_base(), name, content, ingested=True)
    version = newest_version(document)
    assert (version.parse_status, version.bare_pictures, version.recognised) == (ParseStatus.COMPLETED, 1, 1)
    assert said in texts(document)
    document.refresh_from_db()
    assert document.title in {lines[0].strip("# ") for lines in (ENGLISH, CHINESE)}, "a larger line is a heading"

    reader = make_user()
    allow(reader, document.knowledge_base)
    (hit,) = search(Principal.of(reader), question).hits[:1]
    assert hit.passage.document_id == document.pk
    page = open_document(Principal.of(reader), document.pk, cited=OpenedPassage(hit.passage.chunk_id))
    assert page.is_recognised
    assert page.image is not None
    x0, y0, x1, y1 = page.image.marks.boxes[-1]
    assert (0.05 < x0 < 0.12, 0.05 < y0 < y1 < 0.25, x0 < x1 < 0.8) == (True, True, True), "where it was drawn"
    return document, reader


def test_a_photo_of_a_chinese_page_is_read_found_and_cited() -> None:
    read_and_cited("停车.jpg", png(drawn(CHINESE), kind="JPEG"), "月卡费用为每月一百元", "月卡多少钱？")


def test_a_scan_is_read_cited_and_shown_read_again_without_recognition_and_deleted_with_what_was_read(
    client: Client, django_capture_on_commit_callbacks: Commit
) -> None:
    said, question = "Visitors park on level two of the garage.", "Where do visitors park?"
    document, reader = read_and_cited("parking.pdf", pdf(drawn(ENGLISH)), said, question)
    client.force_login(reader)
    assert b"read from a picture" in client.get(reverse("document", args=[document.pk])).content
    shown = client.get(reverse("page-image", args=[document.pk, 1, 1]))
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/png")

    base, manager, version = document.knowledge_base, make_user(is_superuser=True), newest_version(document)
    allow(manager, base, *Right)
    make_document(base, "typed.md", "# Parking\n\nVisitors park outside.\n", ingested=True)
    assert list(list_outdated_versions(base)) == []
    base.recognition = Recognition.OFF
    change_knowledge_base(Principal.of(manager), base)
    assert list(list_outdated_versions(base)) == [version]

    storage, name = version.file.storage, version.page_name("1.json")
    with storage.open(name) as kept:
        assert "level two" in json.dumps(json.load(kept))
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(Principal.of(manager), document_id=document.pk)
    assert not storage.exists(name)


def test_pages_without_text_are_read_where_they_stand_and_a_drawn_table_is_a_table() -> None:
    import pypdfium2 as pdfium
    from reportlab.pdfgen.canvas import Canvas

    rows = [("Zone", "Price", "Period"), ("A", "14 euros", "month"), ("B", "9 euros", "month"), ("C", "3 euros", "day")]
    typed = BytesIO()
    canvas = Canvas(typed)
    for words in ("The first page was typed by a person.", "The last page was typed as well, by somebody else."):
        canvas.drawString(80, 700, words)
        canvas.showPage()
    canvas.save()
    with pdfium.PdfDocument(typed.getvalue()) as whole, pdfium.PdfDocument(pdf(drawn(rows))) as scan:
        whole.import_pages(scan, index=1)
        stream = BytesIO()
        whole.save(stream)
    document = make_document(make_base(), "mixed.pdf", stream.getvalue(), ingested=True)
    blocks = load_parsed_document(newest_version(document)).blocks
    assert [(block.page, block.is_recognised) for block in blocks if "page" in block.text] == [(1, False), (3, False)]
    assert {block.page for block in blocks if block.is_recognised} == {2}
    assert [block.page for block in blocks] == sorted(block.page or 0 for block in blocks)
    (table,) = [block for block in blocks if block.kind == "table"]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.text.split("\n")]
    assert cells[2] == ["A", "14 euros", "month"]


def test_what_was_read_is_kept_and_a_picture_that_cannot_be_read_does_not_take_it_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = make_document(make_base(), "parking.pdf", pdf(drawn(ENGLISH), drawn(CHINESE)))
    version = newest_version(document)
    prepare_embedder()
    read: list[int] = []
    whole = sandbox.recognise_picture_in_child
    second = [OSError("the disk is away"), ParseFailed("memory", limit=1536)]

    def fails_at_the_second_page(*args: Any, **kwargs: Any) -> Any:
        read.append(kwargs["picture"].page)
        if read[-1] == 2:
            raise second.pop(0)
        return whole(*args, **kwargs)

    monkeypatch.setattr(pictures, "recognise_picture_in_child", fails_at_the_second_page)
    with pytest.raises(OSError, match="away"):
        run_ingestion(version.pk)
    run_ingestion(version.pk)
    assert read == [1, 2, 2], "the first page was kept"
    version.refresh_from_db()
    assert (version.parse_status, version.unread_pictures) == (ParseStatus.COMPLETED, 1)
    assert version in list_outdated_versions(), "and is looked at again"
    assert ("level two" in texts(document), "车库二层" in texts(document)) == (True, False)


@pytest.mark.parametrize(
    ("recognition", "drawing", "code"),
    [(Recognition.OFF, ENGLISH, "no_text_in_pages"), (Recognition.BARE, (), "no_text_in_pictures")],
    ids=["off", "white"],
)
def test_a_scan_without_text_fails_with_whether_it_was_looked_at(
    recognition: str, drawing: tuple[str, ...], code: str
) -> None:
    base = make_base()
    base.recognition = recognition
    base.save()
    version = newest_version(make_document(base, "parking.png", png(drawn(drawing)), ingested=True))
    assert (version.parse_status, version.failure["code"] if version.failure else "") == ("failed", code)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_scan_on_its_side_is_read_and_marked_where_it_lies(degrees: int) -> None:
    lying = drawn(ENGLISH).rotate(degrees, expand=True)
    document = make_document(make_base(), "parking.png", png(lying), ingested=True)
    assert "Visitors park on level two of the garage." in texts(document)
    heading = load_parsed_document(newest_version(document)).blocks[0].boxes[0]
    upright = (0.09, 0.06, 0.33, 0.1)  # about where the heading is drawn
    x0, y0, x1, y1 = upright
    where = {90: (y0, 1 - x1, y1, 1 - x0), 180: (1 - x1, 1 - y1, 1 - x0, 1 - y0), 270: (1 - y1, x0, 1 - y0, x1)}[
        degrees
    ]
    assert heading == pytest.approx(where, abs=0.05)


def test_many_pages_wait_with_the_imports_and_one_does_not(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Commit
) -> None:
    monkeypatch.setattr(tasks, "SHARE", WorkShare(size_bytes=5_000_000, pictures=1, passages=500))
    prepare_embedder()
    one, two = (make_document(make_base(), f"{n}.pdf", pdf(*[drawn(ENGLISH)] * n)) for n in (1, 2))
    drained("interactive"), drained("bulk")
    with django_capture_on_commit_callbacks(execute=True):
        for document in (one, two):
            ingest_version(str(newest_version(document).pk))
    assert [(newest_version(item).queue, newest_version(item).parse_status) for item in (one, two)] == [
        ("interactive", ParseStatus.COMPLETED),
        ("bulk", ParseStatus.PENDING),
    ]
    assert drained("bulk") == [newest_version(two).pk]
