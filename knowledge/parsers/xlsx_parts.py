"""How the cells of a workbook are shown: hidden or not, by which number format, with superscripts. Calamine reads values alone, so
the parts are read as a stream.
"""

import posixpath
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat
from zipfile import ZipFile

from knowledge.parsers.base import ParseFailed
from knowledge.parsers.css_values import over
from knowledge.parsers.hidden import WHITE, Colour, HiddenReason, blends_in
from knowledge.parsers.number_formats import BUILT_IN, GENERAL, sections
from knowledge.parsers.raised import lowered, raised

_PIECE_BYTES = 1024 * 1024
_SAYS_NOTHING = re.compile(r"(?:\"\s*\"|\[[^\]]*\]|_.|\\\\\s|\s)*")
_WHITE_FORMAT = re.compile(r"\[white\]", re.IGNORECASE)
_LEAST_POINTS = 1.5  # of a row's height or a font
_INDEXED: dict[int, Colour] = {0: (0, 0, 0), 1: WHITE, 8: (0, 0, 0), 9: WHITE, 64: (0, 0, 0), 65: WHITE}
_THEME: dict[str, Colour] = {"0": WHITE, "1": (0, 0, 0)}  # the first two of a theme: window and text
_MOST_COLUMNS = 16_384
_TEXTS = "xl/sharedStrings.xml"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@dataclass
class SheetParts:
    """Of one sheet, counted from 0. cells: hidden ones, by row and column. texts: those with superscripts, these written out.

    formatted: cells with a number format, one after the other as row and column; codes: the format of each, in the same order.
    """

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    cells: dict[tuple[int, int], HiddenReason] = field(default_factory=dict)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    formatted: "array[int]" = field(default_factory=lambda: array("L"))
    codes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Style:
    """Why cells of one style are not seen: those that hold words, and those that hold numbers. code: how numbers are shown."""

    words: HiddenReason | None = None
    numbers: HiddenReason | None = None
    code: str = ""


def sheet_parts(path: Path) -> dict[str, SheetParts]:
    """By the name of the sheet. Raises ParseFailed where that cannot be told: what may be hidden does not answer."""
    from lxml.etree import XMLSyntaxError

    try:
        with ZipFile(path) as archive:
            styles, raised = _styles(archive), _raised_texts(archive)
            return {
                name: _Sheet(styles, raised, _tables(archive, part)).read(archive.open(part))
                for name, part in _sheets(archive)
            }
    except (KeyError, ValueError, expat.ExpatError, XMLSyntaxError) as error:
        raise ParseFailed("damaged", format="XLSX") from error


def _sheets(archive: ZipFile) -> Iterator[tuple[str, str]]:
    """Names and parts of the worksheets."""
    from lxml import etree

    relations = etree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {each.get("Id"): each.get("Target", "") for each in relations}
    parts = {name.lower(): name for name in archive.namelist()}
    for sheet in etree.fromstring(archive.read("xl/workbook.xml")).iter("{*}sheet"):
        target = targets.get(sheet.get(_RELATION), "")
        part = posixpath.normpath(posixpath.join("xl", target.replace("\\", "/"))).lstrip("/").lower()
        if part in parts:
            yield sheet.get("name", ""), parts[part]


def _tables(archive: ZipFile, part: str) -> Iterator[str]:
    """The ranges of the tables of a sheet, whose styles may colour cells."""
    from lxml import etree

    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.namelist():
        return
    for each in etree.fromstring(archive.read(relations)):
        if each.get("Type", "").endswith("/table"):
            target = posixpath.normpath(posixpath.join(folder, each.get("Target", ""))).lstrip("/")
            if target in archive.namelist():
                yield etree.fromstring(archive.read(target)).get("ref", "")


