"""The appearance of a workbook's cells: hidden or not, number format, bold, superscripts, links; and what its sheets
say of their tables. Calamine reads values alone, so the parts are read as a stream.
"""

import posixpath
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat
from zipfile import ZipFile

from knowledge.parsers.base import ParseFailed
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.office.ooxml_names import RELATION
from knowledge.parsers.office.xlsx_styles import MIN_POINTS, Style, is_on, parse_number, read_styles
from knowledge.parsers.precheck import parse_column
from knowledge.parsers.raised import format_subscript, format_superscript

_PIECE_BYTES = 1024 * 1024
_MAX_COLUMNS = 16_384
_TEXTS = "xl/sharedStrings.xml"
_LINK = re.compile(r'HYPERLINK\("([^"]+)"', re.IGNORECASE)


Range = tuple[int, int, int, int]
"""First row and column, last row and column, from 0; -1 where a whole row or column is meant."""


@dataclass
class SheetParts:
    """Of one sheet, counted from 0. cells: hidden ones, by row and column. texts: those whose letters differ, as they are seen; struck:
    what is struck out in them. links: addresses. styled: cells with a style that says something, one after the other as row, column and
    number of the style in `styles`. headers: ranges of names that the file states; headless: tables that it says have none.
    frozen: rows that stay in view. formulas: how many have no value.
    """

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    cells: dict[tuple[int, int], HiddenReason] = field(default_factory=dict)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    struck: dict[tuple[int, int], str] = field(default_factory=dict)
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    styled: "array[int]" = field(default_factory=lambda: array("L"))
    styles: dict[int, Style] = field(default_factory=dict)
    headers: list[Range] = field(default_factory=list)
    headless: list[Range] = field(default_factory=list)
    frozen: int = 0
    formulas: int = 0


def read_sheet_parts(path: Path) -> dict[str, SheetParts]:
    """Return the parts by sheet name. Raises ParseFailed if unreadable: possibly hidden text must not answer."""
    from lxml.etree import XMLSyntaxError

    try:
        with ZipFile(path) as archive:
            styles, texts = read_styles(archive), _read_shared_texts(archive)
            return {
                name: _StreamedSheet(styles, texts, _Relations(archive, part)).read(archive.open(part))
                for name, part in _find_worksheets(archive)
            }
    except (KeyError, ValueError, expat.ExpatError, XMLSyntaxError) as error:
        raise ParseFailed("damaged", format="XLSX") from error


def _find_worksheets(archive: ZipFile) -> Iterator[tuple[str, str]]:
    """Return names and parts of the worksheets."""
    from lxml import etree

    relations = etree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {item.get("Id"): item.get("Target", "") for item in relations}
    parts = {name.lower(): name for name in archive.namelist()}
    for sheet in etree.fromstring(archive.read("xl/workbook.xml")).iter("{*}sheet"):
        target = targets.get(sheet.get(f"{RELATION}id"), "")
        part = posixpath.normpath(posixpath.join("xl", target.replace("\\", "/"))).lstrip("/").lower()
        if part in parts:
            yield sheet.get("name", ""), parts[part]


class _Relations:
    """The parts that a sheet points to: its tables, and the addresses of its links by their id."""

    def __init__(self, archive: ZipFile, part: str) -> None:
        from lxml import etree

        folder, name = posixpath.split(part)
        relations = f"{folder}/_rels/{name}.rels"
        known = etree.fromstring(archive.read(relations)) if relations in archive.namelist() else ()
        self.addresses = {item.get("Id", ""): item.get("Target", "") for item in known}
        parts = [_resolve_target(folder, item) for item in known if item.get("Type", "").endswith("/table")]
        tables = [etree.fromstring(archive.read(item)) for item in parts if item in archive.namelist()]
        self.tables = [(table.get("ref", ""), int(table.get("headerRowCount", "1"))) for table in tables]


def _resolve_target(folder: str, relation: Any) -> str:
    return posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/")


def _read_shared_texts(archive: ZipFile) -> dict[str, tuple[str, str]]:
    """Return the shared texts with superscripts, subscripts or struck-out words, by number: as they are seen, and what is struck out."""
    from lxml import etree

    if _TEXTS not in archive.namelist() or not _contains_any(archive, _TEXTS, (b"vertAlign", b"<strike")):
        return {}
    found: dict[str, tuple[str, str]] = {}
    with archive.open(_TEXTS) as file:
        for number, (_event, text) in enumerate(etree.iterparse(file, tag="{*}si", resolve_entities=False)):
            runs = [(_read_run_text(run), is_on(run.find("{*}rPr/{*}strike"))) for run in text.iterfind("{*}r")]
            if any(is_struck for _pieces, is_struck in runs) or text.find("{*}r/{*}rPr/{*}vertAlign") is not None:
                seen, struck = ("".join(words for words, gone in runs if gone is which) for which in (False, True))
                found[str(number)] = seen, struck
            text.clear()
            while text.getprevious() is not None:
                del text.getparent()[0]
    return found


def _read_run_text(run: Any) -> str:
    text = run.findtext("{*}t") or ""
    place = run.find("{*}rPr/{*}vertAlign")
    match place.get("val") if place is not None else None:
        case "superscript":
            return format_superscript(text)
        case "subscript":
            return format_subscript(text)
        case _:
            return text


