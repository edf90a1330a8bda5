"""From lines on pages to blocks in reading order: columns, paragraphs, headings by font size, lists, tables, captions, footnotes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from statistics import median
from typing import Any

from knowledge.parsers.blocks import Block, BlockKind, Box, Link, build_block, build_list_item
from knowledge.parsers.lines import join_lines
from knowledge.parsers.pdf.geometry import (
    PdfPage,
    RuledTable,
    Segment,
    TextLine,
    build_lines,
    extract_vertical_text,
    group_in_reading_order,
)
from knowledge.parsers.raised import DIGITS_RAISED
from knowledge.parsers.tables import EMPTY, Cell, Row, build_table_blocks

_BULLET = re.compile(
    r"^\s*(?:(?P<sign>[•‣▪●○◦■□·∙➢✓]|[-–*](?=\s))"
    r"|(?P<number>\(?\d{1,2}[.)](?=\s)|[(（][\d一二三四五六七八九十]{1,3}[)）]))\s*"
)
_CAPTION = re.compile(
    r"(?:Table|Figure|Fig\.|Chart|Exhibit|Tabelle|Tab\.|Abbildung|Abb\.|Tableau)\s?[A-Z]?\d+(?:[.-]\d+)*\s?[:.–—-]\s?\S"
    r"|(?:图表?|表)\s?\d+(?:[.-]\d+)*[\s:：.、]+[^。；]*$"
)
_NOTE = re.compile(r"\s*(\d{1,2}|[⁰¹²³⁴-⁹]{1,2}|[*†‡])\)?\s*(?=[^\d\s])")
_SMALLER = 0.95  # × size of the body, at most, of a footnote
_PAGE_NUMBER = re.compile(r"(?:page|seite|第|共|页|of|von|[\W\d_])*", re.IGNORECASE)
_ENDS_SENTENCE = re.compile(r"[.。,，;；:：!！?？…]$")
_CUT = "\ufffe"  # between the halves of a word that a line end cut; `cleaned` would drop it
_CUT_WORD = re.compile(r"(\w+)\ufffe(\w+)")
_WORD = re.compile(r"\w+")
_MARGIN = 0.09  # share of the page's height in which running headers and footers stand
_MAX_HEADING_CHARACTERS = 160
_STEP = 0.6  # × font size by which an item of a list inside a list is moved in, at least


@dataclass
class _Piece:
    """Neighbouring lines that make one block."""

    lines: list[TextLine]
    kind: BlockKind = "paragraph"
    rows: list[Row] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    number: str = ""
    depth: int = 0


def build_blocks(pages: Sequence[PdfPage]) -> list[Block]:
    """Return all blocks of a document in reading order; a running header or footer is kept at its first place."""
    running = _find_running_lines(pages)
    body_size = _find_body_size(pages)
    seen: set[str] = set()
    pieces = [(page, piece) for page in pages for piece in _split_page(page, running, seen, body_size)]
    levels = _assign_heading_levels([piece for _, piece in pieces], body_size)
    words = _collect_vocabulary(pages)
    blocks: list[Block] = []
    for page, piece in pieces:
        level = levels.get(_find_font_style(piece)) if _may_be_heading(piece, body_size) else None
        boxes = tuple(_convert_to_shares(box, page) for box in piece.boxes or [line.box for line in piece.lines])
        found = _build_piece_blocks(piece, words, level, page=page.number, boxes=boxes)
        blocks += [_add_links(entry, piece, page) for entry in found]
    return blocks


def _build_piece_blocks(piece: _Piece, words: set[str], level: int | None, **place: Any) -> list[Block]:
    if piece.rows:
        mended = {cell: replace(cell, text=_join_cut_words(cell.text, words)) for row in piece.rows for cell in row}
        return build_table_blocks([[mended[cell] for cell in row] for row in piece.rows], **place)
    text = _join_cut_words(_join_text_lines(piece.lines), words)
    if piece.kind == "item":
        text_left = text[marker.end() :] if (marker := _BULLET.match(text)) else text
        return build_list_item(text_left, depth=piece.depth, number=piece.number, **place)
    return build_block("heading" if level else piece.kind, text, level=level, number=piece.number, **place)


def _add_links(block: Block, piece: _Piece, page: PdfPage) -> Block:
    """Return a block with the addresses that its words lead to."""
    boxes = piece.boxes or [line.box for line in piece.lines]
    links: list[Link] = []
    end = 0
    for (x0, y0, x1, y1), words, address in page.links:
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        if not any(box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1 for box in boxes):
            continue
        start = block.text.find(words, end)
        if start >= 0:
            end = start + len(words)
            links.append((start, end, address))
    return replace(block, links=tuple(links)) if links else block


def _convert_to_shares(box: Box, page: PdfPage) -> Box:
    """Convert points to shares of the page, rounded to a tenth of a per mille, inside 0..1."""
    width, height = page.width or 1.0, page.height or 1.0
    x0, y0, x1, y1 = (
        round(min(1.0, max(0.0, value)), 4)
        for value in (box[0] / width, box[1] / height, box[2] / width, box[3] / height)
    )
    return x0, y0, x1, y1


# --- running headers and footers -----------------------------------------------------------------------------------


def _mask_digits(segment: Segment) -> str:
    return re.sub(r"[\d\s]+", "#", segment.text)


def _is_in_margin(segment: Segment, page: PdfPage) -> bool:
    y = segment.middle[1] / (page.height or 1.0)
    return y < _MARGIN or y > 1 - _MARGIN


def _find_running_lines(pages: Sequence[PdfPage]) -> set[str]:
    """Return texts (digits masked) in the margins of at least half of all pages, two or more."""
    counts = Counter(
        text for page in pages for text in {_mask_digits(s) for s in page.segments if _is_in_margin(s, page)}
    )
    return {text for text, count in counts.items() if count >= max(2, len(pages) / 2)}


# --- pages to pieces -----------------------------------------------------------------------------------------------


def _split_page(page: PdfPage, running: set[str], seen: set[str], body_size: float) -> Iterator[_Piece]:
    """Yield the pieces of a page. seen: running lines of earlier pages."""
    repeated = [s for s in page.segments if _is_in_margin(s, page) and _mask_digits(s) in running]
    segments = [s for s in page.segments if s not in repeated]
    new = [s for s in repeated if _mask_digits(s) not in seen and not _PAGE_NUMBER.fullmatch(s.text)]
    seen.update(map(_mask_digits, repeated))
    margins = [_Piece([line], "running") for line in build_lines(new, page)]
    yield from (piece for piece in margins if piece.lines[0].box[1] < page.height / 2)
    upright, segments = extract_vertical_text(segments)
    yield from (_Piece([TextLine([entry], page)]) for entry in upright)
    tables: list[tuple[Box, _Piece]] = []
    for table in page.tables:
        piece, segments = _extract_ruled_table(table, segments, page)
        if piece:
            tables.append((table.box, piece))
    tables.sort(key=lambda entry: entry[0][1])
    notes, segments = _extract_footnotes(segments, page, body_size)
    bands = list(group_in_reading_order(segments))
    for at, band in enumerate(bands):
        here = [entry for entry in tables if _belongs_to_first(entry[0], bands[at:])]
        for piece in _group_lines(build_lines(band, page)):
            while here and here[0][0][1] <= piece.lines[0].box[1]:
                tables.remove(here[0])
                yield here.pop(0)[1]
            yield piece
    for _, piece in tables:
        yield piece
    yield from notes
    yield from (piece for piece in margins if piece.lines[0].box[1] >= page.height / 2)


def _belongs_to_first(box: Box, bands: Sequence[list[Segment]]) -> bool:
    """Tell whether a table stands in the column of the first of these bands, or in that of none."""
    overlaps = [min(box[2], max(s.x1 for s in band)) > max(box[0], min(s.x0 for s in band)) for band in bands]
    return overlaps[0] or not any(overlaps)


def _extract_footnotes(segments: list[Segment], page: PdfPage, body_size: float) -> tuple[list[_Piece], list[Segment]]:
    """Return the footnotes of a page, and the segments above them: smaller lines at its foot that begin with what the text refers to."""
    above = "".join(s.text for s in segments if s.size > _SMALLER * body_size)
    lowest = max((s.y1 for s in segments if s.size > _SMALLER * body_size), default=0.0)
    lines = build_lines((s for s in segments if s.size <= _SMALLER * body_size and s.y0 >= lowest), page)
    notes: list[_Piece] = []
    for line in lines:
        mark = found[1] if (found := _NOTE.match(line.text)) else ""
        raised = "".join(DIGITS_RAISED.get(char, char) for char in mark)
        if mark and raised in above:
            notes.append(_Piece([line], "footnote", number=mark))
        elif notes:
            notes[-1].lines.append(line)
    taken = {id(s) for note in notes for line in note.lines for s in line.segments}
    return notes, [s for s in segments if id(s) not in taken]


def _extract_ruled_table(
    table: RuledTable, segments: list[Segment], page: PdfPage
) -> tuple[_Piece | None, list[Segment]]:
    """Return the table's piece (None when its cells hold no text, or a single column does) and the segments outside it."""
    inside: dict[tuple[int, int], list[Segment]] = {}
    outside: list[Segment] = []
    for segment in segments:
        row = _find_row(table, segment)
        if row is None:
            outside.append(segment)
            continue
        for piece in segment.cut_at(cell[0] for cell in table.rows[row] if cell):
            inside.setdefault((row, _find_column(table.rows[row], piece)), []).append(piece)
    if len({column for _, column in inside}) < 2 or len({row for row, _ in inside}) < 2:
        return None, segments

    def cell_of(r: int, c: int) -> Cell:
        held = inside.get((r, c), [])
        is_bold = bool(held) and all(entry.bold for entry in held)
        return Cell(_join_text_lines(build_lines(held, page)), is_name=is_bold) if held else EMPTY

    return _Piece([], "table", table.filled(cell_of), [table.box]), outside


