"""A document page: its text with the cited span, pages of a PDF as images, versions, download."""

import io
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse
from PIL import Image

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from knowledge.models import Document
from knowledge.selectors import list_visible_passages
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


def test_the_cited_sentence_is_marked_on_the_page_and_in_the_drawer_and_opening_is_recorded(house: House) -> None:
    body = opened(house, house.document, citation(house.document, SENTENCE))
    assert marks(body) == [SENTENCE]
    assert '<mark id="cited">' in body
    entry = Entry.objects.filter(action=Action.DOCUMENT_OPENED, target_id=str(house.document.pk)).get()
    assert (entry.actor_name, entry.detail) == ("reader", {"version": 1, "part": 1})  # and no text
    chunk = chunk_with(house.document, SENTENCE)
    body = plain(client_of(house.reader).get(source_url(chunk, SENTENCE)).content)
    assert marks(body) == [SENTENCE]
    link = re.search(r'href="([^"]*chunk=[^"]*)"', body)
    assert link
    followed = client_of(house.reader).get(link[1].replace("&amp;", "&"))
    assert marks(plain(followed.content)) == [SENTENCE]


def test_odd_places_still_show_the_text_and_marks_nothing_else(house: House) -> None:
    chunk = chunk_with(house.document, SENTENCE)
    address = reverse("source", args=[chunk.knowledge_base_id, chunk.id])
    for query in ("?start=-1&end=5", "?start=a&end=b", "?start=0&end=99999999"):
        answer = client_of(house.reader).get(address + query)
        assert answer.status_code == 200
        assert SENTENCE in plain(answer.content).replace('<mark id="cited">', "").replace("</mark>", "")
    for query in ("?chunk=nonsense", "?part=999", f"?chunk={uuid4()}"):
        assert SENTENCE in opened(house, house.document, query)
    other_base = client_of(house.reader).get(reverse("source", args=[uuid4(), chunk.id]))
    assert other_base.status_code == 404


def test_a_citation_of_an_earlier_version_shows_that_version_and_says_so(house: House) -> None:
    query = citation(house.document, SENTENCE)
    make_document(house.folder, "rolling.md", PASSAGE.replace("25%", "30%"), ingested=True)
    body = opened(house, house.document, query)
    assert marks(body) == [SENTENCE]
    assert "You see version 1" in body
    assert "30%" in opened(house, house.document)


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
    other = opened(house, house.pdf, "?part=2")
    assert "<rect" not in other
    assert "The second page speaks of volumes." in other
    assert "Pods are replaced" not in other
    assert reverse("page-image", args=[house.pdf.pk, 1, 2]) in other


def test_a_citation_names_the_page_of_its_sentence_and_not_of_its_passage(house: House) -> None:
    chunk = chunk_with(house.pdf, "The second page speaks of volumes.")
    (shown,) = list_visible_passages(Principal.of(house.reader), [chunk.id])
    assert (chunk.page_from, chunk.page_to) == (1, 2)
    words = ("Pods are replaced", "The limit", "The second page", "volumes")
    assert [shown.page_at(shown.text.index(word)) for word in words] == [1, 1, 2, 2]


def test_a_page_image_is_made_once_kept_by_no_browser_and_shown_under_the_rights_of_today(house: House) -> None:
    client, url = client_of(house.reader), reverse("page-image", args=[house.pdf.pk, 1, 1])
    answer = client.get(url)
    image = Image.open(io.BytesIO(answer.content))
    assert (image.format, image.size) == ("PNG", (1191, 1684))
    assert min(image.convert("L").tobytes()) < 100, "nothing is printed on it"
    assert answer["Cache-Control"] == "no-store"
    assert client_of(house.stranger).get(url).status_code == 404
    assert Entry.objects.filter(action=Action.PAGE_IMAGE_SHOWN, target_id=str(house.pdf.pk), detail__page=1).exists()
    version = newest_version(house.pdf)
    version.file.storage.delete(version.file.name or "")
    assert client.get(url).content == answer.content
    revoke_rights(None, [Right.VIEW], house.folder, of=house.reader)
    assert client.get(url).status_code == 404


def test_a_page_that_cannot_be_drawn_is_refused_and_one_that_does_not_exist_is_not_found(house: House) -> None:
    client = client_of(house.reader)
    for document, number, page in ((house.pdf, 1, 0), (house.pdf, 1, 3), (house.pdf, 2, 1), (house.document, 1, 1)):
        assert client.get(reverse("page-image", args=[document.pk, number, page])).status_code == 404
    version = newest_version(house.pdf)
    Path(version.file.path).write_bytes(b"%PDF-1.4\nbroken")
    assert client.get(reverse("page-image", args=[house.pdf.pk, 1, 2])).status_code == 400
    assert client.get(reverse("document", args=[house.pdf.pk])).status_code == 200


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


def test_a_deleted_pdf_takes_its_page_images_along(house: House, django_capture_on_commit_callbacks: Any) -> None:
    version = newest_version(house.pdf)
    client_of(house.reader).get(reverse("page-image", args=[house.pdf.pk, 1, 1]))
    kept = f"pages/{version.pk}"
    assert default_storage.listdir(kept)[1] == ["1.png"]
    with django_capture_on_commit_callbacks(execute=True):
        for step in ("document-delete", "trash-erase"):
            client_of(house.keeper).post(reverse(step, args=[house.pdf.pk]))
    assert default_storage.listdir(kept)[1] == []
