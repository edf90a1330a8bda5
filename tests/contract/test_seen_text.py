"""What people see in a file is read, however it is drawn and whatever stands beside it."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.shared import RGBColor
from openpyxl.styles import Color, Font
from openpyxl.worksheet.table import Table
from PIL import Image
from pptx.dml.color import RGBColor as Rgb
from pptx.util import Inches
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from knowledge.parsers.base import ParseFailed
from tests.contract.test_hidden_text import parsed
from tests.hidden_samples import saved
from tests.hidden_texts import SEEN, UNSEEN, invisible, pdf

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


VISIBLE_HTML = {
    "details": "<details><summary>More</summary><p>{}</p></details>",
    "print": "<style>@media print { p { display: none } }</style><p>{}</p>",
    "hover": "<style>p:hover { display: none }</style><p>{}</p>",
    "white_on_dark": '<div style="background:#123"><p style="color:#fff">{}</p></div>',
    "white_on_picture": '<div style="background:url(a.png)"><p style="color:#fff">{}</p></div>',
    "visible_again": '<div style="visibility:hidden"><p style="visibility:visible">{}</p></div>',
    "stronger": "<style>p { display: none } p.shown { display: block }</style><p class=shown>{}</p>",
    "printed_sheet": "<style media=print>.q { display: none }</style><p class=q>{}</p>",
    "fades_in": "<style>@keyframes f { to { opacity: 1 } } .q { opacity: 0; animation: f 1s forwards }</style><p class=q>{}</p>",
    "dark_first_row": "<style>th { color: #fff } tr:first-child { background: #123 }</style><table><tr><th>{}</th><th>b</th></tr></table>",
    "narrow_cell": '<table><tr><td style="width:1px;overflow:hidden">{}</td><td>b</td></tr></table>',
    "letters_as_a_window": '<h2 style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">{}</h2>',
    "shadow": '<p style="color:#fff;text-shadow:0 0 3px #000">{}</p>',
    "text_in_a_value": """<p style="font-family:'a;display:none'">{}</p>""",
    "full_size": '<div style="overflow:hidden;height:100%;max-height:none">{}</div>',
    "form": "<form action=a><p>{}</p><input value=b></form>",
    "dropped_list": "<style>.q, .q:unknown { display: none }</style><p class=q>{}</p>",
    "left_out_when_read_aloud": '<p aria-hidden="true">{}</p>',
    "small_box": '<p style="height:0;overflow:visible">{}</p>',
}


def test_what_a_page_shows_is_read(tmp_path: Path) -> None:
    for kind, source in VISIBLE_HTML.items():
        page = f"<!doctype html><meta charset=utf-8><body>{source.replace('{}', SEEN['en'])}</body>"
        document = parsed(page.encode(), "a.html", tmp_path)
        assert SEEN["en"] in document.text, kind
        assert document.apart == (), kind


VISIBLE_MARKDOWN = {
    "comment_in_code": "HTML comments begin with `<!--`.\n\n{}",
    "escaped_comment": "Write \\<!-- to begin.\n\n{}",
    "comment_in_a_block": "    <!-- a\n\n{}",
    "comment_in_a_fence_in_a_list": "- ```\n  <!-- a\n  ```\n\n{}",
    "empty_comment": "<!-->\n\n{}",
    "less_and_more": "5 < 6 <b>and</b> 7 > 3. {}",
}


def test_what_markdown_shows_is_read(tmp_path: Path) -> None:
    for kind, source in VISIBLE_MARKDOWN.items():
        document = parsed(source.replace("{}", SEEN["en"]).encode(), "a.md", tmp_path)
        assert SEEN["en"] in document.text, kind
        assert document.apart == (), kind


def test_text_over_a_scanned_page_is_what_ocr_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "gray")), 0, 0, 600, 800)
        invisible(canvas, SEEN["zh"])

    document = parsed(pdf(draw), "a.pdf", tmp_path)
    assert SEEN["zh"] in document.text
    assert document.apart == ()


def test_white_text_of_a_pdf_on_something_dark_is_read(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rect(40, 480, 500, 50, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(50, 500, SEEN["en"])
        canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "gray")), 40, 280, 500, 50)
        canvas.drawString(50, 300, SEEN["zh"])

    document = parsed(pdf(draw), "a.pdf", tmp_path)
    assert SEEN["en"] in document.text
    assert SEEN["zh"] in document.text
    assert document.apart == ()


def test_what_is_cut_off_of_a_drawing_is_no_background(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.saveState()
        corner = canvas.beginPath()
        corner.rect(0, 0, 10, 10)
        canvas.clipPath(corner, stroke=0, fill=0)
        canvas.rect(0, 0, 600, 800, fill=1)
        canvas.restoreState()
        line = canvas.beginPath()
        line.rect(40, 490, 500, 30)
        canvas.clipPath(line, stroke=0, fill=0)
        canvas.drawString(50, 500, SEEN["en"])

    document = parsed(pdf(draw), "a.pdf", tmp_path)
    assert SEEN["en"] in document.text
    assert document.apart == ()


@pytest.mark.parametrize("name", ["u110000", "u00D800"])
def test_a_font_that_names_what_is_no_character_is_read(name: str, tmp_path: Path) -> None:
    file = BytesIO()
    canvas = Canvas(file, pageCompression=0)
    canvas.drawString(50, 500, f"A. {SEEN['en']}")
    canvas.save()
    encoding = f"/Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [65 /{name}] >>"
    content = file.getvalue().replace(b"/Encoding /WinAnsiEncoding", encoding.encode())
    assert SEEN["en"] in parsed(content, "a.pdf", tmp_path).text


SHADES = {
    "in black": '<w:shd w:val="solid" w:color="000000" w:fill="auto"/>',
    "in a pattern": '<w:shd w:val="pct75" w:color="000000" w:fill="auto"/>',
    "in a colour of the theme": '<w:shd w:val="clear" w:themeFill="accent1"/>',
}


@pytest.mark.parametrize("how", SHADES)
@pytest.mark.parametrize("by_style", [False, True])
def test_white_words_on_any_shading_are_read(how: str, by_style: bool, tmp_path: Path) -> None:
    shade = parse_xml(SHADES[how].replace("<w:shd", f"<w:shd {WORD}"))
    document = docx.Document()
    style: Any = document.styles.add_style("Callout", 1)
    run = document.add_paragraph(style=style).add_run(SEEN["en"])
    run.font.color.rgb = RGBColor(255, 255, 255)
    (style.element.get_or_add_pPr() if by_style else run._r.get_or_add_rPr()).append(shade)
    assert SEEN["en"] in parsed(saved(document.save), "a.docx", tmp_path).text


def test_what_a_field_shows_is_read_and_one_that_never_ends_hides_nothing(tmp_path: Path) -> None:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{item}"/></w:r>' for item in ("begin", "separate", "end"))
    code = "<w:r><w:instrText>REF a</w:instrText></w:r>"
    document = docx.Document()
    for before, after in ((f"{begin}{code}{separate}", end), (begin, "")):
        words = f"<w:r><w:t>{SEEN['en']}</w:t></w:r>"
        document.element.body.insert(0, parse_xml(f"<w:p {WORD}>{before}{words}{after}</w:p>"))
    found = parsed(saved(document.save), "a.docx", tmp_path)
    assert found.text.count(SEEN["en"]) == 2


@pytest.mark.parametrize(
    ("name", "is_shown"), [("urn:nobody", False), ("http://schemas.microsoft.com/office/word/2010/wps", True)]
)
def test_of_two_versions_the_one_that_word_shows_is_read(name: str, is_shown: bool, tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:txbxContent>"
    first, second = box.format(SEEN["en"]), box.format(SEEN["zh"])
    versions = f'<mc:Choice Requires="n">{first}</mc:Choice><mc:Fallback>{second}</mc:Fallback>'
    names = f'{WORD} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:n="{name}"'
    source = f"<w:p {names}><w:r><mc:AlternateContent>{versions}</mc:AlternateContent></w:r></w:p>"
    document = docx.Document()
    document.element.body.insert(0, parse_xml(source))
    text = parsed(saved(document.save), "a.docx", tmp_path).text
    assert (SEEN["en"] in text, SEEN["zh"] in text) == (is_shown, not is_shown)


def test_a_shape_partly_on_the_slide_is_read(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Inches(-1), Inches(1), Inches(6), Inches(1)).text_frame.text = SEEN["en"]
    assert SEEN["en"] in parsed(saved(deck.save), "a.pptx", tmp_path).text


def white_words(slide: Any) -> None:
    box = slide.shapes.add_textbox(Inches(1), Inches(4), Inches(5), Inches(1))
    box.text_frame.text = SEEN["en"]
    box.text_frame.paragraphs[0].runs[0].font.color.rgb = Rgb(255, 255, 255)  # type: ignore[no-untyped-call]


def dark(something: Any) -> None:
    something.background.fill.solid()
    something.background.fill.fore_color.rgb = Rgb(0, 0, 0)  # type: ignore[no-untyped-call]


BEHIND: dict[str, Callable[[Any], object]] = {
    "a dark slide": dark,
    "a dark master": lambda slide: dark(slide.slide_layout.slide_master),
    "a shape": lambda slide: slide.shapes.add_shape(1, 0, Inches(3), Inches(9), Inches(3)),
}


@pytest.mark.parametrize("what", BEHIND)
def test_white_words_of_a_slide_on_something_are_read(what: str, tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    BEHIND[what](slide)
    white_words(slide)
    document = parsed(saved(deck.save), "a.pptx", tmp_path)
    assert document.text == SEEN["en"]
    assert document.apart == ()


def workbook(change: Callable[[Any], object]) -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["Rule", "Note"])
    sheet.append([SEEN["en"], 777])
    change(sheet)
    return saved(book.save)


def formatted(cell: str, code: str) -> Callable[[Any], object]:
    return lambda sheet: setattr(sheet[cell], "number_format", code)


def white_table(sheet: Any) -> None:
    sheet["A2"].font = Font(color="FFFFFFFF")
    sheet["B1"] = "Note"
    sheet.add_table(Table(displayName="Own", ref="A1:B2"))


SHOWN_CELLS: dict[str, Callable[[Any], object]] = {
    "words as they are": formatted("A2", "0;-0;0;@"),
    "an accountant's": formatted("A2", '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-'),
    "words where numbers are not": formatted("A2", ";;"),
    "numbers where words are not": formatted("B2", "0;-0;0;"),
    "in a table": white_table,
    "dark of the theme": lambda sheet: setattr(sheet["A2"], "font", Font(color=Color(theme=0, tint=-0.5))),
}


def test_what_a_sheet_shows_is_read(tmp_path: Path) -> None:
    for how, change in SHOWN_CELLS.items():
        document = parsed(workbook(change), "a.xlsx", tmp_path)
        assert SEEN["en"] in document.text, how
        assert "777" in document.text, how
        assert document.apart == (), how


def changed_sheet(old: bytes, new: bytes) -> bytes:
    """A workbook whose sheet is written by another hand."""
    file = BytesIO()
    with ZipFile(BytesIO(workbook(lambda sheet: sheet.merge_cells("D4:D6")))) as source, ZipFile(file, "w") as target:
        for name in source.namelist():
            part = source.read(name)
            target.writestr(name, re.sub(old, new, part, flags=re.DOTALL) if name.endswith("sheet1.xml") else part)
    return file.getvalue()


def test_only_the_first_of_merged_cells_is_read(tmp_path: Path) -> None:
    cells = ((b"D5", UNSEEN["en"]), (b"F5", SEEN["en"]))
    made = b"".join(b'<c r="%s" t="inlineStr"><is><t>%s</t></is></c>' % (at, text.encode()) for at, text in cells)
    content = changed_sheet(rb"<sheetData>.*</sheetData>", b'<sheetData><row r="5">%s</row></sheetData>' % made)
    text = parsed(content, "a.xlsx", tmp_path).text
    assert SEEN["en"] in text
    assert UNSEEN["en"] not in text


def test_a_sheet_whose_hidden_rows_cannot_be_told_does_not_answer(tmp_path: Path) -> None:
    content = changed_sheet(rb'<row r="2"', b'<row r="2" hidden="1" hidden="1"')
    with pytest.raises(ParseFailed):
        parsed(content, "a.xlsx", tmp_path)
