"""Office files are shown by their structure: slides as cards, sheets under their names, and nothing of a file as markup."""

import io
import re

import docx
import openpyxl
import pptx
import pytest
from django.urls import reverse
from docx.shared import Cm
from PIL import Image

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.models import Document
from tests.factories import make_document
from tests.integration.pages.house import House, chunk_with, client_of
from tests.scans import drawn, png

pytestmark = pytest.mark.django_db
PAYLOAD = "<img src=x onerror=alert(1)>"


def deck() -> bytes:
    slides, file = pptx.Presentation(), io.BytesIO()
    for title, text in (("Goals", "Answer every call within two minutes."), (PAYLOAD, "Nobody waits on Mondays.")):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    slides.save(file)
    return file.getvalue()


def book() -> bytes:
    sheets, file = openpyxl.Workbook(), io.BytesIO()
    sheets.active.title = "Prices"
    sheets.create_sheet("Rates & more")
    for sheet, rows in zip(
        sheets.worksheets, ([("Item", "EUR"), ("Chair", 120)], [("City", "Rate"), (PAYLOAD, 90)]), strict=True
    ):
        for row in rows:
            sheet.append(row)
    sheets.save(file)
    return file.getvalue()


def letter() -> bytes:
    text, file = docx.Document(), io.BytesIO()
    text.add_heading("Travel", 1)
    text.add_paragraph(f"Trains come first. {PAYLOAD}")
    table = text.add_table(2, 2)
    for cell, value in zip(
        (cell for row in table.rows for cell in row.cells), ("Class", "From", "First", "6 h"), strict=True
    ):
        cell.text = value
    text.save(file)
    return file.getvalue()


def opened(house: House, document: Document, query: str = "") -> str:
    return client_of(house.reader).get(reverse("document", args=[document.pk]) + query).content.decode()


def article(page: str) -> str:
    found = re.search(r'<article class="prose preview-.*?</article>', page, re.DOTALL)
    assert found
    assert PAYLOAD not in page
    return found[0]


def test_slides_are_cards_in_their_order_and_the_cited_words_are_marked_in_one(house: House) -> None:
    document = make_document(house.folder, "deck.pptx", deck(), ingested=True)
    words = "Nobody waits on Mondays."
    chunk = chunk_with(document, words)
    start = chunk.text.index(words)
    page = opened(house, document, f"?chunk={chunk.id}&start={start}&end={start + len(words)}")
    cards = re.findall(r'<section class="slide".*?</section>', article(page), re.DOTALL)
    assert [re.search(r'aria-label="([^"]*)"', card)[1] for card in cards] == ["Slide 1", "Slide 2"]  # type: ignore[index]
    assert "<h2>Goals</h2>" in cards[0]
    assert "two minutes" in cards[0]
    assert [card.count("<mark") for card in cards] == [0, 1]
    assert page.count('id="cited"') == 1


def test_sheets_stand_under_their_names_as_tables(house: House) -> None:
    page = opened(house, make_document(house.folder, "book.xlsx", book(), ingested=True))
    sheets = re.findall(r'<section class="sheet" id="([^"]*)">\s*<h2>([^<]*)</h2>', article(page))
    assert sheets == [("sheet-1", "Prices"), ("sheet-2", "Rates &amp; more")]
    assert (
        re.findall(r'<a href="#([^"]*)">([^<]*)</a>', page.split('class="sheet-tabs"')[1].split("</nav>")[0]) == sheets
    )
    assert article(page).count("<table>") == 2
    assert re.search(r"<td>Chair</td>\s*<td>120</td>", article(page))


def test_a_letter_is_paper_with_headings_and_tables(house: House) -> None:
    page = opened(house, make_document(house.folder, "letter.docx", letter(), ingested=True))
    assert "<h2>Travel</h2>" in article(page)
    assert re.search(r"<th>Class</th>\s*<th>From</th>", article(page))


# --- The pictures inside Office files stand in the preview where they stand in the file, and are seen by whoever
# sees the document ---
SIGN = "Bicycles stand in the yard."
RED, BLUE, GREEN = ((220, 0, 0), (0, 0, 220), (0, 160, 0))


def square(colour: tuple[int, int, int]) -> io.BytesIO:
    return io.BytesIO(png(Image.new("RGB", (120, 80), colour)))


def picture_letter() -> bytes:
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


def picture_deck() -> bytes:
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
    document = make_document(house.folder, "picture_letter.docx", picture_letter(), ingested=True)
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
    document = make_document(house.folder, "picture_deck.pptx", picture_deck(), ingested=True)
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
    revoke_rights(None, [Right.VIEW], house.folder, of=house.reader)
    assert client_of(house.reader).get(address(document, 1)).status_code == 404
