"""Which characters of a PDF page are not seen: drawn invisibly, of the colour behind them, tiny, or outside the page.

Invisible text over a scanned page is what OCR read there: it stays. What is behind a character is the last rectangle drawn before it,
else the white page; a picture, a pattern or another shape behind it may be of any colour, and hides nothing.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, blends_in

_MOST_DEPTH = 5  # of forms inside forms
_LEAST_SCAN = 0.5  # share of a page that its pictures cover when it is a scan
_LEAST_ALPHA = 0.05
_RECTANGLE_SEGMENTS = range(4, 7)
_INVISIBLE, _CLIPS, _STROKED, _FILLED_AND_STROKED = 3, 7, {1, 5}, {2, 6}
_OPAQUE = 0.9  # what is less may show any colour
_ROUGHLY_POINTS = 0.5

Matrix = tuple[float, float, float, float, float, float]
Bounds = tuple[float, float, float, float]
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Area:
    """What is drawn behind text. bounds: left, bottom, right, top in points; colour: None where it may be any; order: of drawing."""

    order: int
    bounds: Bounds
    colour: Colour | None
    is_picture: bool = False

    def holds(self, x: float, y: float) -> bool:
        left, bottom, right, top = self.bounds
        return left <= x <= right and bottom <= y <= top


class Visibility:
    """Why characters of one page are not seen."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._order: dict[int | None, int] = {}
        self._areas: list[_Area] = []
        self._collect(_objects_of_page(page), _SAME)
        width, height = page.get_size()
        covered = sum((r - l) * (t - b) for l, b, r, t in (area.bounds for area in self._areas if area.is_picture))  # noqa: E741
        self._is_scan = covered >= _LEAST_SCAN * width * height
        self._width, self._height = width, height
        self._last: tuple[int | None, HiddenReason | None] = (-1, None)

    def why_unseen(self, textpage: pdfium.PdfTextPage, index: int, raw: Any, shown: Bounds) -> HiddenReason | None:
        """None for a character that is seen. raw: its box in PDF coordinates; shown: in points from the top left of the page."""
        x0, y0, x1, y1 = shown
        if not (0 <= (x0 + x1) / 2 <= self._width and 0 <= (y0 + y1) / 2 <= self._height):
            return HiddenReason.OUTSIDE
        if 0 < max(x1 - x0, y1 - y0) < SMALLEST_POINTS:
            return HiddenReason.TOO_SMALL
        text = pdfium_c.FPDFText_GetTextObject(textpage.raw, index)
        address = ctypes.cast(text, ctypes.c_void_p).value
        if address != self._last[0]:
            place = (raw.left + raw.right) / 2, (raw.bottom + raw.top) / 2
            self._last = address, self._drawn(text, self._order.get(address, len(self._order)), place)
        return self._last[1]

    def _drawn(self, text: Any, order: int, place: tuple[float, float]) -> HiddenReason | None:
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(text)
        if mode == _CLIPS:  # letters as a window, seen where something is drawn behind them
            is_filled = any(area.order > order and area.holds(*place) for area in self._areas)
            return None if is_filled else HiddenReason.INVISIBLE
        if mode == _INVISIBLE:
            over_scan = self._is_scan and any(area.is_picture and area.holds(*place) for area in self._areas)
            return None if over_scan else HiddenReason.INVISIBLE
        colours = []
        if mode not in _STROKED:
            colours.append(_colour(pdfium_c.FPDFPageObj_GetFillColor, text))
        if mode in _STROKED | _FILLED_AND_STROKED:
            colours.append(_colour(pdfium_c.FPDFPageObj_GetStrokeColor, text))
        if all(alpha < _LEAST_ALPHA for _, alpha in colours):
            return HiddenReason.INVISIBLE
        return HiddenReason.COLOUR if all(self._blends(colour, order, place) for colour, _ in colours) else None

    def _blends(self, colour: Colour, order: int, place: tuple[float, float]) -> bool:
        rivals = any(area.colour and blends_in(colour, area.colour) for area in self._areas)
        if not rivals and not blends_in(colour, WHITE):
            return False
        behind = next((area for area in reversed(self._areas) if area.order < order and area.holds(*place)), None)
        background = behind.colour if behind else WHITE
        return background is not None and blends_in(colour, background)

    def _collect(self, objects: Iterator[Any], matrix: Matrix, *, depth: int = 0, is_opaque: bool = True) -> None:
        """The areas that objects fill, and the order of all, forms opened."""
        for each in objects:
            self._order[ctypes.cast(each, ctypes.c_void_p).value] = order = len(self._order)
            kind = pdfium_c.FPDFPageObj_GetType(each)
            if kind == pdfium_c.FPDF_PAGEOBJ_TEXT:
                continue
            opaque = is_opaque and not pdfium_c.FPDFPageObj_HasTransparency(each)
            if kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _MOST_DEPTH:
                inner = _joined(_matrix(each), matrix)
                self._collect(_objects_of_form(each), inner, depth=depth + 1, is_opaque=opaque)
                continue
            colour: Colour | None = None
            if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
                if not _fills(each):
                    continue
                said, alpha = _colour(pdfium_c.FPDFPageObj_GetFillColor, each)
                if alpha < _LEAST_ALPHA:
                    continue
                colour = said if opaque and alpha >= _OPAQUE and _is_rectangle(each) else None
            is_picture = kind == pdfium_c.FPDF_PAGEOBJ_IMAGE
            self._areas.append(_Area(order, _bounds(each, matrix), colour, is_picture))


def _objects_of_page(page: pdfium.PdfPage) -> Iterator[Any]:
    for index in range(pdfium_c.FPDFPage_CountObjects(page.raw)):
        yield pdfium_c.FPDFPage_GetObject(page.raw, index)


def _objects_of_form(form: Any) -> Iterator[Any]:
    for index in range(pdfium_c.FPDFFormObj_CountObjects(form)):
        yield pdfium_c.FPDFFormObj_GetObject(form, index)


def _matrix(thing: Any) -> Matrix:
    found = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(thing, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _joined(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _bounds(thing: Any, matrix: Matrix) -> Bounds:
    values = [ctypes.c_float() for _ in range(4)]
    pdfium_c.FPDFPageObj_GetBounds(thing, *values)
    left, bottom, right, top = (value.value for value in values)
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (bottom, top)]
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _colour(read: Any, thing: Any) -> tuple[Colour, float]:
    values = [ctypes.c_uint() for _ in range(4)]
    read(thing, *values)
    red, green, blue, alpha = (value.value for value in values)
    return (red, green, blue), alpha / 255


def _fills(path: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    return bool(pdfium_c.FPDFPath_GetDrawMode(path, fill, stroke)) and fill.value != pdfium_c.FPDF_FILLMODE_NONE


def _is_rectangle(path: Any) -> bool:
    """Whether a path is one upright rectangle: it fills all of its bounds."""
    count = pdfium_c.FPDFPath_CountSegments(path)
    if count not in _RECTANGLE_SEGMENTS:
        return False
    x, y = ctypes.c_float(), ctypes.c_float()
    points = []
    for index in range(count):
        pdfium_c.FPDFPathSegment_GetPoint(pdfium_c.FPDFPath_GetPathSegment(path, index), x, y)
        points.append((x.value, y.value))
    xs, ys = zip(*points, strict=True)
    corners = [(abs(px - min(xs)), abs(px - max(xs)), abs(py - min(ys)), abs(py - max(ys))) for px, py in points]
    return all(min(a, b) < _ROUGHLY_POINTS and min(c, d) < _ROUGHLY_POINTS for a, b, c, d in corners)
