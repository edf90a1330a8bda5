"""PDF: characters and their places from PDFium, ruled tables from pdfplumber, structure from `pdf_layout`.

PDFium gives normal code points for Chinese where pypdf and pdf.js give Kangxi radicals, and 60 to 200 pages/s.
"""

import ctypes
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from knowledge.parsers.base import ParseFailed, ParseLimits, Rejected, parsers
from knowledge.parsers.blocks import (
    MAX_ADDRESS,
    Block,
    Box,
    ParsedDocument,
    Picture,
    build_hidden_block,
    extract_links,
    mark_link,
)
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.pdf.characters import NO_CHARACTER, Placement, iterate_characters
from knowledge.parsers.pdf.geometry import PdfPage, RuledTable, Segment, convert_script_character
from knowledge.parsers.pdf.hidden import Visibility
from knowledge.parsers.pdf.layout import build_blocks
from knowledge.parsers.pdf.page_image import is_pdf
from knowledge.parsers.precheck import check_file_size, check_text_size
from knowledge.text.normalise import clean_text
from knowledge.titles import clean_stated_title

_HYPHEN = "\x02"  # PDFium's mark for a word cut at a line end
_MIN_PATHS = 3  # fewer drawn shapes cannot rule a table
_MAX_PATHS = 3000  # a drawing: pdfplumber would need minutes for the page
_FEWEST_CHARACTERS = 16  # of a page that says something
_MAX_UNKNOWN = 0.3  # share of characters that no font but the file's own knows


class PdfParser:
    name = "pdf"
    mime_types = ("application/pdf",)
    extensions = (".pdf",)
    preload = ("pdfplumber",)

    def recognises(self, path: Path) -> bool:
        return is_pdf(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_file_size(path, limits.file_bytes)
        with closing(_open_document(path)) as document:
            if len(document) > limits.pages:
                raise Rejected("too_many_pages", count=len(document), limit=limits.pages)
            with closing(_RuledTables(path)) as ruled:
                pages = list(_read_pages(document, ruled, limits))
            blocks = build_blocks(pages)
            pictures = [Picture(0, page.number, is_bare=page.is_bare) for page in pages if page.is_scan or page.is_bare]
            unseen = [found for page in pages for found in _build_hidden_blocks(page)]
            in_order: list[Block | Picture] = [*pictures, *blocks, *unseen]
            in_order.sort(key=lambda item: item.page or 0)
            title = clean_stated_title(clean_text(document.get_metadata_value("Title"))) or None
            losses = filter_losses({"pages": sum(page.is_damaged for page in pages)})
            return ParsedDocument.of(in_order, title=title, page_count=len(document), losses=losses)


def _open_document(path: Path) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(path)
        len(document)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise Rejected("encrypted") from error
        raise ParseFailed("damaged", format="PDF") from error
    return document


def _read_pages(document: pdfium.PdfDocument, ruled: "_RuledTables", limits: ParseLimits) -> Iterator[PdfPage]:
    """Yield every page that can be loaded; a damaged page in a readable document is a page without text."""
    characters = 0
    for index in range(len(document)):
        try:
            page = document[index]
            textpage = page.get_textpage()
        except pdfium.PdfiumError:
            yield PdfPage(number=index + 1, width=1.0, height=1.0, segments=[], tables=[], is_damaged=True)
            continue
        characters += pdfium_c.FPDFText_CountChars(textpage.raw)
        check_text_size(characters, limits)
        visibility = Visibility(page)
        segments = list(_read_segments(page, textpage, visibility))
        width, height = page.get_size()
        tables = ruled.on(index) if segments and _may_have_tables(page) else []
        seen = [segment for segment in segments if segment.hidden is None]
        unseen = [segment for segment in segments if segment.hidden is not None]
        is_bare = not _has_readable_text(seen) and (visibility.is_scan or bool(unseen) or _has_drawing(page))
        links = list(_find_links(document, page, seen)) if seen else []
        yield PdfPage(index + 1, width, height, seen, tables, unseen, visibility.is_scan, is_bare, links=links)
        textpage.close()
        page.close()


def _has_readable_text(segments: Sequence[Segment]) -> bool:
    """Tell whether a page's text says something: more than a page number, and in characters that are letters to anybody."""
    text = "".join(segment.text for segment in segments)
    unknown = sum(unicodedata.category(char) in ("Co", "Cn") or char == NO_CHARACTER for char in text)
    return len(text) >= _FEWEST_CHARACTERS and unknown < _MAX_UNKNOWN * len(text)


def _has_drawing(page: pdfium.PdfPage) -> bool:
    """Tell whether anything but text is drawn: a picture, or letters as outlines."""
    drawn = page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    return next(iter(drawn), None) is not None


def _read_segments(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage, visibility: Visibility) -> Iterator[Segment]:
    """Return runs of characters on one line without a wide gap, in the order of the file, in points."""
    place = Placement(page)
    current: Segment | None = None
    last = 0  # index of the last character of `current`
    level = (0.0, 0.0, 0.0, 0.0)  # of the last character that was neither raised nor lowered
    pending = ""  # spaces and marks that PDFium makes up have no place of their own
    for i, char in iterate_characters(textpage):
        if char in "\r\n":
            if current:
                yield _finish_segment(current, textpage, last, pending)
            current, pending = None, ""
        elif char.isspace() or char in (_HYPHEN, "\0"):
            pending = _HYPHEN if char == _HYPHEN else " "
        else:
            box = place.box_of(textpage, i)
            hidden = visibility.why_unseen(textpage, i, place.raw, box)
            if current is not None and (current.hidden is not hidden or not current.goes_on_at(box)):
                yield _finish_segment(current, textpage, last, pending)
                current = None
            if current is None:
                size, bold = _read_font(textpage, i)
                current, pending = Segment(size=size, bold=bold, hidden=hidden), ""
            shown = "" if pending or not current.text else convert_script_character(char, box, level)
            if not shown:
                level = box
            current.append(pending.replace(_HYPHEN, "") + (shown or char), box)
            last, pending = i, ""
            if len(current.text) == 3:  # a bullet in front often has a font of its own
                current.size, current.bold = _read_font(textpage, i)
    if current:
        yield _finish_segment(current, textpage, last, pending)


def _build_hidden_blocks(page: PdfPage) -> Iterator[Block]:
    """Yield the hidden text of a page, a paragraph for each reason, in the order of the file."""
    for reason, segments in groupby(page.unseen, key=lambda item: item.hidden):
        if reason:
            yield from build_hidden_block("\n".join(item.text for item in segments), reason, page=page.number)


def _finish_segment(segment: Segment, textpage: pdfium.PdfTextPage, last: int, pending: str) -> Segment:
    """Return the segment, bold if it begins and ends bold: a bold word before a sentence makes no heading."""
    segment.is_hyphenated = pending == _HYPHEN
    segment.bold = segment.bold and _read_font(textpage, last)[1]
    return segment


def _read_font(textpage: pdfium.PdfTextPage, index: int) -> tuple[float, bool]:
    """Return the size in points as shown (the text matrix may scale it), and whether the font is bold."""
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFText_GetMatrix(textpage.raw, index, matrix)
    size = pdfium_c.FPDFText_GetFontSize(textpage.raw, index) * ((matrix.c**2 + matrix.d**2) ** 0.5 or 1.0)
    name = ctypes.create_string_buffer(128)
    pdfium_c.FPDFText_GetFontInfo(textpage.raw, index, name, 128, ctypes.c_int())
    bold = b"bold" in name.value.lower() or b"heavy" in name.value.lower()
    return size, bold or pdfium_c.FPDFText_GetFontWeight(textpage.raw, index) >= 600


def _may_have_tables(page: pdfium.PdfPage) -> bool:
    count = 0
    for _ in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_PATH], max_depth=3):
        count += 1
        if count > _MAX_PATHS:
            return False
    return count >= _MIN_PATHS


