"""Which rows, columns and cells of a workbook are hidden: calamine reads values alone, so the parts are read as a stream."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat
from zipfile import ZipFile

from knowledge.parsers.hidden import WHITE, Colour, HiddenReason, blends_in

_PIECE_BYTES = 1024 * 1024
_FORMATS_NOTHING = ";;;"
_THEME: dict[str, Colour] = {"0": WHITE, "1": (0, 0, 0)}  # the first two of a theme: window and text
_MOST_COLUMNS = 16_384
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@dataclass
class HiddenParts:
    """Of one sheet, counted from 0. cells: by row and column."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    cells: dict[tuple[int, int], HiddenReason] = field(default_factory=dict)


def hidden_parts(path: Path) -> dict[str, HiddenParts]:
    """By the name of the sheet. A damaged workbook gives nothing: the reader of its values says what is wrong."""
    try:
        with ZipFile(path) as archive:
            styles = _hiding_styles(archive)
            return {name: _Sheet(styles).read(archive.open(part)) for name, part in _sheets(archive)}
    except (KeyError, ValueError, expat.ExpatError):
        return {}


def _sheets(archive: ZipFile) -> Iterator[tuple[str, str]]:
    """Names and parts of the worksheets."""
    from lxml import etree

    relations = etree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {each.get("Id"): each.get("Target", "") for each in relations}
    parts = set(archive.namelist())
    for sheet in etree.fromstring(archive.read("xl/workbook.xml")).iter("{*}sheet"):
        target = targets.get(sheet.get(_RELATION), "")
        part = posixpath.normpath(posixpath.join("xl", target)).lstrip("/")
        if part in parts:
            yield sheet.get("name", ""), part


def _hiding_styles(archive: ZipFile) -> dict[str, HiddenReason]:
    """The cell styles whose text is not seen: a number format of nothing, or a font of the colour of the cell."""
    from lxml import etree

    if "xl/styles.xml" not in archive.namelist():
        return {}
    tree = etree.fromstring(archive.read("xl/styles.xml"))
    formats = {each.get("numFmtId"): each.get("formatCode", "") for each in tree.iter("{*}numFmt")}
    fonts = [_colour(each.find("{*}color")) for each in tree.iterfind("{*}fonts/{*}font")]
    fills = [_fill(each) for each in tree.iterfind("{*}fills/{*}fill")]
    hiding: dict[str, HiddenReason] = {}
    for number, style in enumerate(tree.iterfind("{*}cellXfs/{*}xf")):
        font = _at(fonts, style.get("fontId"))
        fill = _at(fills, style.get("fillId"))
        if formats.get(style.get("numFmtId"), "").replace(" ", "") == _FORMATS_NOTHING:
            hiding[str(number)] = HiddenReason.CELL
        elif font and fill and blends_in(font, fill):
            hiding[str(number)] = HiddenReason.COLOUR
    return hiding


def _at(known: list[Colour | None], number: str | None) -> Colour | None:
    place = int(number or 0)
    return known[place] if place < len(known) else None


def _colour(said: Any) -> Colour | None:
    if said is None:
        return None
    if theme := said.get("theme"):
        return None if said.get("tint") else _THEME.get(theme)
    hexed = (said.get("rgb") or "")[-6:]
    return (int(hexed[:2], 16), int(hexed[2:4], 16), int(hexed[4:], 16)) if len(hexed) == 6 else None


def _fill(fill: Any) -> Colour | None:
    """White where there is none; None for patterns and gradients."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return None
    kind = pattern.get("patternType", "none")
    return WHITE if kind == "none" else _colour(pattern.find("{*}fgColor")) if kind == "solid" else None


class _Sheet:
    """One worksheet, read as a stream."""

    def __init__(self, styles: dict[str, HiddenReason]) -> None:
        self._styles = styles
        self._found = HiddenParts()
        self._row = self._column = -1
        self._is_coloured = False  # a table's style or a condition may colour cells: a font's colour tells nothing then

    def read(self, file: IO[bytes]) -> HiddenParts:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        with file:
            while piece := file.read(_PIECE_BYTES):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        if self._is_coloured:
            cells = self._found.cells.items()
            self._found.cells = {place: reason for place, reason in cells if reason is not HiddenReason.COLOUR}
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
        elif name in ("tablePart", "conditionalFormatting"):
            self._is_coloured = True

    def _cell(self, said: dict[str, str]) -> None:
        if not self._styles:
            return
        self._column = _column_number(said["r"]) if "r" in said else self._column + 1
        if reason := self._styles.get(said.get("s", "0")):
            self._found.cells[self._row, self._column] = reason


def _is_hidden(said: dict[str, str], size: str) -> bool:
    return said.get("hidden") in ("1", "true") or (size in said and float(said[size]) == 0)


def _column_number(reference: str) -> int:
    """The column of a reference like AB12, from 0."""
    number = 0
    for letter in reference:
        if not letter.isalpha():
            break
        number = number * 26 + ord(letter.upper()) - 64
    return number - 1
