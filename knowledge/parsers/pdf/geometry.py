"""The geometry of text on a page: runs of characters, lines, ruled tables, and the order in which columns are read."""

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from statistics import median

from knowledge.parsers.blocks import Box, compute_bounding_box
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.lines import WIDE
from knowledge.parsers.raised import DIGITS_LOWERED, DIGITS_RAISED
from knowledge.parsers.tables import EMPTY, Cell, Row

_WORD_GAP = 1.6  # × font size: a wider gap separates columns or cells, a narrower one words
_SMALLER = 0.85  # × height of the line's characters: at most that of a superscript, which programs set at 0.58 to 0.8
_RAISED = 0.2  # … by which its lower edge stands above theirs; that of small characters on the line does by 0.04 to 0.1
_TOUCH = 1.0  # points that edges of one line may lie apart
_STACKED = 1.6  # × font size from one character to the next below it, at most, where text runs down
_FEWEST_STACKED = 4  # characters of a column of such text
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")


@dataclass
class Segment:
    """Characters of one line without a wide gap. x0, y0 is the top left, in points from the top left of the page.

    hidden: why none of them is seen; None when they are.
    """

    size: float
    bold: bool
    text: str = ""
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0
    is_hyphenated: bool = False
    hidden: HiddenReason | None = None
    starts: list[float] = field(default_factory=list)  # the left edge of each character of `text`

    def append(self, text: str, box: Box) -> None:
        x0, y0, x1, y1 = box
        if not self.text:
            self.x0, self.y0, self.x1, self.y1 = box
        self.text += text
        self.starts += [x0] * len(text)
        self.x0, self.y0 = min(self.x0, x0), min(self.y0, y0)
        self.x1, self.y1 = max(self.x1, x1), max(self.y1, y1)

    def goes_on_at(self, box: Box) -> bool:
        """Tell whether a character at `box` belongs to this run: same line, no wide gap to either side."""
        x0, y0, x1, y1 = box
        overlap = min(self.y1, y1) - max(self.y0, y0)
        gap = max(x0 - self.x1, self.x0 - x1)
        return overlap > 0.3 * min(self.y1 - self.y0, y1 - y0) and gap < _WORD_GAP * max(self.size, 4.0)

    def cut_at(self, edges: Iterable[float]) -> Iterator["Segment"]:
        """Yield the pieces of the segment, cut at the vertical lines at `edges`."""
        bounds = [0, *(bisect(self.starts, edge) for edge in sorted(edges)), len(self.text)]
        for a, b in pairwise(bounds):
            if self.text[a:b].strip():
                x1 = self.starts[b] if b < len(self.text) else self.x1
                yield replace(self, text=self.text[a:b].strip(), x0=self.starts[a], x1=x1, starts=self.starts[a:b])

    @property
    def middle(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2


def convert_script_character(char: str, box: Box, level: Box) -> str:
    """Return a smaller digit or sign above or below the line as a superscript or subscript character; else "".

    level: where the last character on the line stands; boxes reach from the font's ascent to its descent.
    """
    height = level[3] - level[1]
    if char not in DIGITS_RAISED or box[3] - box[1] > _SMALLER * height:
        return ""
    if level[3] - box[3] > _RAISED * height:
        return DIGITS_RAISED[char]
    return DIGITS_LOWERED[char] if box[3] > level[3] else ""


@dataclass
class RuledTable:
    """A ruled table: rows of cell boxes in points; None where a cell is merged into its neighbour."""

    rows: list[list[Box | None]]

    @property
    def is_grid(self) -> bool:
        return len(self.rows) >= 2 and max(len(row) for row in self.rows) >= 2

    def filled(self, cell_of: Callable[[int, int], Cell]) -> list[Row]:
        """Return the grid of its cells' contents, by row and column; a cell that spans several places is repeated."""
        lefts = sorted({cell[0] for row in self.rows for cell in row if cell})
        tops = [min((cell[1] for cell in row if cell), default=0.0) for row in self.rows]
        grid = [[EMPTY] * len(lefts) for _ in self.rows]
        for r, row in enumerate(self.rows):
            for c, box in enumerate(row):
                if box is None or (cell := cell_of(r, c)) is EMPTY:
                    continue
                for below in range(r, len(tops)):
                    for column, left in enumerate(lefts):
                        if tops[below] < box[3] - _TOUCH and box[0] - _TOUCH < left < box[2] - _TOUCH:
                            grid[below][column] = cell
        return grid

    @property
    def box(self) -> Box:
        return compute_bounding_box(cell for row in self.rows for cell in row if cell)


@dataclass
class PdfPage:
    """One page: size in points, runs of characters in file order, ruled tables. number: from 1. unseen: runs that nobody sees.

    is_scan: whether pictures cover most of it. is_bare: whether it shows something, and says nothing that can be read. is_damaged:
    whether it could not be read. links: where words stand that lead somewhere, they and their address.
    """

    number: int
    width: float
    height: float
    segments: list[Segment]
    tables: list[RuledTable]
    unseen: list[Segment] = field(default_factory=list)
    is_scan: bool = False
    is_bare: bool = False
    is_damaged: bool = False
    links: list[tuple[Box, str, str]] = field(default_factory=list)


@dataclass
class TextLine:
    """Segments side by side on one visual line, left to right."""

    segments: list[Segment]
    page: PdfPage

    @property
    def text(self) -> str:
        rtl = _RTL.search(self.segments[0].text) is not None
        return " ".join(segment.text for segment in (reversed(self.segments) if rtl else self.segments))

    @property
    def box(self) -> Box:
        return compute_bounding_box((s.x0, s.y0, s.x1, s.y1) for s in self.segments)

    @property
    def size(self) -> float:
        return max(segment.size for segment in self.segments)

    @property
    def bold(self) -> bool:
        return all(segment.bold for segment in self.segments)

    @property
    def is_hyphenated(self) -> bool:
        return self.segments[-1].is_hyphenated


def group_in_reading_order(segments: list[Segment]) -> Iterator[list[Segment]]:
    """Return segments in groups, in reading order: full-width lines, then columns left to right."""
    ordered = sorted(segments, key=lambda s: (s.y0, s.x0))
    gutter = _find_gutter(ordered)
    if gutter is None:
        if ordered:
            yield ordered
        return
    flow: list[Segment] = []  # what runs over the whole width since the last columns
    for crosses, group in groupby(ordered, key=lambda s: s.x0 < gutter < s.x1):
        band = list(group)
        left = [s for s in band if s.x1 <= gutter]
        right = [s for s in band if s.x0 >= gutter]
        if crosses or not _is_prose(left) or not _is_prose(right):
            flow += band
            continue
        if flow:
            yield flow
            flow = []
        yield from group_in_reading_order(left)
        yield from group_in_reading_order(right)
    if flow:
        yield flow


def _find_gutter(segments: list[Segment]) -> float | None:
    """Return the x that fewest segments cross, within the middle half; None when more than a fifth of them cross it."""
    if len(segments) < 8:
        return None
    left, right = min(s.x0 for s in segments), max(s.x1 for s in segments)
    width = right - left
    candidates = [left + width * (0.25 + 0.5 * i / 60) for i in range(61)]
    crossings = [sum(s.x0 < x < s.x1 for s in segments) for x in candidates]
    fewest = min(crossings)
    if fewest > len(segments) / 5:
        return None
    best = [x for x, count in zip(candidates, crossings, strict=True) if count == fewest]
    return best[len(best) // 2]


def _is_prose(segments: list[Segment]) -> bool:
    """Tell whether it is prose: at least four lines, most filling their column, unlike cells or labels."""
    if len(segments) < 4:
        return False
    width = max(s.x1 for s in segments) - min(s.x0 for s in segments)
    return median(s.x1 - s.x0 for s in segments) > 0.55 * width and median(len(s.text) for s in segments) > 12


def build_lines(segments: Iterable[Segment], page: PdfPage) -> list[TextLine]:
    """Return visual lines, top to bottom; segments that overlap vertically by half share a line."""
    lines: list[TextLine] = []
    for segment in sorted(segments, key=lambda s: (s.middle[1], s.x0)):
        last = lines[-1].segments[0] if lines else None
        if last and min(last.y1, segment.y1) - max(last.y0, segment.y0) > 0.5 * min(
            last.y1 - last.y0, segment.y1 - segment.y0
        ):
            lines[-1].segments.append(segment)
        else:
            lines.append(TextLine([segment], page))
    for line in lines:
        line.segments.sort(key=lambda s: s.x0)
    return lines


def extract_vertical_text(segments: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Return vertical Chinese text, right column first, as a segment for each paragraph; and all other segments."""
    columns: list[list[Segment]] = []
    for segment in segments:  # in the order of the file
        last = columns[-1][-1] if columns else None
        is_below = last is not None and _is_stacked(last, segment)
        if is_below:
            columns[-1].append(segment)
        else:
            columns.append([segment])
    upright = [column for column in columns if len(column) >= _FEWEST_STACKED]
    if len(upright) < 2:
        return [], segments
    size = median(s.size for column in upright for s in column)
    first = min(column[0].y0 for column in upright)
    longest = max(column[-1].y1 for column in upright)
    xs = [column[0].x0 for column in upright]
    short = [c for c in columns if len(c) < _FEWEST_STACKED and all(len(s.text) == 1 and WIDE.match(s.text) for s in c)]
    upright += [c for c in short if min(xs) - 2 * size <= c[0].x0 <= max(xs) + 2 * size and c[0].y0 < longest]
    paragraphs: list[list[Segment]] = []
    for column in sorted(upright, key=lambda item: -item[0].x0):
        before = paragraphs[-1][-1] if paragraphs else None
        goes_on = before is not None and before.y1 > longest - 2 * size and column[0].y0 < first + 1.5 * size
        if goes_on:
            paragraphs[-1] += column
        else:
            paragraphs.append(column)
    taken = {id(s) for column in upright for s in column}
    return [_merge_segments(paragraph) for paragraph in paragraphs], [s for s in segments if id(s) not in taken]


def _is_stacked(above: Segment, segment: Segment) -> bool:
    """Tell whether a Chinese character stands right below another."""
    if len(above.text) != 1 or len(segment.text) != 1 or not WIDE.match(segment.text + above.text):
        return False
    step = segment.middle[1] - above.middle[1]
    return abs(segment.middle[0] - above.middle[0]) < 0.4 * segment.size and 0 < step < _STACKED * segment.size


def _merge_segments(parts: list[Segment]) -> Segment:
    xs, ys = [s.x0 for s in parts] + [s.x1 for s in parts], [s.y0 for s in parts] + [s.y1 for s in parts]
    text = "".join(s.text for s in parts)
    bold = all(s.bold for s in parts)
    return Segment(parts[0].size, bold, text, min(xs), min(ys), max(xs), max(ys), starts=[s.x0 for s in parts])
