"""Printed pages: lists, tables with merged cells, running lines, footnotes, captions, links and text that runs down."""

import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import Block, ParsedDocument
from knowledge.parsers.formats.pdf import PdfParser
from knowledge.text.pipe_table import parse_cells

WORDS = "Work on the crane stops at gusts of more than fifty kilometres per hour, and the boom is laid down. " * 3


def parsed(content: bytes, folder: Path) -> ParsedDocument:
    (folder / "a.pdf").write_bytes(content)
    return PdfParser().parse(folder / "a.pdf", ParseLimits())


def printed(folder: Path, *story: Flowable) -> Sequence[Block]:
    file = BytesIO()
    SimpleDocTemplate(file, pagesize=A4).build([Paragraph(WORDS), *story])
    return parsed(file.getvalue(), folder).blocks


def drawn(folder: Path, draw: Callable[[Canvas], object]) -> ParsedDocument:
    file = BytesIO()
    canvas = Canvas(file, pagesize=A4)
    draw(canvas)
    canvas.save()
    return parsed(file.getvalue(), folder)


def test_items_of_a_list_are_blocks_with_their_numbers_and_depth(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 800, "Bring to the yard before the shift begins:")
        lines = (
            (60, "1. the pass that was"),
            (73, "given to you"),
            (60, "2. the vest"),
            (90, "• orange"),
            (60, "3. boots"),
        )
        for place, (x, line) in enumerate(lines):
            canvas.drawString(x, 770 - 14 * place, line)

    items = [block for block in drawn(tmp_path, draw).blocks if block.kind == "item"]
    assert [(item.number, item.depth, item.text[item.lead :]) for item in items] == [
        ("1.", 0, "1. the pass that was given to you"),
        ("2.", 0, "2. the vest"),
        ("", 1, "orange"),
        ("3.", 0, "3. boots"),
    ]
    assert all(item.boxes for item in items)


def test_a_merged_cell_of_a_ruled_table_stands_in_all_its_places(tmp_path: Path) -> None:
    rows = [
        ["Crate", "First half", "", "Second half", ""],
        ["", "Sold", "Damaged", "Sold", "Damaged"],
        ["A", "3664", "24", "3653", "9"],
        ["B", "120", "2", "140", "0"],
    ]
    style = [("GRID", (0, 0), (-1, -1), 1, "black")]
    style += [("SPAN", a, b) for a, b in (((0, 0), (0, 1)), ((1, 0), (2, 0)), ((3, 0), (4, 0)))]  # type: ignore[misc]
    (table,) = (item for item in printed(tmp_path, Table(rows, style=style)) if item.kind == "table")
    lines = [parse_cells(line) for line in table.text.split("\n")]
    assert lines[0] == [
        "Crate",
        "First half › Sold",
        "First half › Damaged",
        "Second half › Sold",
        "Second half › Damaged",
    ]
    assert lines[2:] == rows[2:]


def test_running_lines_stand_once_and_page_numbers_never(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for page in range(1, 5):
            canvas.drawString(60, 820, "Document no. CM-2026-014, valid from 1 May")
            canvas.drawString(60, 20, f"Page {page} of 4")
            canvas.drawString(60, 500, f"What chapter {'abcd'[page - 1]} says is read by everybody.")
            canvas.showPage()

    document = drawn(tmp_path, draw)
    assert [block.text for block in document.blocks if block.kind == "running"] == [
        "Document no. CM-2026-014, valid from 1 May"
    ]
    assert "Page 2" not in document.text


def test_a_footnote_is_one_where_the_text_refers_to_it(tmp_path: Path) -> None:
    def draw(canvas: Canvas, mark: str = "1") -> None:
        canvas.setFont("Helvetica", 12)
        canvas.drawString(60, 700, "The hotel limit in Oslo is that of the list")
        canvas.setFont("Helvetica", 7)
        canvas.drawString(
            60 + canvas.stringWidth("The hotel limit in Oslo is that of the list", "Helvetica", 12), 705, mark
        )
        for line in range(8):
            canvas.setFont("Helvetica", 12)
            canvas.drawString(60, 660 - 14 * line, "Everybody books a room through the travel desk of the yard.")
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, 120, "1 From May to August it is 210 euros,")
        canvas.drawString(60, 110, "and breakfast is included.")

    (note,) = (block for block in drawn(tmp_path, draw).blocks if block.kind == "footnote")
    assert (note.number, note.text) == ("1", "1 From May to August it is 210 euros, and breakfast is included.")
    assert not [block for block in drawn(tmp_path, lambda canvas: draw(canvas, "7")).blocks if block.kind == "footnote"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Table 3: Loads of the cranes", "caption"),
        ("Figure 2.1 – The yard from the north", "caption"),
        ("Table 3 shows the loads of the cranes.", "paragraph"),
    ],
)
def test_a_caption_is_told_by_its_number(text: str, kind: str, tmp_path: Path) -> None:
    apart = ParagraphStyle("apart", getSampleStyleSheet()["Normal"], spaceBefore=30)
    assert printed(tmp_path, Paragraph(text, apart))[-1].kind == kind