def _raised_texts(archive: ZipFile) -> dict[str, str]:
    """The shared texts that hold superscripts or subscripts, by number."""
    from lxml import etree

    if _TEXTS not in archive.namelist() or not _has(archive, _TEXTS, b"vertAlign"):
        return {}
    found: dict[str, str] = {}
    with archive.open(_TEXTS) as file:
        for number, (_event, text) in enumerate(etree.iterparse(file, tag="{*}si", resolve_entities=False)):
            if text.find("{*}r/{*}rPr/{*}vertAlign") is not None:
                found[str(number)] = "".join(map(_run_text, text.iterfind("{*}r")))
            text.clear()
            while text.getprevious() is not None:
                del text.getparent()[0]
    return found


def _run_text(run: Any) -> str:
    text = run.findtext("{*}t") or ""
    place = run.find("{*}rPr/{*}vertAlign")
    match place.get("val") if place is not None else None:
        case "superscript":
            return raised(text)
        case "subscript":
            return lowered(text)
        case _:
            return text


def _has(archive: ZipFile, part: str, said: bytes) -> bool:
    """Whether a part holds some bytes, read piece by piece."""
    before = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE_BYTES):
            if said in before + piece:
                return True
            before = piece[-len(said) :]
    return False


def _styles(archive: ZipFile) -> dict[str, _Style]:
    """The cell styles with a number format, and those whose text is not seen: a number format of nothing, a font of no size, or of the
    colour of the cell.
    """
    from lxml import etree

    if "xl/styles.xml" not in archive.namelist():
        return {}
    tree = etree.fromstring(archive.read("xl/styles.xml"))
    formats = BUILT_IN | {each.get("numFmtId"): each.get("formatCode", "") for each in tree.iter("{*}numFmt")}
    fonts = list(tree.iterfind("{*}fonts/{*}font"))
    fills = [_fill(each) for each in tree.iterfind("{*}fills/{*}fill")]
    known: dict[str, _Style] = {}
    for number, style in enumerate(tree.iterfind("{*}cellXfs/{*}xf")):
        font, fill = _at(fonts, style.get("fontId")), _at(fills, style.get("fillId"))
        code = formats.get(style.get("numFmtId"), GENERAL)
        reason = None
        if font is not None and 0 < _points(font) < _LEAST_POINTS:
            reason = HiddenReason.TOO_SMALL
        elif fill:
            colour = (
                WHITE if _WHITE_FORMAT.search(code) else _colour(font.find("{*}color")) if font is not None else None
            )
            reason = HiddenReason.COLOUR if colour and blends_in(colour, fill) else None
        words, numbers = _shows_nothing(code)
        found = _Style(
            HiddenReason.CELL if words else reason,
            HiddenReason.CELL if numbers else reason,
            "" if code in (GENERAL, "@") else code,
        )
        if found != _Style():
            known[str(number)] = found
    return known


def _shows_nothing(code: str) -> tuple[bool, bool]:
    """Whether a number format shows nothing of words, and nothing of any number."""
    parts = sections(code)
    empty = [_SAYS_NOTHING.fullmatch(section) is not None for section in parts]
    return len(parts) > 3 and empty[3], len(parts) > 1 and all(empty[:3])


def _points(font: Any) -> float:
    size = font.find("{*}sz")
    return _float(size.get("val", "")) if size is not None else 0.0


