"""The characters of a PDF's page, and their places on the page as shown."""

import sys
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

NO_CHARACTER = "\ufffd"  # for half a character
_FIRST_HALVES, _SECOND_HALVES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class Placement:
    """PDF coordinates of one page to points from the top left of the page as it is shown (crop box, rotation)."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self.raw = pdfium_c.FS_RECTF()  # of the last character, in PDF coordinates
        self._crop = page.get_bbox()  # what is shown: crop and media box, inherited ones too
        self._rotation = page.get_rotation()

    def box_of(self, textpage: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
        pdfium_c.FPDFText_GetLooseCharBox(textpage.raw, index, self.raw)
        return self.shown()

    def shown(self) -> tuple[float, float, float, float]:
        """Return the place of `raw` on the page."""
        left, bottom, right, top = self._crop
        rect = self.raw
        x0, x1 = rect.left - left, rect.right - left
        y0, y1 = rect.bottom - bottom, rect.top - bottom
        width, height = right - left, top - bottom
        match self._rotation:
            case 90:
                return y0, x0, y1, x1
            case 180:
                return width - x1, y0, width - x0, y1
            case 270:
                return height - y1, width - x1, height - y0, width - x0
            case _:
                return x0, height - y1, x1, height - y0


def iterate_characters(textpage: pdfium.PdfTextPage) -> Iterator[tuple[int, str]]:
    """Yield each character with its place; surrogate pairs (PDFium counts UTF-16) are joined, invalid ones are U+FFFD."""
    first = 0  # of two halves
    for i in range(pdfium_c.FPDFText_CountChars(textpage.raw)):
        code = pdfium_c.FPDFText_GetUnicode(textpage.raw, i)
        if code in _FIRST_HALVES:
            first = code
            continue
        if first and code in _SECOND_HALVES:
            code = 0x10000 + ((first - _FIRST_HALVES.start) << 10) + (code - _SECOND_HALVES.start)
        first = 0
        yield i, chr(code) if code <= sys.maxunicode and code not in _SECOND_HALVES else NO_CHARACTER
