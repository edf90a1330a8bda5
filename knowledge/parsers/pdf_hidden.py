"""Which characters of a PDF page are not seen: drawn invisibly, of the colour behind them, tiny, or outside the page.

Invisible text over a scanned page is what OCR read there: it stays. What is behind a character is the last rectangle drawn before it,
else the white page; a picture or another shape behind it may be of any colour, and hides nothing. What a rectangle or letters really
draw is looked at before they hide something: they may be filled by a pattern.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from knowledge.parsers.css_values import over
from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, blends_in
from knowledge.parsers.pdf_rendered import Rendered

_MOST_DEPTH = 5  # of forms inside forms
_LEAST_SCAN = 0.5  # share of a page that its pictures cover when it is a scan
_LEAST_ALPHA = 0.05
_RECTANGLE_SEGMENTS = range(4, 7)
_INVISIBLE, _CLIPS, _STROKED, _FILLED_AND_STROKED = 3, 7, {1, 5}, {2, 6}
_OPAQUE = 0.9  # what is less may show any colour
_ROUGHLY_POINTS = 0.5
_THICK_POINTS = 3.0  # of a line that text can stand on
_MOST_SEGMENTS = 10
_LEAST_SHARE = 0.05  # of a letter's width and height to each other

Matrix = tuple[float, float, float, float, float, float]
Bounds = tuple[float, float, float, float]
_LEAST_LEFT = 0.2  # of a letter's box, where a path cuts it
_NOWHERE: Bounds = (1.0, 1.0, 0.0, 0.0)
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Area:
    """What is drawn behind text. bounds: left, bottom, right, top in points; colour: None where it may be any; order: of drawing."""

    order: int
    bounds: Bounds
    colour: Colour | None
    drawing: Any
    is_picture: bool = False

    def holds(self, x: float, y: float) -> bool:
        return _holds(self.bounds, x, y)


@dataclass(frozen=True)
class _Drawn:
    """An object of the page. window: what it is cut to, in points; None where nothing cuts it. opacity: of the forms around it."""

    order: int
    window: Bounds | None = None
    opacity: float = 1.0


@dataclass(frozen=True)
class _Text:
    """What is the same for all characters of a text object. colours: of those that may blend in, with how opaque they are."""

    reason: HiddenReason | None
    drawn: _Drawn
    drawing: Any
    colours: tuple[tuple[Colour, float], ...] = ()


class Visibility:
    """Why characters of one page are not seen."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._objects: dict[int | None, _Drawn] = {}
        self._leaves: list[Any] = []
        self._areas: list[_Area] = []
        self._rendered = Rendered(page, self._leaves)
        self._collect(_objects_of_page(page), _SAME)
        width, height = page.get_size()
        covered = sum((r - l) * (t - b) for l, b, r, t in (area.bounds for area in self._areas if area.is_picture))  # noqa: E741
        self.is_scan = covered >= _LEAST_SCAN * width * height
        self._width, self._height = width, height
        self._last: tuple[int | None, _Text | None] = (-1, None)

    def why_unseen(self, textpage: pdfium.PdfTextPage, index: int, raw: Any, shown: Bounds) -> HiddenReason | None:
        """None for a character that is seen. raw: its box in PDF coordinates; shown: in points from the top left of the page."""
        x0, y0, x1, y1 = shown
        if not (0 <= (x0 + x1) / 2 <= self._width and 0 <= (y0 + y1) / 2 <= self._height):
            return HiddenReason.OUTSIDE
        if 0 < max(x1 - x0, y1 - y0) < SMALLEST_POINTS:
            return HiddenReason.TOO_SMALL
        handle = pdfium_c.FPDFText_GetTextObject(textpage.raw, index)
        address = ctypes.cast(handle, ctypes.c_void_p).value
        place = (raw.left + raw.right) / 2, (raw.bottom + raw.top) / 2
        if address != self._last[0] or self._last[1] is None:
            drawn = self._objects.get(address) or _Drawn(len(self._objects))
            self._last = address, self._text(handle, drawn, place, _is_squeezed(textpage, index))
        text = self._last[1]
        if text is None or text.reason:
            return text.reason if text else None
        if text.drawn.window and _share((raw.left, raw.bottom, raw.right, raw.top), text.drawn.window) < _LEAST_LEFT:
            return HiddenReason.OUTSIDE
        is_hidden = bool(text.colours) and all(
            self._blends(colour, alpha, text, place, shown) for colour, alpha in text.colours
        )
        return HiddenReason.COLOUR if is_hidden else None

    def _text(self, text: Any, drawn: _Drawn, place: tuple[float, float], is_squeezed: bool) -> _Text:
        if is_squeezed:
            return _Text(HiddenReason.TOO_SMALL, drawn, text)
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(text)
        if mode == _CLIPS:  # letters as a window, seen where something is drawn behind them
            is_filled = any(area.order > drawn.order and area.holds(*place) for area in self._areas)
            return _Text(None if is_filled else HiddenReason.INVISIBLE, drawn, text)
        if mode == _INVISIBLE:
            over_scan = self.is_scan and any(area.is_picture and area.holds(*place) for area in self._areas)
            return _Text(None if over_scan else HiddenReason.INVISIBLE, drawn, text)
        colours = []
        if mode not in _STROKED:
            colours.append(_colour(pdfium_c.FPDFPageObj_GetFillColor, text))
        if mode in _STROKED | _FILLED_AND_STROKED:
            colours.append(_colour(pdfium_c.FPDFPageObj_GetStrokeColor, text))
        seen = tuple((colour, alpha * drawn.opacity) for colour, alpha in colours)
        if all(alpha < _LEAST_ALPHA for _, alpha in seen):
            return _Text(HiddenReason.INVISIBLE, drawn, text)
        may_blend = all(self._may_blend(colour, alpha) for colour, alpha in seen)
        return _Text(None, drawn, text, seen if may_blend else ())

    def _may_blend(self, colour: Colour, alpha: float) -> bool:
        grounds = {WHITE, *(area.colour for area in self._areas if area.colour)}
        return any(blends_in(over(colour, ground, alpha), ground) for ground in grounds)

    def _blends(self, colour: Colour, alpha: float, text: _Text, place: tuple[float, float], shown: Bounds) -> bool:
        behind = next(
            (area for area in reversed(self._areas) if area.order < text.drawn.order and area.holds(*place)), None
        )
        background = behind.colour if behind else WHITE
        if background is None or not blends_in(over(colour, background, alpha), background):
            return False
        truth = self._rendered.colour_at(behind.drawing, shown) if behind else WHITE
        if truth and not blends_in(over(colour, truth, alpha), truth):
            return False
        return colour != WHITE or self._rendered.is_blank(text.drawing, shown)

    def _collect(self, objects: Iterator[Any], matrix: Matrix, *, depth: int = 0, around: _Drawn | None = None) -> None:
        """The areas that objects fill, and the order of all, forms opened. around: the form that they stand in."""
        for each in objects:
            order, opacity = len(self._objects), around.opacity if around else 1.0
            window = _joint(around.window if around else None, _window(each, matrix))
            kind = pdfium_c.FPDFPageObj_GetType(each)
            if kind == pdfium_c.FPDF_PAGEOBJ_FORM:
                opacity *= _colour(pdfium_c.FPDFPageObj_GetFillColor, each)[1]
            drawn = self._objects[ctypes.cast(each, ctypes.c_void_p).value] = _Drawn(order, window, opacity)
            if kind != pdfium_c.FPDF_PAGEOBJ_FORM:
                self._leaves.append(each)
            if kind == pdfium_c.FPDF_PAGEOBJ_TEXT:
                continue
            if kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _MOST_DEPTH:
                self._collect(_objects_of_form(each), _joined(_matrix(each), matrix), depth=depth + 1, around=drawn)
                continue
            area = _area(each, matrix, drawn)
            if area:
                self._areas.append(area)


