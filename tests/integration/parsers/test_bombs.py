"""Small files that cost a lot: each is stopped by the check in front, and by the limits of the child when that is off."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from knowledge.parsers.base import MIB, ParseLimits, UnreadableFile
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.sandbox import parse_in_child

LIMITS = ParseLimits(memory_bytes=256 * MIB, cpu_s=10, wall_s=15.0)
HUGE = 10**12
NO_CHECKS = replace(
    LIMITS, cells=HUGE, sheet_area_cells=HUGE, zip_entries=HUGE, unpacked_bytes=HUGE, member_xml_bytes=HUGE,
    sheet_xml_bytes=HUGE, zip_ratio=HUGE, html_depth=HUGE, text_bytes=HUGE,
)  # fmt: skip

OOXML = "http://schemas.openxmlformats.org"
WORD_TYPES = (
    f'<Types xmlns="{OOXML}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
SHEET_TYPES = (
    f'<Types xmlns="{OOXML}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)


def relations(target: str) -> str:
    return (
        f'<Relationships xmlns="{OOXML}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{OOXML}/officeDocument/2006/relationships/officeDocument" Target="{target}"/></Relationships>'
    )


def docx(path: Path, body: str, extra: dict[str, bytes] | None = None, head: str = "") -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", WORD_TYPES)
        archive.writestr("_rels/.rels", relations("word/document.xml"))
        archive.writestr(
            "word/document.xml",
            f'{head}<w:document xmlns:w="{OOXML}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>',
        )
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
    return path


def xlsx(path: Path, rows: str) -> Path:
    main = f"{OOXML}/spreadsheetml/2006/main"
    office = f"{OOXML}/officeDocument/2006/relationships"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", SHEET_TYPES)
        archive.writestr("_rels/.rels", relations("xl/workbook.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{OOXML}/package/2006/relationships"><Relationship Id="r1" Type="{office}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return path


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def million_paragraphs(path: Path) -> Path:
    """The 97 kB file that takes 700 MB: everything packs to nothing, every element of the tree is memory."""
    return docx(path, "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 800_000)


def packed_zeros(path: Path) -> Path:
    return docx(path, paragraph("Fine."), {"word/media/image1.bin": bytes(50 * MIB)})


def laughs(path: Path) -> Path:
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "lol"}">' for i in range(10))
    return docx(path, paragraph("&l9;"), head=f"<!DOCTYPE w [{entities}]>")


def laughs_in_utf16(path: Path) -> Path:
    return docx(path, "", {"word/styles.xml": '<?xml version="1.0"?><!DOCTYPE w><w/>'.encode("utf-16")})


def climbing_name(path: Path) -> Path:
    return docx(path, paragraph("Fine."), {"../../outside.xml": b"<a/>"})


def many_parts(path: Path) -> Path:
    return docx(path, paragraph("Fine."), {f"word/part{i}.bin": b"" for i in range(5_001)})


def far_cell(path: Path) -> Path:
    cell = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    return xlsx(path, cell.format(1, "A") + cell.format(1_048_576, "XFD"))


def many_rows(path: Path) -> Path:
    row = '<row r="{0}"><c r="A{0}"><v>{0}</v></c><c r="B{0}" t="inlineStr"><is><t>some words</t></is></c></row>'
    return xlsx(path, "".join(row.format(i) for i in range(1, 30_001)))


def deep_page(path: Path) -> Path:
    path.write_text(f"<html><body>{'<div>' * 100_000}deep</body></html>")
    return path


def parse(path: Path, name: str, limits: ParseLimits) -> ParsedDocument:
    return parse_in_child(path, filename=name, limits=limits)


BOMBS: list[tuple[Callable[[Path], Path], str, str]] = [
    (million_paragraphs, "a.docx", "zip_size"),
    (packed_zeros, "a.docx", "zip_ratio"),
    (laughs, "a.docx", "doctype"),
    (laughs_in_utf16, "a.docx", "doctype"),
    (climbing_name, "a.docx", "zip_names"),
    (many_parts, "a.docx", "zip_entries"),
    (far_cell, "a.xlsx", "far_cell"),
    (many_rows, "a.xlsx", "too_many_cells"),
    (deep_page, "a.html", "too_deep"),
]


@pytest.mark.parametrize(("make", "name", "code"), BOMBS, ids=[make.__name__ for make, _, _ in BOMBS])
def test_bomb_is_refused_before_a_library_sees_it(
    make: Callable[[Path], Path], name: str, code: str, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableFile) as refused:
        parse(make(tmp_path / "bomb"), name, replace(LIMITS, cells=50_000))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("make", "name", "codes"),
    [(million_paragraphs, "a.docx", {"memory"}), (far_cell, "a.xlsx", {"memory", "crashed", "time"})],
    ids=["million_paragraphs", "far_cell"],
)
def test_without_the_check_the_child_is_stopped(
    make: Callable[[Path], Path], name: str, codes: set[str], tmp_path: Path
) -> None:
    """The negative control of the checks, and the proof of the limits behind them."""
    with pytest.raises(UnreadableFile) as failed:
        parse(make(tmp_path / "bomb"), name, NO_CHECKS)
    assert failed.value.code in codes


@pytest.mark.parametrize("make", [packed_zeros, many_parts])
def test_without_the_check_the_harmless_copy_is_read(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """What these files hold is harmless, so that the check alone is seen to refuse them."""
    assert parse(make(tmp_path / "bomb"), "a.docx", NO_CHECKS).text == "Fine."


def test_bombs_are_as_small_as_they_pretend(tmp_path: Path) -> None:
    assert million_paragraphs(tmp_path / "a").stat().st_size < 120_000
    assert far_cell(tmp_path / "b").stat().st_size < 2_500


def test_too_many_pages_are_refused(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "long.pdf"
    canvas = Canvas(str(path))
    for number in range(12):
        canvas.drawString(100, 700, f"Page {number}")
        canvas.showPage()
    canvas.save()
    assert parse(path, "a.pdf", LIMITS).page_count == 12
    with pytest.raises(UnreadableFile, match="has 12 pages; at most 10"):
        parse(path, "a.pdf", replace(LIMITS, pages=10))
    with pytest.raises(UnreadableFile, match="more than 20 characters"):
        parse(path, "a.pdf", replace(LIMITS, text_characters=20))