def _float(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        return 0.0


def _at(known: Sequence[Any], number: str | None) -> Any:
    place = int(number or 0)
    return known[place] if place < len(known) else None


def _colour(said: Any) -> Colour | None:
    if said is None:
        return None
    if theme := said.get("theme"):
        return _tinted(_THEME.get(theme), _float(said.get("tint") or "0"))
    if (indexed := said.get("indexed") or "").isdecimal():
        return _INDEXED.get(int(indexed))
    hexed = (said.get("rgb") or "")[-6:]
    return (int(hexed[:2], 16), int(hexed[2:4], 16), int(hexed[4:], 16)) if len(hexed) == 6 else None


def _tinted(colour: Colour | None, tint: float) -> Colour | None:
    """Darker for a tint below 0, lighter for one above."""
    if colour is None:
        return None
    return over(WHITE if tint > 0 else (0, 0, 0), colour, min(1.0, abs(tint)))


def _fill(fill: Any) -> Colour | None:
    """White where there is none; None for patterns and gradients."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return None
    kind = pattern.get("patternType", "none")
    return WHITE if kind == "none" else _colour(pattern.find("{*}fgColor")) if kind == "solid" else None


class _Sheet:
    """One worksheet, read as a stream."""

    def __init__(self, styles: dict[str, _Style], raised: dict[str, str], tables: Iterable[str]) -> None:
        self._styles = styles
        self._raised = raised
        self._text = ""  # the number of a shared text, while its cell is read
        self._is_shared = False
        self._coloured = list(
            tables
        )  # ranges that a table's style or a condition may colour: a font's colour tells nothing there
        self._found = SheetParts()
        self._row = self._column = -1

    def read(self, file: IO[bytes]) -> SheetParts:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        if self._raised:
            parser.CharacterDataHandler = self._said
            parser.EndElementHandler = self._end
        with file:
            while piece := file.read(_PIECE_BYTES):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        ranges = [_range(each) for said in self._coloured for each in said.split()]
        for place, reason in list(self._found.cells.items()):
            if reason is HiddenReason.COLOUR and any(_lies_in(place, each) for each in ranges):
                del self._found.cells[place]
        return self._found

    def _start(self, tag: str, said: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "c":
            self._cell(said)
        elif name == "row":
            self._row = int(said["r"]) - 1 if "r" in said else self._row + 1
            self._column = -1
            if _is_hidden(said, "ht"):
                self._found.rows.add(self._row)
        elif name == "col" and _is_hidden(said, "width"):
            first, last = int(said.get("min", 1)), int(said.get("max", 1))
            self._found.columns.update(range(first - 1, min(last, _MOST_COLUMNS)))
        elif name == "conditionalFormatting":
            self._coloured.append(said.get("sqref", ""))

    def _cell(self, said: dict[str, str]) -> None:
        if not self._styles and not self._raised:
            return
        self._column = _column_number(said["r"]) if "r" in said else self._column + 1
        style = self._styles.get(said.get("s", "0"))
        kind = said.get("t", "n")
        self._is_shared, self._text = kind == "s", ""
        holds_words = kind in ("s", "str", "inlineStr")
        if style and (reason := style.words if holds_words else style.numbers):
            self._found.cells[self._row, self._column] = reason
        if style and style.code and kind == "n":
            self._found.formatted.extend((self._row, self._column))
            self._found.codes.append(style.code)

    def _said(self, text: str) -> None:
        if self._is_shared:
            self._text += text

    def _end(self, tag: str) -> None:
        if self._is_shared and tag.rpartition(":")[2] == "c" and self._text.strip() in self._raised:
            self._found.texts[self._row, self._column] = self._raised[self._text.strip()]


def _is_hidden(said: dict[str, str], size: str) -> bool:
    least = _LEAST_POINTS if size == "ht" else 0.01
    return said.get("hidden") in ("1", "true") or (size in said and _float(said[size]) < least)


def _range(said: str) -> tuple[int, int, int, int]:
    """A1:B2 as the first row and column and the last ones, from 0."""
    first, _, last = said.replace("$", "").partition(":")
    rows = [int("".join(filter(str.isdigit, each)) or 0) - 1 for each in (first, last or first)]
    return rows[0], _column_number(first), rows[1], _column_number(last or first)


def _lies_in(place: tuple[int, int], area: tuple[int, int, int, int]) -> bool:
    top, left, bottom, right = area
    return (top <= place[0] <= bottom or top < 0) and (left <= place[1] <= right or left < 0)


def _column_number(reference: str) -> int:
    """The column of a reference like AB12, from 0."""
    number = 0
    for letter in reference:
        if not letter.isalpha():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return number - 1
