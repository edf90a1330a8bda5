"""Text in pictures: scans and photos are read like documents, as their base wants it, and say where on the page they said it."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from authz.permissions import Right
from authz.principal import Principal
from knowledge import tasks
from knowledge.document_text import Cited, open_document
from knowledge.ingestion import pictures
from knowledge.ingestion.pipeline import Share, ingest
from knowledge.ingestion.stages import load_parsed
from knowledge.models import Chunk, Document, DocumentVersion, KnowledgeBase, ParseStatus, Recognition
from knowledge.parsers import sandbox
from knowledge.retrieval.search import search
from knowledge.services.documents import delete_document
from knowledge.services.folders import change_knowledge_base
from knowledge.services.reindex import outdated_versions
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


def base_that_reads(which: str) -> KnowledgeBase:
    base = make_base()
    KnowledgeBase.unscoped.filter(pk=base.pk).update(recognition=which)
    base.refresh_from_db()
    return base


@pytest.mark.parametrize(
    ("name", "content", "said", "question"),
    [
        ("parking.pdf", pdf(drawn(ENGLISH)), "Visitors park on level two of the garage.", "Where do visitors park?"),
        ("停车.pdf", pdf(drawn(CHINESE)), "访客请停在车库二层", "访客停在哪里？"),
        ("parking.png", png(drawn(ENGLISH)), "A permit costs 14 euros a month.", "What does a permit cost?"),
        ("parking.jpg", png(drawn(CHINESE), kind="JPEG"), "月卡费用为每月一百元", "月卡多少钱？"),
        ("parking.tiff", png(drawn(ENGLISH), kind="TIFF"), "level two", "Where do visitors park?"),
        ("parking.webp", png(drawn(ENGLISH), kind="WEBP"), "level two", "Where do visitors park?"),
    ],
)
def test_a_scan_is_read_found_and_cited_on_its_page(name: str, content: bytes, said: str, question: str) -> None:
    base = make_base()
    document = make_document(base, name, content, ingested=True)
    version = newest_version(document)
    assert (version.parse_status, version.bare_pictures, version.recognised) == (ParseStatus.COMPLETED, 1, 1)
    assert said in texts(document)
    document.refresh_from_db()
    assert document.title in {lines[0].strip("# ") for lines in (ENGLISH, CHINESE)}, "a larger line is a heading"

    reader = make_user()
    allow(reader, base)
    (hit,) = search(Principal.of(reader), question).hits[:1]
    assert hit.passage.document_id == document.pk
    page = open_document(Principal.of(reader), document.pk, cited=Cited(hit.passage.chunk_id))
    assert page.is_recognised
    assert page.image is not None
    x0, y0, x1, y1 = page.image.marks.boxes[-1]
    assert (0.05 < x0 < 0.12, 0.05 < y0 < y1 < 0.25, x0 < x1 < 0.8) == (True, True, True), "where it was drawn"


def test_only_pages_without_text_are_read_and_stand_where_they_stood() -> None:

    import pypdfium2 as pdfium
    from reportlab.pdfgen.canvas import Canvas

    typed = BytesIO()
    canvas = Canvas(typed)
    for words in (
        "The first page was typed by a person who types.",
        "The last page was typed as well, by somebody else.",
    ):
        canvas.drawString(80, 700, words)
        canvas.showPage()
    canvas.save()
    with pdfium.PdfDocument(typed.getvalue()) as whole, pdfium.PdfDocument(pdf(drawn(ENGLISH))) as scan:
        whole.import_pages(scan, index=1)
        stream = BytesIO()
        whole.save(stream)
    document = make_document(make_base(), "mixed.pdf", stream.getvalue(), ingested=True)
    parsed = load_parsed(newest_version(document))
    assert [(block.page, block.is_recognised) for block in parsed.blocks if "page" in block.text] == [
        (1, False),
        (3, False),
    ]
    assert {block.page for block in parsed.blocks if block.is_recognised} == {2}
    assert [block.page for block in parsed.blocks] == sorted(block.page or 0 for block in parsed.blocks)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_scan_on_its_side_is_read_and_marked_where_it_lies(degrees: int) -> None:
    lying = drawn(ENGLISH).rotate(degrees, expand=True)
    document = make_document(make_base(), "parking.png", png(lying), ingested=True)
    assert "Visitors park on level two of the garage." in texts(document)
    heading = load_parsed(newest_version(document)).blocks[0].boxes[0]
    upright = (0.09, 0.06, 0.33, 0.1)  # about where the heading is drawn
    x0, y0, x1, y1 = upright
    where = {90: (y0, 1 - x1, y1, 1 - x0), 180: (1 - x1, 1 - y1, 1 - x0, 1 - y0), 270: (1 - y1, x0, 1 - y0, x1)}[
        degrees
    ]
    assert heading == pytest.approx(where, abs=0.05)


def test_a_table_on_a_scan_is_a_table() -> None:
    rows = [("Zone", "Price", "Period"), ("A", "14 euros", "month"), ("B", "9 euros", "month"), ("C", "3 euros", "day")]
    document = make_document(make_base(), "prices.png", png(drawn(rows)), ingested=True)
    (table,) = [block for block in load_parsed(newest_version(document)).blocks if block.kind == "table"]
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in table.text.split("\n")][2] == [
        "A",
        "14 euros",
        "month",
    ]


def test_a_base_that_reads_none_says_so() -> None:
    document = make_document(base_that_reads(Recognition.OFF), "parking.png", png(drawn(ENGLISH)), ingested=True)
    version = newest_version(document)
    assert (version.parse_status, version.failure["code"] if version.failure else "") == ("failed", "no_text_in_pages")


def test_a_picture_without_text_says_that_it_was_looked_at() -> None:
    document = make_document(make_base(), "white.png", png(drawn([])), ingested=True)
    version = newest_version(document)
    assert (version.parse_status, version.failure["code"] if version.failure else "") == (
        "failed",
        "no_text_in_pictures",
    )


def test_what_was_read_is_kept_and_not_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    document = make_document(make_base(), "parking.pdf", pdf(drawn(ENGLISH), drawn(CHINESE)), ingested=False)
    version = newest_version(document)
    prepare_embedder()
    read: list[int | None] = []
    whole = sandbox.recognised_in_child

    def dies_at_the_second(*args: Any, **kwargs: Any) -> Any:
        read.append(kwargs["picture"].page)
        if len(read) == 2:
            raise OSError("the disk is away")
        return whole(*args, **kwargs)

    monkeypatch.setattr(pictures, "recognised_in_child", dies_at_the_second)
    with pytest.raises(OSError, match="away"):
        ingest(version.pk)
    ingest(version.pk)
    assert read == [1, 2, 2], "the first page was kept"
    assert {"level two" in texts(document), "车库二层" in texts(document)} == {True}


def test_many_pages_wait_with_the_imports_and_one_does_not(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Commit
) -> None:
    monkeypatch.setattr(tasks, "SHARE", Share(size_bytes=5_000_000, pictures=1, passages=500))
    prepare_embedder()
    one, two = (make_document(make_base(), f"{n}.pdf", pdf(*[drawn(ENGLISH)] * n)) for n in (1, 2))
    drained("interactive"), drained("bulk")
    with django_capture_on_commit_callbacks(execute=True):
        for document in (one, two):
            ingest_version(str(newest_version(document).pk))
    assert [(newest_version(each).queue, newest_version(each).parse_status) for each in (one, two)] == [
        ("interactive", ParseStatus.COMPLETED),
        ("bulk", ParseStatus.PENDING),
    ]
    assert drained("bulk") == [newest_version(two).pk]


def test_a_base_that_stops_reading_pictures_has_its_documents_read_again() -> None:
    base, manager = make_base(), make_user(is_superuser=True)
    scan = make_document(base, "parking.png", png(drawn(ENGLISH)), ingested=True)
    make_document(base, "typed.md", "# Parking\n\nVisitors park outside.\n", ingested=True)
    assert list(outdated_versions(base)) == []
    base.recognition = Recognition.OFF
    change_knowledge_base(Principal.of(manager), base)
    assert list(outdated_versions(base)) == [newest_version(scan)]


def test_nothing_is_left_of_a_deleted_scan(django_capture_on_commit_callbacks: Commit) -> None:
    base, manager = make_base(), make_user(is_superuser=True)
    allow(manager, base, *Right)
    document = make_document(base, "parking.png", png(drawn(ENGLISH)), ingested=True)
    version = newest_version(document)
    storage, name = version.file.storage, version.page_name("1.json")
    with storage.open(name) as kept:
        assert "level two" in json.dumps(json.load(kept))
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(Principal.of(manager), document_id=document.pk)
    assert not storage.exists(name)


def test_the_page_says_what_was_read_from_a_picture(client: Client) -> None:
    base, reader = make_base(), make_user()
    allow(reader, base)
    document = make_document(base, "parking.png", png(drawn(ENGLISH)), ingested=True)
    client.force_login(reader)
    assert b"read from a picture" in client.get(reverse("document", args=[document.pk])).content
    shown = client.get(reverse("page-image", args=[document.pk, 1, 1]))
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/png")


def test_a_picture_that_cannot_be_read_does_not_take_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from knowledge.parsers.base import ParseFailed

    whole = sandbox.recognised_in_child

    def fails_at_the_first(*args: Any, **kwargs: Any) -> Any:
        if kwargs["picture"].page == 1:
            raise ParseFailed("memory", limit=1536)
        return whole(*args, **kwargs)

    monkeypatch.setattr(pictures, "recognised_in_child", fails_at_the_first)
    document = make_document(make_base(), "parking.pdf", pdf(drawn(ENGLISH), drawn(CHINESE)), ingested=True)
    version = DocumentVersion.unscoped.get(document=document)
    assert (version.parse_status, version.unread_pictures) == (ParseStatus.COMPLETED, 1)
    assert version in outdated_versions(), "and is looked at again"
    assert ("level two" in texts(document), "车库二层" in texts(document)) == (False, True)


def docx_with_pictures() -> bytes:
    from docx import Document as Word

    word = Word()
    word.add_heading("Parking", level=1)
    word.add_paragraph("What the signs say:")
    word.add_picture(BytesIO(png(drawn(["Bicycles stand in the yard."]))), width=2_000_000)
    word.add_paragraph("After the sign comes this paragraph.")
    hidden = word.add_paragraph().add_run()
    hidden.add_picture(BytesIO(png(drawn(["Nobody sees this sign."]))), width=2_000_000)
    hidden.font.hidden = True
    stream = BytesIO()
    word.save(stream)
    return stream.getvalue()


def pptx_with_pictures() -> bytes:
    from pptx import Presentation

    presentation = Presentation()
    for words, show in (("Bicycles stand in the yard.", True), ("Nobody sees this sign.", False)):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = "Parking"
        slide.shapes.add_picture(BytesIO(png(drawn([words]))), 100_000, 1_500_000, width=4_000_000)
        if not show:
            slide.element.set("show", "0")
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "After the sign comes this slide."
    stream = BytesIO()
    presentation.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"), [("signs.docx", docx_with_pictures()), ("signs.pptx", pptx_with_pictures())]
)
def test_pictures_inside_a_document_are_read_where_they_stand(name: str, content: bytes) -> None:
    document = make_document(make_base(), name, content, ingested=True)
    blocks = load_parsed(newest_version(document)).blocks
    said = [block.text for block in blocks]
    picture = next(place for place, block in enumerate(blocks) if block.is_recognised)
    assert said[picture] == "Bicycles stand in the yard."
    assert said[picture + 1].startswith("After the sign")
    assert [block.text for block in blocks if block.is_recognised] == ["Bicycles stand in the yard."], (
        "what is seen alone"
    )
    assert "\U0010fffc" not in "".join(said), "no mark is left"
    assert newest_version(document).bare_pictures == 1
