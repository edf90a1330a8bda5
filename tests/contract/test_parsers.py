"""What every parser promises: it reads its own format with structure, and says why it does not read anything else."""

import csv
from io import BytesIO, StringIO
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.util import Inches
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

from knowledge.parsers.base import ParseFailed, ParseLimits, Rejected, UnreadableFile, load_parsers, parsers
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.detect import find_parser
from tests.hidden_samples import saved
from tests.scans import PICTURES

load_parsers()

ROWS = [["City", "Limit"], ["Beijing 北京", "600"], ["Shanghai 上海", "650"]]
PROSE = "Employees book the train. 员工出差应优先选择火车。"


def markdown() -> bytes:
    table = "\n".join(["| City | Limit |", "| - | - |", *(f"| {a} | {b} |" for a, b in ROWS[1:])])
    text = f"---\ntitle: Travel 差旅\n---\n# Travel 差旅\n\n{PROSE}\n\n<!-- an English original -->\n\n{table}\n"
    return text.encode()


def text() -> bytes:
    return f"第一章 Travel 差旅\n\n{PROSE}\n\nBeijing 北京 600\n".encode()


def comma_separated() -> bytes:
    file = StringIO()
    csv.writer(file).writerows([*ROWS, [PROSE, "0"]])
    return file.getvalue().encode()


def html() -> bytes:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS)
    return (
        "<!doctype html><html lang=zh><head><meta charset=utf-8><title>Travel 差旅</title><script>evil()</script></head>"
        f"<body><h1>Travel 差旅</h1><p>{PROSE}</p><table>{rows}</table></body></html>"
    ).encode()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Travel 差旅"
    document.add_heading("Travel 差旅", 1)
    document.add_paragraph(PROSE)
    table = document.add_table(len(ROWS), 2)
    for r, row in enumerate(ROWS):
        for c, cell in enumerate(row):
            table.cell(r, c).text = cell
    return saved(document.save)


def slides() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Travel 差旅"
    box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(6), Inches(1))
    box.text_frame.text = PROSE
    table = slide.shapes.add_table(len(ROWS), 2, Inches(1), Inches(3), Inches(6), Inches(2)).table
    for r, row in enumerate(ROWS):
        for c, cell in enumerate(row):
            table.cell(r, c).text = cell
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    return saved(deck.save)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Travel 差旅"
    for row in [[PROSE, None], *ROWS]:
        sheet.append(row)
    return saved(book.save)


def pdf() -> bytes:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    styles = getSampleStyleSheet()
    for style in ("Heading1", "Normal"):
        styles[style].fontName = "STSong-Light"
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 1, "black"), ("FONT", (0, 0), (-1, -1), "STSong-Light")])
    story = [Paragraph("Travel 差旅", styles["Heading1"]), Paragraph(PROSE * 3, styles["Normal"]), PageBreak()]
    return saved(lambda file: SimpleDocTemplate(file, pagesize=A4).build([*story, Table(ROWS, style=grid)]))


SAMPLES: dict[str, bytes] = {
    "markdown": markdown(),
    "text": text(),
    "csv": comma_separated(),
    "html": html(),
    "docx": word(),
    "pptx": slides(),
    "xlsx": workbook(),
    "pdf": pdf(),
}
FORMATS = sorted(SAMPLES)
BINARY = ("docx", "pptx", "xlsx", "pdf")


def parse(content: bytes, filename: str, folder: Path, limits: ParseLimits | None = None) -> ParsedDocument:
    path = folder / "upload"  # never the name of the file
    path.write_bytes(content)
    return find_parser(path, filename).parse(path, limits or ParseLimits())


def name_of(parser: str) -> str:
    return f"sample{parsers.get(parser).extensions[0]}"


def test_every_parser_has_a_sample() -> None:
    assert sorted(parsers.names()) == sorted([*SAMPLES, *PICTURES])


