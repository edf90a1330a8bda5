"""Checks before a library opens a file: sizes, zip bombs, document types, far cells, deep nesting."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812 - an exception class with a lower-case name

from copilot_site.lib.storage.zip_files import ENCRYPTED, OUT_OF_ITS_FOLDER, compute_ratio
from knowledge.parsers.base import MIB, ParseFailed, ParseLimits, Rejected

# In every encoding that an XML reader takes without being told: one byte or two bytes a character.
_DOCTYPE = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_CELL = re.compile(rb'\br\s*=\s*["\']([A-Z]{1,3})([0-9]{1,7})["\']')
_SHEET = re.compile(r"^/?xl/worksheets/[^/]+\.xml$", re.IGNORECASE)
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_OVERLAP_BYTES = 64


def check_file_size(path: Path, most_bytes: int) -> None:
    """Check a file's size. Raises Rejected: empty, too_large."""
    size = path.stat().st_size
    if size == 0:
        raise Rejected("empty")
    if size > most_bytes:
        raise Rejected("too_large", size=round(size / MIB, 1), limit=most_bytes // MIB)


def check_text_size(characters: int, limits: ParseLimits) -> None:
    """Check the length of a text. Raises Rejected("too_much_text")."""
    if characters > limits.text_characters:
        raise Rejected("too_much_text", limit=limits.text_characters)


def check_ooxml(path: Path, limits: ParseLimits, *, xml_bytes: int) -> None:
    """Look through a DOCX, PPTX or XLSX zip without unpacking it to memory or disk.

    xml_bytes: the most any one XML part may unpack to.
    Raises Rejected: empty, too_large, encrypted, zip_entries, zip_size, zip_ratio, zip_names, doctype;
    ParseFailed: damaged.
    """
    check_file_size(path, limits.file_bytes)
    try:
        with ZipFile(path) as archive:
            members = archive.infolist()
            _check_directory(members, limits, xml_bytes)
            for member in members:
                if _is_xml(member):
                    _check_xml(archive, member, limits, xml_bytes)
    except (BadZipFile, ZlibError, OSError, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
        raise ParseFailed("damaged", format="Office") from error


def _check_directory(members: list[ZipInfo], limits: ParseLimits, xml_bytes: int) -> None:
    """Check the zip's own list of members; `_check_xml` holds the members to it."""
    if len(members) > limits.zip_entries:
        raise Rejected("zip_entries", count=len(members), limit=limits.zip_entries)
    total = sum(member.file_size for member in members)
    if total > limits.unpacked_bytes:
        raise Rejected("zip_size", size=total // MIB, limit=limits.unpacked_bytes // MIB)
    for member in members:
        if OUT_OF_ITS_FOLDER.search(member.filename):
            raise Rejected("zip_names")
        if member.flag_bits & ENCRYPTED:
            raise Rejected("encrypted")
        if _is_xml(member) and member.file_size > xml_bytes:
            raise Rejected("zip_size", size=member.file_size // MIB, limit=xml_bytes // MIB)
        ratio = compute_ratio(member)
        if member.file_size > limits.ratio_from_bytes and ratio > limits.zip_ratio:
            raise Rejected("zip_ratio", ratio=round(ratio), limit=limits.zip_ratio)


def _is_xml(member: ZipInfo) -> bool:
    return member.filename.lower().endswith((".xml", ".rels", ".vml"))


def _check_xml(archive: ZipFile, member: ZipInfo, limits: ParseLimits, xml_bytes: int) -> None:
    """Unpack one part as a stream: its true size, and no document type declaration anywhere."""
    size = 0
    for piece in _unpack_in_pieces(archive, member):
        size += len(piece)
        if size > xml_bytes + MIB:
            raise Rejected("zip_size", size=size // MIB, limit=xml_bytes // MIB)
        if _DOCTYPE.search(piece):
            raise Rejected("doctype")


def _unpack_in_pieces(archive: ZipFile, member: ZipInfo) -> Iterator[bytes]:
    """Yield the unpacked bytes, each piece with the end of the one before so that no pattern is cut."""
    tail = b""
    with archive.open(member) as file:
        while piece := file.read(MIB):
            yield tail + piece
            tail = piece[-_OVERLAP_BYTES:]


def check_sheets(path: Path, limits: ParseLimits) -> None:
    """Count the cells of all sheets, and the area each spans: readers allocate the whole rectangle up to a far cell.

    Raises Rejected: too_many_cells, far_cell.
    """
    cells = 0
    with ZipFile(path) as archive:
        for member in archive.infolist():
            if not _SHEET.match(member.filename):
                continue
            rows: set[int] = set()
            columns: set[bytes] = set()
            for piece in _unpack_in_pieces(archive, member):
                found = _CELL.findall(piece)
                cells += len(found)
                if cells > limits.cells:
                    raise Rejected("too_many_cells", limit=limits.cells)
                rows.update({int(row) for _, row in found})
                columns.update({column for column, _ in found})
            _check_area(member.filename, rows, columns, limits)


def _check_area(name: str, rows: set[int], columns: set[bytes], limits: ParseLimits) -> None:
    if not rows:
        return
    numbers = {parse_column(column.decode()) for column in columns}
    height, width = max(rows) - min(rows) + 1, max(numbers) - min(numbers) + 1
    if height * width > limits.sheet_area_cells:
        raise Rejected("far_cell", sheet=name.rsplit("/", 1)[-1], rows=height, columns=width)


def parse_column(reference: str) -> int:
    """Return the column of a reference like AB12, from 0."""
    number = 0
    for letter in reference:
        if not letter.isalpha():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return number - 1


def parse_page_tree(source: str, limits: ParseLimits) -> Any:
    """Return the lxml tree of an HTML page; an empty body for one of comments or declarations alone. Raises Rejected("too_deep")."""
    from lxml import etree, html

    _check_html_depth(source, limits)
    source = _DECLARATION.sub("", source)  # lxml takes no text that names an encoding
    try:
        return html.document_fromstring(source)
    except etree.ParserError:  # no tag opens anything: "Document is empty"
        return html.document_fromstring(f"<body>{source}")


def _check_html_depth(source: str, limits: ParseLimits) -> None:
    """Check nesting. Raises Rejected("too_deep"). Streams the page: building or walking a deep tree is dangerous."""
    from lxml import etree

    class Depth:
        now = deepest = 0

        def start(self, _tag: str, _attributes: object) -> None:
            self.now += 1
            self.deepest = max(self.deepest, self.now)

        def end(self, _tag: str) -> None:
            self.now -= 1

        def close(self) -> int:
            return self.deepest

    parser = etree.HTMLParser(target=Depth())
    parser.feed(source or " ")
    if parser.close() > limits.html_depth:
        raise Rejected("too_deep", limit=limits.html_depth)
