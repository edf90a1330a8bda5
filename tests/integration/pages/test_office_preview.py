"""Office files are shown by their structure: slides as cards, sheets under their names, and nothing of a file as markup."""

import io
import re

import docx
import openpyxl
import pptx
import pytest
from django.urls import reverse

from knowledge.models import Document
from tests.factories import make_document
from tests.integration.pages.house import House, chunk_with, client_of

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