def test_words_that_lead_somewhere_keep_the_address(tmp_path: Path) -> None:
    link = Paragraph(
        'Suppliers register <a href="https://example.com/join">on this page</a> before an order, not there.'
    )
    (found,) = (item for item in printed(tmp_path, link) if item.links)
    ((start, end, address),) = found.links
    assert (found.text[start:end], address) == ("on this page", "https://example.com/join")


def test_a_damaged_page_is_counted(tmp_path: Path) -> None:
    file = BytesIO()
    canvas = Canvas(file, pagesize=A4)
    for page in ("first", "second", "third"):
        canvas.drawString(60, 700, f"What the {page} page says.")
        canvas.showPage()
    canvas.save()
    kids = re.search(rb"/Kids \[ \d+ 0 R (\d+ 0 R)", file.getvalue())
    assert kids
    for content, losses in ((file.getvalue(), {}), (file.getvalue().replace(kids[1], b"99 0 R", 1), {"pages": 1})):
        document = parsed(content, tmp_path)
        assert (document.page_count, document.losses) == (3, losses)
        assert "third" in document.text


def test_chinese_that_runs_down_is_read_in_its_direction(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))

    def draw(canvas: Canvas) -> None:
        canvas.setFont("STSong-Light", 14)
        for column, text in enumerate(("冷藏库温度须保持在四摄", "氏度门开启时间不得超过", "九十秒")):
            for place, char in enumerate(text):
                canvas.drawString(500 - 24 * column, 760 - 16 * place, char)

    assert drawn(tmp_path, draw).text == "冷藏库温度须保持在四摄氏度门开启时间不得超过九十秒"


def test_a_column_of_single_characters_in_a_table_is_no_text_that_runs_down(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    rows = [[char, "是", f"{place}"] for place, char in enumerate("甲乙丙丁戊己")]
    style = [("GRID", (0, 0), (-1, -1), 1, "black"), ("FONT", (0, 0), (-1, -1), "STSong-Light")]
    (table,) = (item for item in printed(tmp_path, Table(rows, style=style)) if item.kind == "table")
    assert parse_cells(table.text.split("\n")[0]) == ["甲", "是", "0"]


def test_a_table_stands_where_its_column_of_the_page_has_it(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        words = WORDS.split()
        sections = (
            (50, 780, 750, "1 Scope"),
            (50, 640, 610, "2 Term"),
            (320, 780, 660, "3 Fees"),
            (320, 540, 510, "4 Law"),
        )
        for x, top, begin, heading in sections:
            canvas.setFont("Helvetica-Bold", 14)
            canvas.drawString(x, top, heading)
            canvas.setFont("Helvetica", 10)
            for line in range(6):
                canvas.drawString(x, begin - 14 * line, " ".join(words[line : line + 6]))
        table = Table([["Service", "Fee"], ["Scale", "385"]], style=[("GRID", (0, 0), (-1, -1), 1, "black")])
        table.wrapOn(canvas, 200, 100)
        table.drawOn(canvas, 320, 700)

    found = [block.text for block in drawn(tmp_path, draw).blocks if block.kind in {"heading", "table"}]
    assert [text.split("\n")[0] for text in found] == ["1 Scope", "2 Term", "3 Fees", "| Service | Fee |", "4 Law"]
