"""Pages of a PDF as images, and where on them a span of the text stands."""

import io
from collections.abc import Sequence
from threading import Lock

import pypdfium2 as pdfium
from django.utils.translation import gettext as _

from copilot_site.lib.errors import NotFound
from knowledge.ingestion.stages import local_copy
from knowledge.models import DocumentVersion
from knowledge.parsers.base import Box
from knowledge.reading import Placed, Span

SCALE = 2.0  # pixels a point: sharp on a laptop, about 200 KB a page
LONGEST_SIDE = 2400  # pixels; a poster must not cost a gigabyte
_PDFIUM = Lock()  # PDFium may be entered by one thread at a time


def page_png(version: DocumentVersion, number: int) -> bytes:
    """A page as PNG. number: from 1. Raises NotFound where there is no such page."""
    with local_copy(version) as path, _PDFIUM:
        document = pdfium.PdfDocument(path)
        try:
            if not 1 <= number <= len(document):
                raise NotFound(_("This document has no such page."))
            page = document[number - 1]
            scale = min(SCALE, LONGEST_SIDE / max(page.get_size()))
            image = page.render(scale=scale).to_pil()
        finally:
            document.close()
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def cited_boxes(blocks: Sequence[Placed], cited: Span | None) -> list[Box]:
    """The lines of these blocks that the span touches, as shares of width and height of their page.

    A block knows the boxes of its lines but not which characters stand in each: characters are taken to be spread over
    the lines by their widths. Of a table, all of it is meant.
    """
    found: list[Box] = []
    for block in blocks:
        inner = cited.within(block.start, block.end) if cited else None
        if inner:
            boxes = block.block.boxes
            found += boxes if block.block.kind == "table" else _touched(boxes, len(block.block.text), inner)
    return found


def _touched(boxes: Sequence[Box], length: int, span: Span) -> list[Box]:
    total = sum(x1 - x0 for x0, _y0, x1, _y1 in boxes)
    found, before = [], 0.0
    for box in boxes:
        after = before + box[2] - box[0]
        slack = total / length / 2  # half a character
        if before < span.end / length * total - slack and after > span.start / length * total + slack:
            found.append(box)
        before = after
    return found