def _area(drawing: Any, matrix: Matrix, drawn: _Drawn) -> _Area | None:
    """What an object covers; None for one that covers nothing."""
    kind = pdfium_c.FPDFPageObj_GetType(drawing)
    bounds, colour = _bounds(drawing, matrix), None
    if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
        line = None if _fills(drawing) else _thick_line(drawing, matrix)
        if line is None and not _fills(drawing):
            return None
        read = pdfium_c.FPDFPageObj_GetStrokeColor if line else pdfium_c.FPDFPageObj_GetFillColor
        said, alpha = _colour(read, drawing)
        if alpha < _LEAST_ALPHA:
            return None
        is_opaque = drawn.opacity >= _OPAQUE and alpha >= _OPAQUE and not pdfium_c.FPDFPageObj_HasTransparency(drawing)
        colour = said if is_opaque and (line or _is_rectangle(drawing)) else None
        bounds = line or bounds
    cut = _joint(bounds, drawn.window)
    return _Area(drawn.order, cut, colour, drawing, kind == pdfium_c.FPDF_PAGEOBJ_IMAGE) if cut else None


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


def _holds(bounds: Bounds, x: float, y: float) -> bool:
    left, bottom, right, top = bounds
    return left <= x <= right and bottom <= y <= top


def _share(bounds: Bounds, window: Bounds) -> float:
    """How much of something a window leaves, from 0 to 1."""
    left, bottom, right, top = _joint(bounds, window) or bounds
    size = (bounds[2] - bounds[0]) * (bounds[3] - bounds[1])
    return (right - left) * (top - bottom) / size if size and (right - left) >= 0 else float(right >= left)