def _contains_any(archive: ZipFile, part: str, wanted: Sequence[bytes]) -> bool:
    """Tell whether a part holds one of some bytes, read piece by piece."""
    before = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE_BYTES):
            if any(item in before + piece for item in wanted):
                return True
            before = piece[-16:]
    return False


class _StreamedSheet:
    """One worksheet, read as a stream."""

    def __init__(self, styles: dict[str, Style], texts: dict[str, tuple[str, str]], relations: _Relations) -> None:
        self._styles, self._texts, self._relations = styles, texts, relations
        self._pieces: list[str] | None = None  # what is being read: a formula, a value, the number of a shared text
        self._kind = ""  # of the cell that is read
        self._is_valueless = False  # a formula was read, and no value yet
        self._coloured = [area for area, _count in relations.tables]
        """Ranges that a table's style or a condition may colour: a font's colour tells nothing there."""
        self._found = SheetParts(styles={int(number): style for number, style in styles.items()})
        self._row = self._column = -1
        self._prefix: str | None = None  # of the sheet's own elements

    def read(self, file: IO[bytes]) -> SheetParts:
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start_element
        with file:
            while piece := file.read(_PIECE_BYTES):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        self._end_cell()
        found = self._found
        ranges = [_parse_range(entry) for area in self._coloured for entry in area.split()]
        for place, reason in list(found.cells.items()):
            if reason is HiddenReason.COLOUR and any(_is_in_range(place, item) for item in ranges):
                del found.cells[place]
        for area, count in self._relations.tables:
            top, left, bottom, right = _parse_range(area)
            if count:
                found.headers.append((top, left, top + count - 1, right))
            else:
                found.headless.append((top, left, bottom, right))
        return found

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        prefix, _colon, name = tag.rpartition(":")
        if self._prefix is None:
            self._prefix = prefix
        if prefix != self._prefix:  # an extension, with its own elements named f or c
            return
        if name == "c":
            self._end_cell()
            self._start_cell(attributes)
        elif name == "f":
            self._is_valueless = self._kind != "str"
            self._start_text()
        elif name == "v":
            if self._is_valueless or (self._kind == "s" and self._texts):
                self._start_text()
        elif name == "row":
            self._row = int(attributes["r"]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
            if _is_hidden(attributes, "ht"):
                self._found.rows.add(self._row)
        else:
            self._read_sheet_element(name, attributes)

    def _read_sheet_element(self, name: str, attributes: dict[str, str]) -> None:
        if name == "col" and _is_hidden(attributes, "width"):
            first, last = int(attributes.get("min", 1)), int(attributes.get("max", 1))
            self._found.columns.update(range(first - 1, min(last, _MAX_COLUMNS)))
        elif name == "conditionalFormatting":
            self._coloured.append(attributes.get("sqref", ""))
        elif name == "pane" and attributes.get("state", "").startswith("frozen"):
            self._found.frozen = int(parse_number(attributes.get("ySplit", "0")))
        elif name == "autoFilter" and "ref" in attributes:
            top, left, _bottom, right = _parse_range(attributes["ref"])
            self._found.headers.append((top, left, top, right))
        elif name == "hyperlink" and "ref" in attributes:
            identity = next((value for key, value in attributes.items() if key.rpartition(":")[2] == "id"), "")
            top, left, _bottom, _right = _parse_range(attributes["ref"])
            self._found.links[top, left] = self._relations.addresses.get(identity, "")

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._column = parse_column(attributes["r"]) if "r" in attributes else self._column + 1
        self._kind = kind = attributes.get("t", "n")
        number = attributes.get("s", "0")
        style = self._styles.get(number)
        if style is None:
            return
        if reason := style.words if kind in ("s", "str", "inlineStr") else style.numbers:
            self._found.cells[self._row, self._column] = reason
        if style.is_bold or style.fill or (style.code and kind == "n"):
            self._found.styled.extend((self._row, self._column, int(number)))

    def _start_text(self) -> None:
        self._pieces = []
        self._parser.CharacterDataHandler = self._pieces.append
        self._parser.EndElementHandler = self._end_text

    def _end_text(self, tag: str) -> None:
        text, place = "".join(self._pieces or ()).strip(), (self._row, self._column)
        self._parser.CharacterDataHandler = self._parser.EndElementHandler = None
        if tag.rpartition(":")[2] == "f":
            if address := _LINK.match(text):
                self._found.links[place] = address[1]
        elif self._kind == "s":
            if text in self._texts:
                self._found.texts[place], self._found.struck[place] = self._texts[text]
        elif text:
            self._is_valueless = False

    def _end_cell(self) -> None:
        self._found.formulas += self._is_valueless
        self._is_valueless = False


def _is_hidden(attributes: dict[str, str], size: str) -> bool:
    least = MIN_POINTS if size == "ht" else 0.01
    return attributes.get("hidden") in ("1", "true") or (size in attributes and parse_number(attributes[size]) < least)


def _parse_range(text: str) -> Range:
    """Return A1:B2 as first row and column and last row and column, from 0."""
    first, _, last = text.replace("$", "").partition(":")
    rows = [int("".join(filter(str.isdigit, item)) or 0) - 1 for item in (first, last or first)]
    return rows[0], parse_column(first), rows[1], parse_column(last or first)


def _is_in_range(place: tuple[int, int], area: Range) -> bool:
    top, left, bottom, right = area
    return (top <= place[0] <= bottom or top < 0) and (left <= place[1] <= right or left < 0)
