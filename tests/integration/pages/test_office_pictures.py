"""The pictures inside Office files stand in the preview where they stand in the file, and are seen by whoever sees the document."""

import io
import re

import docx
import pptx
import pytest
from django.urls import reverse
from docx.shared import Cm
from PIL import Image

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import take_back
from knowledge.models import Document
from tests.factories import make_document
from tests.integration.pages.house import House, client_of
from tests.integration.pages.test_office_preview import article, opened
from tests.scans import drawn, png

pytestmark = pytest.mark.django_db
SIGN = "Bicycles stand in the yard."
RED, BLUE, GREEN = ((220, 0, 0), (0, 0, 220), (0, 160, 0))


def square(colour: tuple[int, int, int]) -> io.BytesIO:
    return io.BytesIO(png(Image.new("RGB", (120, 80), colour)))


def letter() -> bytes:
    """Red, a sign that is read, blue; and a green one that nobody sees."""
    word, file = docx.Document(), io.BytesIO()
    word.add_paragraph("Before the first.")
    word.add_picture(square(RED), width=Cm(3))
    word.add_paragraph("Between them.")
    word.add_picture(io.BytesIO(png(drawn([SIGN]))), width=Cm(9))
    word.add_paragraph("After the sign.")
    word.add_picture(square(BLUE), width=Cm(3))
    hidden = word.add_paragraph().add_run()
    hidden.add_picture(square(GREEN), width=Cm(3))
    hidden.font.hidden = True
    word.save(file)
    return file.getvalue()


def deck() -> bytes:
    """A slide with words, one with a picture alone, a hidden one with another."""
    slides, file = pptx.Presentation(), io.BytesIO()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Goals"
    for colour, show in ((RED, "1"), (GREEN, "0")):
        slide = slides.slides.add_slide(slides.slide_layouts[6])
        slide.shapes.add_picture(square(colour), 100_000, 100_000)
        slide.element.set("show", show)
    slides.save(file)
    return file.getvalue()


def address(document: Document, number: int, version: int = 1) -> str:
    return reverse("picture", args=[document.pk, version, number])


def colour_of(house: House, url: str) -> tuple[int, int, int]:
    answer = client_of(house.reader).get(url)
    assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (200, "image/png", "no-store")
    image = Image.open(io.BytesIO(answer.content))
    assert image.format == "PNG"
    red, green, blue = image.convert("RGB").getpixel((5, 5))  # type: ignore[misc]
    return red, green, blue


def test_pictures_of_a_letter_stand_where_they_stand_in_it(house: House) -> None:
    document = make_document(house.folder, "letter.docx", letter(), ingested=True)
    shown = article(opened(house, document))
    in_order = re.findall(r'src="([^"]*)"|(Before the first|Between them|Bicycles stand|After the sign)', shown)
    assert [picture or words for picture, words in in_order] == [
        "Before the first",
        address(document, 1),
        "Between them",
        address(document, 2),
        "Bicycles stand",
        "After the sign",
        address(document, 3),
    ]
    assert [colour_of(house, address(document, number)) for number in (1, 3)] == [RED, BLUE]
    assert client_of(house.reader).get(address(document, 4)).status_code == 404, "what nobody sees is not shown"
    assert 'alt="Picture in the document"' in shown


def test_a_picture_on_a_slide_is_seen_by_readers_of_the_document_alone_and_recorded(house: House) -> None:
    document = make_document(house.folder, "deck.pptx", deck(), ingested=True)
    cards = re.findall(r'<section class="slide".*?</section>', article(opened(house, document)), re.DOTALL)
    assert [re.findall(r'src="([^"]*)"', card) for card in cards] == [[], [address(document, 1)]]  # and no hidden slide
    assert colour_of(house, address(document, 1)) == RED
    everybody = {"reader": house.reader, "keeper": house.keeper, "stranger": house.stranger, "else": house.elsewhere}
    seen = {name for name, who in everybody.items() if client_of(who).get(address(document, 1)).status_code == 200}
    assert seen == {"reader", "keeper"}
    recorded = Entry.objects.filter(action=Action.PAGE_IMAGE_SHOWN, target_id=str(document.pk), detail__picture=1)
    assert set(recorded.values_list("actor_name", flat=True)) == {"reader", "writer"}
    unread = make_document(house.folder, "other.docx", b"PK")
    absent = (address(document, 0), address(document, 2), address(document, 1, version=2), address(unread, 1))
    assert {client_of(house.reader).get(url).status_code for url in (*absent, address(house.pdf, 1))} == {404}
    take_back(None, [Right.VIEW], house.folder, of=house.reader)
    assert client_of(house.reader).get(address(document, 1)).status_code == 404