def _find_row(table: RuledTable, segment: Segment) -> int | None:
    """Return the row whose cells hold the middle of the segment's height and some of its width."""
    y = segment.middle[1]
    for number, row in enumerate(table.rows):
        if any(cell and cell[1] <= y <= cell[3] and cell[0] <= segment.middle[0] <= cell[2] for cell in row):
            return number
    return None


def _find_column(row: list[Box | None], piece: Segment) -> int:
    """Return the cell that begins nearest to the left of the piece's middle."""
    begun = [(cell[0], column) for column, cell in enumerate(row) if cell and cell[0] <= piece.middle[0]]
    return max(begun)[1] if begun else 0


# --- lines to pieces -----------------------------------------------------------------------------------------------


def _group_lines(lines: list[TextLine]) -> Iterator[_Piece]:
    for is_cells, run in groupby(lines, key=lambda line: len(line.segments) > 1):
        group = list(run)
        table = _detect_unruled_table(group) if is_cells and len(group) >= 3 else None
        if table:
            yield table
        else:
            yield from _split_paragraphs(group)


def _detect_unruled_table(lines: list[TextLine]) -> _Piece | None:
    """Return a table of three or more lines whose segments align in separate columns; None otherwise."""
    columns: list[list[float]] = []
    for segment in sorted((s for line in lines for s in line.segments), key=lambda s: s.x0):
        if columns and segment.x0 <= columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], segment.x1)
        else:
            columns.append([segment.x0, segment.x1])
    if len(columns) < 2 or len(columns) < max(len(line.segments) for line in lines):
        return None
    rows = [[_build_cell([s for s in line.segments if x0 <= s.x0 <= x1]) for x0, x1 in columns] for line in lines]
    return _Piece(lines, "table", rows)