def _joint(a: Bounds | None, b: Bounds | None) -> Bounds | None:
    """What lies in both; None is no bound. Where nothing does, a place that holds nothing."""
    if a is None or b is None:
        return a or b
    left, bottom, right, top = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return (left, bottom, right, top) if left <= right and bottom <= top else _NOWHERE


def _window(thing: Any, matrix: Matrix) -> Bounds | None:
    """What the paths that cut an object leave of the page, at most; None where none does."""
    clip = pdfium_c.FPDFPageObj_GetClipPath(thing)
    window: Bounds | None = None
    for path in range(max(0, pdfium_c.FPDFClipPath_CountPaths(clip)) if clip else 0):
        count = pdfium_c.FPDFClipPath_CountPathSegments(clip, path)
        points = [
            _point(pdfium_c.FPDFClipPath_GetPathSegment(clip, path, index), matrix) for index in range(max(0, count))
        ]
        if points:
            xs, ys = zip(*points, strict=True)
            window = _joint(window, (min(xs), min(ys), max(xs), max(ys)))
    return window


def _point(segment: Any, matrix: Matrix) -> tuple[float, float]:
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
    a, b, c, d, e, f = matrix
    return a * x.value + c * y.value + e, b * x.value + d * y.value + f


def _thick_line(path: Any, matrix: Matrix) -> Bounds | None:
    """What a line covers that is thicker than its path is high or wide: such lines are drawn as backgrounds."""
    fill, stroke, width = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
    if not (pdfium_c.FPDFPath_GetDrawMode(path, fill, stroke) and stroke.value):
        return None
    pdfium_c.FPDFPageObj_GetStrokeWidth(path, width)
    joined = _joined(_matrix(path), matrix)
    count = min(pdfium_c.FPDFPath_CountSegments(path), _MOST_SEGMENTS)
    points = [_point(pdfium_c.FPDFPath_GetPathSegment(path, index), joined) for index in range(count)]
    thick = width.value * abs(joined[0] * joined[3] - joined[1] * joined[2]) ** 0.5
    if not points or thick < _THICK_POINTS:
        return None
    xs, ys = zip(*points, strict=True)
    if min(max(xs) - min(xs), max(ys) - min(ys)) > thick:
        return None
    half = thick / 2
    if max(ys) - min(ys) <= max(xs) - min(xs):
        return min(xs), min(ys) - half, max(xs), max(ys) + half
    return min(xs) - half, min(ys), max(xs) + half, max(ys)


def _is_squeezed(textpage: pdfium.PdfTextPage, index: int) -> bool:
    """Whether letters are pressed together, to one side or the other, until nobody sees them."""
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFText_GetMatrix(textpage.raw, index, matrix)
    wide, high = (matrix.a**2 + matrix.b**2) ** 0.5, (matrix.c**2 + matrix.d**2) ** 0.5
    return bool(0 < min(wide, high) < _LEAST_SHARE * max(wide, high))


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
