"""What an object of a PDF page really draws: PDFium calls a pattern white, or grey. It is asked to draw that object alone."""

import ctypes
from collections import OrderedDict
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from knowledge.parsers.hidden import WHITE, Colour, blends_in

_LONGEST_SIDE = 1000  # pixels
_MOST_RENDERED = 30  # objects of a page; those beyond are taken for what PDFium calls them
_MOST_OBJECTS = 5_000  # of a page whose objects are drawn alone: each is switched off and on again
_KEPT = 4  # drawings; the letters of a line and what is behind them come one after the other

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points from the top left of the page."""


class Rendered:
    """Objects of one page, each drawn alone on white. leaves: all of them, without the forms that hold some."""

    def __init__(self, page: pdfium.PdfPage, leaves: list[Any]) -> None:
        self._page, self._leaves = page, leaves
        self._scale = min(1.0, _LONGEST_SIDE / max(1.0, *page.get_size()))
        self._drawings: OrderedDict[int, pdfium.PdfBitmap] = OrderedDict()
        self._count = 0

    def colour_at(self, drawing: Any, box: Box) -> Colour | None:
        """What the object draws in the middle of a box; None where it is not drawn alone any more."""
        bitmap = self._alone(drawing)
        return self._pixel(bitmap, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if bitmap else None

    def is_blank(self, drawing: Any, box: Box) -> bool:
        """Whether the object, alone on white, leaves the box white; also where it is not drawn alone any more."""
        bitmap = self._alone(drawing)
        if bitmap is None:
            return True
        left, top, right, bottom = (round(side * self._scale) for side in box)
        points = ((x, y) for x in range(left, right + 1) for y in range(top, bottom + 1))
        return all(blends_in(self._pixel(bitmap, x / self._scale, y / self._scale), WHITE) for x, y in points)

    def _pixel(self, bitmap: pdfium.PdfBitmap, x: float, y: float) -> Colour:
        column = min(max(round(x * self._scale), 0), bitmap.width - 1)
        row = min(max(round(y * self._scale), 0), bitmap.height - 1)
        at = row * bitmap.stride + column * bitmap.n_channels
        blue, green, red = bitmap.buffer[at : at + 3]
        return red, green, blue

    def _alone(self, drawing: Any) -> pdfium.PdfBitmap | None:
        address = address_of(drawing)
        if address not in self._drawings:
            if self._count >= _MOST_RENDERED or len(self._leaves) > _MOST_OBJECTS:
                return None
            self._count += 1
            self._drawings[address] = self._draw(address)
            if len(self._drawings) > _KEPT:
                self._drawings.popitem(last=False)
        self._drawings.move_to_end(address)
        return self._drawings[address]

    def _draw(self, address: int) -> pdfium.PdfBitmap:
        for leaf in self._leaves:
            pdfium_c.FPDFPageObj_SetIsActive(leaf, address_of(leaf) == address)
        try:
            return self._page.render(scale=self._scale, may_draw_forms=False, draw_annots=False)
        finally:
            for leaf in self._leaves:
                pdfium_c.FPDFPageObj_SetIsActive(leaf, True)


def address_of(thing: Any) -> int:
    """Return what tells one object of a page from another."""
    return ctypes.cast(thing, ctypes.c_void_p).value or 0