def _build_cell(segments: Sequence[Segment]) -> Cell:
    text = " ".join(s.text for s in segments)
    return Cell(text, is_name=all(s.bold for s in segments)) if text else EMPTY


def _split_paragraphs(lines: list[TextLine]) -> Iterator[_Piece]:
    pitch = _compute_line_pitch(lines)
    current: list[TextLine] = []
    for line in lines:
        if current and _starts_block(current, line, pitch):
            yield from _build_pieces(current)
            current = []
        current.append(line)
    if current:
        yield from _build_pieces(current)


def _compute_line_pitch(lines: list[TextLine]) -> float:
    """Return the usual distance between the tops of two lines, in line heights."""
    steps = [b.box[1] - a.box[1] for a, b in pairwise(lines) if abs(a.size - b.size) < 0.5]
    close = [step for step in steps if 0 < step < 40]
    return median(close) if close else 14.0


def _starts_block(current: list[TextLine], line: TextLine, pitch: float) -> bool:
    last = current[-1]
    step = line.box[1] - last.box[1]
    in_list = _BULLET.match(current[0].text) is not None
    if abs(line.size - last.size) > 0.08 * max(line.size, last.size) or line.bold != last.bold:
        return True
    if step < 0 or step > 1.35 * max(pitch, last.size):
        return not (in_list and _BULLET.match(line.text) and 0 < step < 2.2 * pitch)
    if _BULLET.match(line.text):
        return not in_list
    if in_list:
        return line.box[0] < min(entry.box[0] for entry in current) + 0.5 * line.size and line.box[0] < last.box[0]
    indent = line.box[0] - last.box[0]
    ragged = last.box[2] < max(entry.box[2] for entry in [*current, line]) - 4 * line.size
    return ragged and indent >= 0.8 * line.size


