"""The builder: what is committed is what the sources say, and a bad source is refused in one sentence."""

import zipfile
from pathlib import Path

import pypdfium2
import pytest

from demo.build.__main__ import DOCUMENTS, SOURCES, WRITERS, main
from demo.build.pdf import register_font
from demo.build.source import Heading, Items, Paragraph, SourceTable, read_source

ALL = sorted(SOURCES.rglob("*.md"))
OFFICE = [path for path in ALL if not path.name.endswith(".pdf.md")]
PDFS = [path for path in ALL if path.name.endswith(".pdf.md")]
FRONT = "---\ntitle: T\nauthor: A\nversion: v1\ndate: 2026-01-02\nlanguage: en\n---\n"


def committed(source: Path) -> Path:
    return DOCUMENTS / source.relative_to(SOURCES).with_suffix("")


def entries(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pdf_text(file: Path) -> str:
    """All text of a PDF without spaces: where lines break is the layout's business."""
    with pypdfium2.PdfDocument(file) as pdf:
        pages = [page.get_textpage().get_text_range() for page in pdf]
    return "".join("".join(pages).split())


def test_office_documents_are_built_from_their_sources(tmp_path: Path) -> None:
    for source in OFFICE:
        target = tmp_path / committed(source).name
        WRITERS[target.suffix](read_source(source), target)
        assert entries(target) == entries(committed(source)), source


def test_pdf_says_what_its_source_says() -> None:
    for source in PDFS:
        text = pdf_text(committed(source))
        for block in read_source(source).blocks:
            match block:
                case Heading(text=words) | Paragraph(text=words):
                    expected = [words]
                case Items(texts=words):
                    expected = list(words)
                case SourceTable(rows=rows):
                    expected = [cell for row in rows for cell in row]
            for words in expected:
                if len(words) < 120:  # a longer paragraph may run over a page end and its footer
                    assert "".join(words.split()) in text, source


def test_every_binary_document_has_a_source() -> None:
    binary = {path for path in DOCUMENTS.rglob("*") if path.suffix in WRITERS}
    assert binary == {committed(source) for source in ALL}


def test_chinese_pdf_embeds_its_font() -> None:
    content = (DOCUMENTS / "people/handbook/员工手册.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"STSong" not in content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# no front matter\n", "a source starts with a front matter"),
        (FRONT.replace("author: A\n", ""), "author"),
        (FRONT + "> a quotation\n", "not blockquote_open"),
    ],
)
def test_read_source_refuses_a_bad_source_and_names_it(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.docx.md"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_source(file)
    assert "bad.docx.md" in str(caught.value)


def test_write_pptx_refuses_a_slide_with_table_and_text(tmp_path: Path) -> None:
    file = tmp_path / "deck.pptx.md"
    file.write_text(FRONT + "## Slide\n\ntext\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", encoding="utf-8")
    with pytest.raises(ValueError, match="slide 'Slide' mixes a table with text"):
        WRITERS[".pptx"](read_source(file), tmp_path / "deck.pptx")


def test_write_xlsx_refuses_a_workbook_without_a_sheet_name(tmp_path: Path) -> None:
    file = tmp_path / "book.xlsx.md"
    file.write_text(FRONT + "| a |\n|---|\n| 1 |\n", encoding="utf-8")
    with pytest.raises(ValueError, match="a workbook starts with a level-2 heading"):
        WRITERS[".xlsx"](read_source(file), tmp_path / "book.xlsx")


def test_builder_without_its_font_says_which_package_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--font", str(tmp_path / "none.ttc")]) == 1
    assert "install Debian's fonts-wqy-microhei" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        register_font(tmp_path / "none.ttc")
