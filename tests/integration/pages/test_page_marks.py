"""A quotation is marked letter by letter on the image of its page, or not at all, and then that is said."""

import io
from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas

from knowledge.documents.text import open_cited_source
from knowledge.models import Document
from knowledge.parsers.sandbox import locate_quotation_in_child
from knowledge.rendering import Span
from tests.factories import make_document
from tests.integration.pages.house import House, chunk_with, principal_of

pytestmark = pytest.mark.django_db

FIRST, SECOND, THIRD = "Spare keys lie in the red box.", "The porter has the list of", "all doors, and nobody else."
WIDTH, HEIGHT, LEFT, SIZE = 595.0, 842.0, 72.0, 12.0


def printed(*lines: str, font: str = "Helvetica") -> bytes:
    """A PDF of one page with these lines, 20 points apart."""
    stream = io.BytesIO()
    page = canvas.Canvas(stream, pagesize=(WIDTH, HEIGHT), invariant=True)
    page.setFont(font, SIZE)
    for number, line in enumerate(lines):
        page.drawString(LEFT, 700 - 20 * number, line)
    page.showPage()
    page.save()
    return stream.getvalue()


def boxes_of(house: House, document: Document, words: str) -> list[tuple[float, ...]]:
    """What is marked of these words on the page, in points from the left and from the top."""
    chunk = chunk_with(document, words[:6])
    start = chunk.text.index(words)
    source = open_cited_source(
        principal_of(house.reader), chunk.knowledge_base_id, chunk.id, Span(start, start + len(words))
    )
    assert source.image is not None
    return [(x0 * WIDTH, y0 * HEIGHT, x1 * WIDTH, y1 * HEIGHT) for x0, y0, x1, y1 in source.image.marks.boxes]


def test_the_marks_end_with_the_quoted_sentence_and_not_with_its_lines(house: House) -> None:
    document = make_document(house.folder, "keys.pdf", printed(f"{FIRST} {SECOND}", THIRD), ingested=True)
    first, second = boxes_of(house, document, f"{SECOND} {THIRD}")
    before = pdfmetrics.stringWidth(f"{FIRST} ", "Helvetica", SIZE)
    assert first[0] == pytest.approx(LEFT + before, abs=1.5)
    assert first[2] == pytest.approx(LEFT + pdfmetrics.stringWidth(f"{FIRST} {SECOND}", "Helvetica", SIZE), abs=1.5)
    assert second[0] == pytest.approx(LEFT, abs=1.5)
    assert second[2] < LEFT + pdfmetrics.stringWidth(THIRD, "Helvetica", SIZE) + 1.5
    (alone,) = boxes_of(house, document, FIRST)
    assert alone[2] < first[0]


def test_a_chinese_sentence_is_found_across_a_line_end(house: House) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    pages = printed("备用钥匙放在红色的盒子里。门卫有一份所", "有房门的清单，其他人没有。", font="STSong-Light")
    document = make_document(house.folder, "keys-zh.pdf", pages, ingested=True)
    first, second = boxes_of(house, document, "门卫有一份所有房门的清单，其他人没有。")
    assert first[0] == pytest.approx(LEFT + 13 * SIZE, abs=2)
    assert second[0] == pytest.approx(LEFT, abs=2)


def test_a_quotation_of_which_less_than_half_is_on_the_page_is_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "keys.pdf"
    path.write_bytes(printed(FIRST, SECOND, THIRD))
    everywhere = [(0.0, 0.0, 1.0, 1.0)]

    def marks(quoted: str) -> int:
        found = locate_quotation_in_child(path, filename="keys.pdf", page=1, quoted=quoted, within=everywhere)
        assert found is not None
        assert (round(found.width), round(found.height)) == (WIDTH, HEIGHT)
        return len(found.boxes)

    assert marks(FIRST) == 1
    assert marks(f"{FIRST} Nothing of this is printed here.") == 0
    assert marks(f"{FIRST} But not this.") == 1
    assert marks("") == 0
    assert locate_quotation_in_child(path, filename="keys.pdf", page=2, quoted=FIRST, within=everywhere) is None