def _build_pieces(lines: list[TextLine]) -> Iterator[_Piece]:
    """Return lines as a paragraph or caption, or as list items: several, or one with a bullet."""
    starts = [place for place, line in enumerate(lines) if _BULLET.match(line.text)]
    first = _BULLET.match(lines[0].text)
    if not first or (len(starts) < 2 and (first["sign"] or "-") in "-–*·"):
        yield _Piece(lines, "caption" if _CAPTION.match(lines[0].text) else "paragraph")
        return
    indents: list[float] = []
    for start, end in pairwise([*starts, len(lines)]):
        line = lines[start]
        while indents and line.box[0] < indents[-1] - _STEP * line.size:
            indents.pop()
        if not indents or line.box[0] > indents[-1] + _STEP * line.size:
            indents.append(line.box[0])
        marker = _BULLET.match(line.text)
        number = (marker["number"] or "") if marker else ""
        yield _Piece(lines[start:end], "item", number=number, depth=len(indents) - 1)


def _join_text_lines(lines: list[TextLine]) -> str:
    """Join lines as running text; the mark of a word cut at a line end stays between its halves."""
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1].endswith(_CUT):
            joined[-1] = joined[-1] + line.text
        else:
            joined.append(line.text)
        if line.is_hyphenated:
            joined[-1] += _CUT
    return join_lines(joined).strip(_CUT)


def _collect_vocabulary(pages: Sequence[PdfPage]) -> set[str]:
    """Return the words of the document in lower case, without the halves of cut words."""
    words: set[str] = set()
    is_second_half = False
    for segment in (segment for page in pages for segment in page.segments):
        found = _WORD.findall(segment.text.lower())
        words.update(found[is_second_half : len(found) - segment.is_hyphenated])
        is_second_half = segment.is_hyphenated
    return words


def _join_cut_words(text: str, words: set[str]) -> str:
    """Join cut words; with a hyphen where the document uses both halves as words and never the whole."""

    def whole(match: re.Match[str]) -> str:
        left, right = match.groups()
        is_compound = {left.lower(), right.lower()} <= words and (left + right).lower() not in words
        return f"{left}-{right}" if is_compound else left + right

    return _CUT_WORD.sub(whole, text)


# --- headings ------------------------------------------------------------------------------------------------------


def _find_body_size(pages: Sequence[PdfPage]) -> float:
    """Return the font size of most characters, in points."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for segment in page.segments:
            sizes[round(segment.size * 2) / 2] += len(segment.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _find_font_style(piece: _Piece) -> tuple[float, bool]:
    if not piece.lines:
        return 0.0, False
    return round(max(line.size for line in piece.lines) * 2) / 2, all(line.bold for line in piece.lines)


def _may_be_heading(piece: _Piece, body_size: float) -> bool:
    """Tell whether it is short, and larger than the body or bold; a bold line that ends like a sentence is emphasis."""
    if piece.kind != "paragraph" or not piece.lines or len(piece.lines) > 3:
        return False
    text = _join_text_lines(piece.lines)
    if not 1 < len(text) <= _MAX_HEADING_CHARACTERS or not re.search(r"\w", text):
        return False
    size, bold = _find_font_style(piece)
    if size >= 1.14 * body_size:
        return True
    return bold and size >= 0.98 * body_size and len(text) <= 90 and not _ENDS_SENTENCE.search(text)


def _assign_heading_levels(pieces: Sequence[_Piece], body_size: float) -> dict[tuple[float, bool], int]:
    """Return heading levels by font style, the largest first; all styles after the fifth share level 6."""
    styles = {_find_font_style(piece) for piece in pieces if _may_be_heading(piece, body_size)}
    ordered = sorted(styles, reverse=True)
    return {style: min(i, 6) for i, style in enumerate(ordered, start=1)}