class _RuledTables:
    """The ruled tables of a PDF by pdfplumber, opened when the first page asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._document: Any = None

    def on(self, index: int) -> list[RuledTable]:
        """Return tables of at least two rows and two columns, as cell boxes in points from the top left of the page."""
        try:
            if self._document is None:
                import pdfplumber

                self._document = pdfplumber.open(self._path)
            page = self._document.pages[index]
            left, top = page.bbox[:2]
            found = [
                RuledTable([[cell and _shift_box(cell, -left, -top) for cell in row.cells] for row in table.rows])
                for table in page.find_tables()
            ]
            page.close()
        except Exception:  # noqa: BLE001 - pdfminer raises anything on odd files; the page's text is still read as lines
            return []
        return [table for table in found if table.is_grid]

    def close(self) -> None:
        if self._document is not None:
            self._document.close()


def _shift_box(box: Sequence[float], x: float, y: float) -> tuple[float, float, float, float]:
    return box[0] + x, box[1] + y, box[2] + x, box[3] + y


def _find_links(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, seen: Sequence[Segment]
) -> Iterator[tuple[Box, str, str]]:
    """Yield the box of words linked to an address outside the document, the words, and the address."""
    place, start, link = Placement(page), ctypes.c_int(0), pdfium_c.FPDF_LINK()
    while pdfium_c.FPDFLink_Enumerate(page.raw, start, link):
        action = pdfium_c.FPDFLink_GetAction(link)
        size = pdfium_c.FPDFAction_GetURIPath(document.raw, action, None, 0) if action else 0
        if not 1 < size <= MAX_ADDRESS or not pdfium_c.FPDFLink_GetAnnotRect(link, place.raw):
            continue
        address = ctypes.create_string_buffer(size)
        pdfium_c.FPDFAction_GetURIPath(document.raw, action, address, size)
        x0, y0, x1, y1 = place.shown()
        for segment in seen:
            if y0 <= segment.middle[1] <= y1 and segment.x0 < x1 and x0 < segment.x1:
                words = segment.text[bisect_left(segment.starts, x0 - 1) : bisect_left(segment.starts, x1 - 1)].strip()
                found = extract_links(mark_link(words, address.value.decode("utf-8", "replace")))[1]
                yield from (((segment.x0, segment.y0, segment.x1, segment.y1), words, to) for _start, _end, to in found)


parsers.add(PdfParser.name, PdfParser())