@pytest.mark.parametrize("name", FORMATS)
class TestEveryParser:
    def test_reads_its_own_format_with_headings_and_tables(self, name: str, tmp_path: Path) -> None:
        document = parse(SAMPLES[name], name_of(name), tmp_path)
        for part in ("Beijing 北京", "600", "员工出差应优先选择火车。", "Employees book the train."):
            assert part in document.text
        assert "English original" not in document.text
        assert "evil" not in document.text
        headings = [block.text for block in document.blocks if block.kind == "heading"]
        assert headings == {"csv": [], "text": ["第一章 Travel 差旅"]}.get(name, ["Travel 差旅"])
        tables = [block.text.split("\n")[:4] for block in document.blocks if block.kind == "table"]
        expected = ["| City | Limit |", "| --- | --- |", "| Beijing 北京 | 600 |", "| Shanghai 上海 | 650 |"]
        assert tables == ([] if name == "text" else [expected])
        assert document.text == "\n\n".join(block.text for block in document.blocks)
        assert all(block.text.strip() for block in document.blocks)
        assert ParsedDocument.from_json(document.to_json()) == document

    def test_takes_a_name_that_is_no_path(self, name: str, tmp_path: Path) -> None:
        extension = parsers.get(name).extensions[0].upper()
        for filename in (f"{'长' * 5000}{extension}", f"C:\\temp\\a{extension}", f"a\n\0{extension}"):
            assert parse(SAMPLES[name], filename, tmp_path).blocks

    def test_refuses_empty_and_large_files_and_survives_a_truncated_one(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(Rejected, match="empty"):
            parse(b"", name_of(name), tmp_path)
        with pytest.raises(Rejected, match="at most"):
            parse(SAMPLES[name], name_of(name), tmp_path, ParseLimits(file_bytes=100, text_bytes=50))
        for share in (0.1, 0.5, 0.9):
            content = SAMPLES[name][: int(len(SAMPLES[name]) * share)]
            try:
                parse(content, name_of(name), tmp_path)
            except UnreadableFile as problem:
                assert str(problem)  # noqa: PT017 - any reason will do, any other exception fails the test

    def test_refuses_content_of_another_type(self, name: str, tmp_path: Path) -> None:
        for other in sorted(set(BINARY) - {name}):
            with pytest.raises(Rejected) as refused:
                parse(SAMPLES[other], name_of(name), tmp_path)
            assert refused.value.code == "mismatch", other


@pytest.mark.parametrize("name", BINARY)
def test_text_and_bytes_of_no_known_type_are_refused_under_a_binary_name(name: str, tmp_path: Path) -> None:
    for content, code in ((b"just text", "mismatch_text"), (b"\0\1\2\3zz" * 20, "mismatch_unknown")):
        with pytest.raises(Rejected) as refused:
            parse(content, name_of(name), tmp_path)
        assert refused.value.code == code


@pytest.mark.parametrize("filename", ["a.doc", "a.exe", "a", ""])
def test_unknown_type_is_refused_and_the_accepted_ones_are_named(filename: str, tmp_path: Path) -> None:
    with pytest.raises(Rejected, match=r"Supported: .*\.docx, .*\.pdf, .*\.xlsx"):
        parse(b"content", filename, tmp_path)


def test_page_and_boxes_of_pdf_blocks_point_at_the_text(tmp_path: Path) -> None:
    document = parse(SAMPLES["pdf"], "a.pdf", tmp_path)
    heading, paragraph, table = document.blocks
    assert document.page_count == 2
    assert [block.page for block in document.blocks] == [1, 1, 2]
    assert heading.boxes[0][3] <= paragraph.boxes[0][1]
    assert len(paragraph.boxes) > 1
    assert len(table.boxes) == 1
    assert all(0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1 for b in document.blocks for x0, y0, x1, y1 in b.boxes)


def test_slides_are_pages_and_notes_follow_their_slide(tmp_path: Path) -> None:
    document = parse(SAMPLES["pptx"], "a.pptx", tmp_path)
    assert document.page_count == 1
    assert {block.page for block in document.blocks} == {1}
    assert document.blocks[-1].text == "Speaker notes: Say it slowly."


@pytest.mark.parametrize("filename", ["a.txt", "a.csv", "a.md"])
def test_text_is_read_in_the_encodings_of_office_machines(filename: str, tmp_path: Path) -> None:
    content = "城市,上限\n北京,六百元一晚\n上海,六百五十元\n"
    for encoding in ("utf-8", "utf-8-sig", "gb18030", "utf-16", "big5"):
        assert "六百五十元" in parse(content.encode(encoding), filename, tmp_path).text, encoding
    assert "六百五十元" in parse(b"\xff\xfe" + content.encode("utf-16-le"), filename, tmp_path).text


def test_western_text_is_not_taken_for_chinese(tmp_path: Path) -> None:
    assert "déjà vu, naïve café" in parse("Un déjà vu, naïve café. ".encode("cp1252") * 9, "a.txt", tmp_path).text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_of_a_csv_file_is_found_out(delimiter: str, tmp_path: Path) -> None:
    rows = [["name", "note", "price"], ["a", "x, y", "1"], ["b", "one; two", "2"], ["c", "p|q", "3"]]
    file = StringIO()
    csv.writer(file, delimiter=delimiter).writerows(rows)
    table = parse(file.getvalue().encode(), "a.csv", tmp_path).text.split("\n")
    assert table[0] == "| name | note | price |"
    assert table[2:] == ["| a | x, y | 1 |", "| b | one; two | 2 |", "| c | p\\|q | 3 |"]


def test_pdf_without_a_text_layer_has_pages_but_no_blocks(tmp_path: Path) -> None:
    content = saved(lambda file: SimpleDocTemplate(file).build([PageBreak()]))
    document = parse(content, "scan.pdf", tmp_path)
    assert (document.page_count, document.blocks) == (1, ())


def test_a_title_that_a_program_filled_in_gives_way_to_the_first_heading(tmp_path: Path) -> None:
    word, slides = docx.Document(), pptx.Presentation()
    word.core_properties.title = slides.core_properties.title = "Document1"
    word.add_heading("Travel", 1)
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Travel"
    for content, name in ((saved(word.save), "a.docx"), (saved(slides.save), "a.pptx")):
        assert parse(content, name, tmp_path).title == "Travel", name


@pytest.mark.parametrize("stated", ["about:blank", ""])
def test_a_printed_page_without_a_title_has_none(stated: str, tmp_path: Path) -> None:
    """Its first heading is often a preface: the file's name says more."""
    heading = Paragraph("Preface", getSampleStyleSheet()["Heading1"])
    printed = saved(lambda file: SimpleDocTemplate(file, title=stated).build([heading, *[Paragraph(PROSE)] * 3]))
    assert parse(printed, "a.pdf", tmp_path).title is None


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def run_of(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


BOX = (
    '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    f"<mc:Choice Requires='wps'><w:txbxContent><w:p>{run_of('inside')}</w:p></w:txbxContent></mc:Choice>"
    f"<mc:Fallback><w:txbxContent><w:p>{run_of('inside')}</w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"
)
CONTENTS = '<w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'


@pytest.mark.parametrize(
    ("held", "read"),
    [
        (f'<w:ins w:id="1" w:author="a">{run_of("inside")}</w:ins>', "before inside after"),
        (f"<w:sdt><w:sdtContent>{run_of('inside')}</w:sdtContent></w:sdt>", "before inside after"),
        (f'<w:fldSimple w:instr="REF x">{run_of("inside")}</w:fldSimple>', "before inside after"),
        (f"<w:r><w:ruby><w:rt>{run_of('above')}</w:rt><w:rubyBase>{run_of('inside')}</w:rubyBase></w:ruby></w:r>", "before inside after"),
        (BOX, "before  after\n\ninside"),
        ('<w:del w:id="1" w:author="a"><w:r><w:delText>inside</w:delText></w:r></w:del>', "before  after"),
        (f'<w:moveFrom w:id="1" w:author="a">{run_of("inside")}</w:moveFrom>', "before  after"),
        (f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run_of('inside')}</w:sdtContent></w:sdt>", "before  after"),
        (f"<w:sdt>{CONTENTS}<w:sdtContent>{run_of('inside')}</w:sdtContent></w:sdt>", "before  after"),
    ],
)  # fmt: skip
def test_text_of_a_word_file_counts_wherever_word_keeps_it(held: str, read: str, tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = parse_xml(f"<w:p {WORD}>{run_of('before ')}{held}{run_of(' after')}</w:p>")
    document.element.body.insert(0, paragraph)
    assert parse(saved(document.save), "a.docx", tmp_path).text == read


def test_cells_and_paragraphs_in_content_controls_are_read(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(1, 1)
    table.cell(0, 0).text = "Supplier"
    cell = f"<w:sdt {WORD}><w:sdtContent><w:tc><w:p>{run_of('Evenkeel')}</w:p></w:tc></w:sdtContent></w:sdt>"
    table.rows[0]._tr.append(parse_xml(cell))
    whole = f"<w:sdt {WORD}><w:sdtContent><w:p>{run_of('Signed in Hangzhou.')}</w:p></w:sdtContent></w:sdt>"
    document.element.body.insert(0, parse_xml(whole))
    blocks = parse(saved(document.save), "a.docx", tmp_path).blocks
    assert [block.text for block in blocks] == ["Signed in Hangzhou.", "| Supplier | Evenkeel |"]


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    canvas = Canvas(file, pagesize=A4)
    canvas.drawString(60, 800, "A line across the whole page that stands above both of the columns of this sheet")
    for i in range(12):  # drawn row by row, as layout programs do
        canvas.drawString(60, 760 - 14 * i, f"left column line number {i} with some words")
        canvas.drawString(320, 760 - 14 * i, f"right column line number {i} with some words")
    canvas.save()
    found = parse(file.getvalue(), "a.pdf", tmp_path).text
    assert (
        found.index("above both")
        < found.index("left column line number 11")
        < found.index("right column line number 0")
    )


def test_merged_cells_are_filled_and_hidden_sheets_left_out(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [["Region", "City"], ["North", "Beijing"], [None, "Tianjin"]]:
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    book.create_sheet("secret").append(["hidden"])
    book["secret"].sheet_state = "hidden"
    found = parse(saved(book.save), "a.xlsx", tmp_path).text
    assert "| North | Tianjin |" in found
    assert "hidden" not in found


def test_damaged_file_says_which_format_it_is_not(tmp_path: Path) -> None:
    with pytest.raises(ParseFailed, match="not a valid PDF file"):
        parse(b"%PDF-1.7 nothing else", "a.pdf", tmp_path)
