"""A document page: its text with the cited span, pages of a PDF as images, versions, download."""

import io
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.urls import reverse
from PIL import Image

from audit.actions import Action
from audit.models import Entry
from authz.grants import take_back
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document
from knowledge.selectors import passages
from tests.factories import PASSAGE, make_document, newest_version
from tests.integration.pages.house import SENTENCE, House, chunk_with, client_of, plain, source_url


def opened(house: House, document: Document, query: str = "") -> str:
    return plain(client_of(house.reader).get(reverse("document", args=[document.pk]) + query).content)


def citation(document: Document, words: str) -> str:
    chunk = chunk_with(document, words)
    start = chunk.text.index(words)
    return f"?chunk={chunk.id}&start={start}&end={start + len(words)}"


def marks(body: str) -> list[str]:
    return re.findall(r"<mark[^>]*>([^<]*)</mark>", body)


def test_the_cited_sentence_is_marked_in_the_text(house: House) -> None:
    body = opened(house, house.document, citation(house.document, SENTENCE))
    assert marks(body) == [SENTENCE]
    assert '<mark id="cited">' in body
    assert marks(opened(house, house.document)) == []


def test_the_drawer_marks_the_same_sentence_and_leads_to_the_document(house: House) -> None:
    chunk = chunk_with(house.document, SENTENCE)
    body = plain(client_of(house.reader).get(source_url(chunk, SENTENCE)).content)
    assert marks(body) == [SENTENCE]
    link = re.search(r'href="([^"]*chunk=[^"]*)"', body)
    assert link
    followed = client_of(house.reader).get(link[1].replace("&amp;", "&"))
    assert marks(plain(followed.content)) == [SENTENCE]


@pytest.mark.parametrize("query", ["?start=-1&end=5", "?start=5&end=2", "?start=a&end=b", "?start=0&end=99999999", ""])
def test_offsets_that_make_no_sense_still_show_the_passage(house: House, query: str) -> None:
    chunk = chunk_with(house.document, SENTENCE)
    answer = client_of(house.reader).get(reverse("source", args=[chunk.knowledge_base_id, chunk.id]) + query)
    assert answer.status_code == 200
    assert SENTENCE in plain(answer.content).replace('<mark id="cited">', "").replace("</mark>", "")


def test_a_passage_is_found_in_its_own_base_only(house: House) -> None:
    chunk = chunk_with(house.document, SENTENCE)
    assert client_of(house.reader).get(reverse("source", args=[uuid4(), chunk.id])).status_code == 404


def test_a_citation_of_an_earlier_version_shows_that_version_and_says_so(house: House) -> None:
    query = citation(house.document, SENTENCE)
    make_document(house.folder, "rolling.md", PASSAGE.replace("25%", "30%"), ingested=True)
    body = opened(house, house.document, query)
    assert marks(body) == [SENTENCE]
    assert "You see version 1" in body
    assert "30%" in opened(house, house.document)
    source = client_of(house.reader).get(source_url(chunk_with(house.document, SENTENCE), SENTENCE))
    assert "earlier version" in plain(source.content)


@pytest.mark.parametrize("query", ["?chunk=nonsense", "?part=999", "?part=0", "?part=x"])
def test_a_place_that_is_not_there_opens_the_document_anyway(house: House, query: str) -> None:
    assert SENTENCE in opened(house, house.document, query)


def test_a_citation_that_is_gone_is_said(house: House) -> None:
    said = "The passage that was cited is no longer in this document."
    assert said in opened(house, house.document, f"?chunk={uuid4()}")
    assert said not in opened(house, house.document, citation(house.document, SENTENCE))


def test_a_page_of_a_pdf_is_an_image_with_the_cited_lines_marked(house: House) -> None:
    body = opened(house, house.pdf, citation(house.pdf, "The limit is a quarter of them."))
    rects = re.findall(r'<rect[^>]* x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', body)
    boxes = [tuple(map(float, rect)) for rect in rects]
    assert len(boxes) == 1
    (x, y, width, height) = boxes[0]
    # 72 points from the left of 595, the baseline 640 points from the bottom of 842 (A4)
    assert x == pytest.approx(72 / 595, abs=0.01)
    assert y < 1 - 640 / 842 < y + height
    assert 0.2 < width < 0.4
    assert reverse("page-image", args=[house.pdf.pk, 1, 1]) in body
    assert "<rect" not in opened(house, house.pdf)


def test_a_citation_names_the_page_of_its_sentence_and_not_of_its_passage(house: House) -> None:
    chunk = chunk_with(house.pdf, "The second page speaks of volumes.")
    (shown,) = passages(Principal.of(house.reader), [chunk.id])
    assert (chunk.page_from, chunk.page_to) == (1, 2)
    words = ("Pods are replaced", "The limit", "The second page", "volumes")
    assert [shown.page_at(shown.text.index(each)) for each in words] == [1, 1, 2, 2]


