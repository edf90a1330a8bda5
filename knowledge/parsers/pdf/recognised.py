"""Text recognised in a picture: lines with their places, and the blocks they make."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from statistics import median
from typing import Any

from knowledge.parsers.blocks import Block, Box, Picture
from knowledge.parsers.pdf.geometry import PdfPage, Segment
from knowledge.parsers.pdf.layout import build_blocks

LINE = 12.0
_STEP = 1.25  # between sizes of letters: boxes of lines are a little higher or lower with each letter
_SIZE_A_HEIGHT = 0.75  # of a font, to the box around its line


@dataclass(frozen=True)
class RecognisedLine:
    """One line, or one cell of it, as it stands on a picture. box: shares of its width and height."""

    text: str
    box: Box


@dataclass(frozen=True)
class RecognisedPage:
    """The text of a picture, turned upright. width, height: in points for a page, in pixels for another picture.

    turns: quarters by which the picture was turned to the left for that.
    """

    width: float
    height: float
    lines: tuple[RecognisedLine, ...] = ()
    turns: int = 0

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "RecognisedPage":
        lines = tuple(RecognisedLine(line["text"], tuple(line["box"])) for line in value["lines"])
        return cls(value["width"], value["height"], lines, value["turns"])


def build_picture_blocks(found: Mapping[Picture, RecognisedPage]) -> dict[Picture, list[Block]]:
    """Return the blocks of each picture in reading order, with paragraphs, lists and tables as far as their places show.

    Those of a page are headings where they are larger, and know their places on it; those of a picture inside a text are neither.
    """
    pages = [_build_page(number, item) for number, item in enumerate(found.values(), start=1)]
    whole = [page for picture, page in zip(found, pages, strict=True) if not picture.name]
    inside = [page for picture, page in zip(found, pages, strict=True) if picture.name]
    blocks = build_blocks(whole) + [block for page in inside for block in build_blocks([page])]
    of_page: dict[int | None, list[Block]] = {}
    for block in blocks:
        of_page.setdefault(block.page, []).append(block)
    return {
        picture: [_place_block(picture, block, page.turns) for block in of_page.get(number, [])]
        for number, (picture, page) in enumerate(found.items(), start=1)
    }


def _place_block(picture: Picture, block: Block, turns: int) -> Block:
    boxes = tuple(_rotate_back(box, turns) for box in block.boxes)
    block = replace(block, page=picture.page, boxes=boxes, is_recognised=True)
    if not picture.name:
        return block
    kind = "paragraph" if block.kind == "heading" else block.kind
    return replace(block, kind=kind, level=None, boxes=())


def _rotate_back(box: Box, turns: int) -> Box:
    """Convert a box on the turned picture to one on the original picture."""
    for _ in range(turns):
        x0, y0, x1, y1 = box
        box = 1 - y1, x0, 1 - y0, x1
    return box


def _build_page(number: int, found: RecognisedPage) -> PdfPage:
    """Return the picture as a page on which the usual line is LINE points high, however large it is."""
    heights = [(line.box[3] - line.box[1]) * found.height for line in found.lines]
    scale = LINE / (median(heights) if heights else LINE)
    page = PdfPage(number, found.width * scale, found.height * scale, [], [])
    page.segments = [
        _build_segment(line, height * scale, page) for line, height in zip(found.lines, heights, strict=True)
    ]
    return page


def _build_segment(line: RecognisedLine, height: float, page: PdfPage) -> Segment:
    x0, x1 = line.box[0] * page.width, line.box[2] * page.width
    y0, y1 = line.box[1] * page.height, line.box[3] * page.height
    size = _SIZE_A_HEIGHT * LINE * _STEP ** round(log(max(height, 1.0) / LINE, _STEP))
    width = (x1 - x0) / len(line.text)
    starts = [x0 + width * place for place in range(len(line.text))]
    return Segment(size, bold=False, text=line.text, x0=x0, y0=y0, x1=x1, y1=y1, starts=starts)