def test_the_parts_of_a_pdf_are_its_pages(house: House) -> None:
    body = opened(house, house.pdf, "?part=2")
    assert "The second page speaks of volumes." in body
    assert "Pods are replaced" not in body
    assert reverse("page-image", args=[house.pdf.pk, 1, 2]) in body


def test_the_image_is_a_png_that_the_browser_does_not_keep(house: House) -> None:
    client, url = client_of(house.reader), reverse("page-image", args=[house.pdf.pk, 1, 1])
    answer = client.get(url)
    image = Image.open(io.BytesIO(answer.content))
    assert (image.format, image.size) == ("PNG", (1191, 1684))
    assert min(image.convert("L").tobytes()) < 100, "nothing is printed on it"
    assert answer["Cache-Control"] == "no-store"
    assert client_of(house.stranger).get(url).status_code == 404
    assert Entry.objects.filter(action=Action.PAGE_IMAGE_SHOWN, target_id=str(house.pdf.pk), detail__page=1).exists()


def test_an_image_is_made_once_and_shown_under_today_s_rights(house: House) -> None:
    client, url = client_of(house.reader), reverse("page-image", args=[house.pdf.pk, 1, 1])
    first = client.get(url).content
    version = newest_version(house.pdf)
    version.file.storage.delete(version.file.name or "")
    assert client.get(url).content == first
    take_back(None, [Right.VIEW], house.folder, of=house.reader)
    assert client.get(url).status_code == 404


def test_a_page_that_cannot_be_drawn_is_said_and_the_site_lives_on(house: House) -> None:
    version = newest_version(house.pdf)
    Path(version.file.path).write_bytes(b"%PDF-1.4\nbroken")
    answer = client_of(house.reader).get(reverse("page-image", args=[house.pdf.pk, 1, 2]))
    assert answer.status_code == 400
    assert "cannot be shown as an image" in plain(answer.content)
    assert client_of(house.reader).get(reverse("document", args=[house.pdf.pk])).status_code == 200


@pytest.mark.parametrize(("version", "page"), [(1, 0), (1, 3), (2, 1)])
def test_a_page_that_is_not_there_is_not_found(house: House, version: int, page: int) -> None:
    assert client_of(house.reader).get(reverse("page-image", args=[house.pdf.pk, version, page])).status_code == 404


def test_what_is_no_pdf_has_no_page_images(house: House) -> None:
    assert client_of(house.reader).get(reverse("page-image", args=[house.document.pk, 1, 1])).status_code == 404


def test_opening_is_recorded_without_text(house: House) -> None:
    opened(house, house.document)
    entry = Entry.objects.filter(action=Action.DOCUMENT_OPENED, target_id=str(house.document.pk)).get()
    assert (entry.actor_name, entry.detail) == ("reader", {"version": 1, "part": 1})


def test_its_time_names_the_zone(house: House) -> None:
    assert f"</time> ({settings.TIME_ZONE})" in opened(house, house.document)


def test_the_original_comes_as_a_download_of_the_same_bytes(house: House) -> None:
    answer = client_of(house.keeper).get(reverse("document-download", args=[house.document.pk]))
    assert b"".join(answer.streaming_content) == PASSAGE.encode()  # type: ignore[attr-defined]
    assert answer["Content-Disposition"] == 'attachment; filename="rolling.md"'
    assert answer["Content-Type"] == "application/octet-stream"
    answer.close()


def test_markup_in_a_title_or_text_is_shown_and_not_obeyed(house: House) -> None:
    evil = "<script>alert(1)</script>"
    document = make_document(house.folder, "evil.md", f"# {evil}\n\n{evil} and {evil}", title=evil, ingested=True)
    for url in (reverse("document", args=[document.pk]), reverse("folder", args=[house.folder.pk])):
        assert evil not in plain(client_of(house.reader).get(url).content)


def test_a_deleted_document_is_gone_and_the_folder_opens(house: House) -> None:
    answer = client_of(house.keeper).post(reverse("document-delete", args=[house.document.pk]), follow=True)
    assert "is in the trash" in plain(answer.content)
    assert answer.redirect_chain[0][0] == reverse("folder", args=[house.folder.pk])
    assert not Document.objects.visible_to(Principal.of(house.keeper)).filter(pk=house.document.pk).exists()


def test_a_deleted_pdf_takes_its_page_images_along(house: House, django_capture_on_commit_callbacks: Any) -> None:
    version = newest_version(house.pdf)
    client_of(house.reader).get(reverse("page-image", args=[house.pdf.pk, 1, 1]))
    kept = f"pages/{version.pk}"
    assert default_storage.listdir(kept)[1] == ["1.png"]
    with django_capture_on_commit_callbacks(execute=True):
        for step in ("document-delete", "trash-erase"):
            client_of(house.keeper).post(reverse(step, args=[house.pdf.pk]))
    assert default_storage.listdir(kept)[1] == []
