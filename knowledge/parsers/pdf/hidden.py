"""Detection of hidden characters in a PDF: drawn invisibly, in the background colour, tiny, or outside the page.

Invisible text over a scanned page is what OCR read there: it stays. What is behind a character is the last rectangle drawn before it,
else the white page; a picture or another shape behind it may be of any colour, and hides nothing. What a rectangle or letters really
draw is looked at before they hide something: they may be filled by a pattern.
"""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfMatrix

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, has_low_contrast
from knowledge.parsers.html.css_values import blend_colours

_MAX_SIDE = 1000  # pixels
_MAX_RENDERED = 30  # objects of a page; those beyond are taken for what PDFium calls them
_MAX_OBJECTS = 5_000  # of a page whose objects are drawn alone: each is switched off and on again
_KEPT = 4  # drawings; the letters of a line and what is behind them come one after the other

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points from the top left of the page."""


class Rendered:
    """Objects of one page, each drawn alone on white. leaves: all of them, without the forms that hold some."""

    def __init__(self, page: pdfium.PdfPage, leaves: list[Any]) -> None:
        self._page, self._leaves = page, leaves
        self._scale = min(1.0, _MAX_SIDE / max(1.0, *page.get_size()))
        self._drawings: OrderedDict[int, pdfium.PdfBitmap] = OrderedDict()
        self._count = 0

    def colour_at(self, drawing: Any, box: Box) -> Colour | None:
        """Return what the object draws in the middle of a box; None where it is not drawn alone any more."""
        bitmap = self._render_or_reuse(drawing)
        return self._read_pixel(bitmap, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if bitmap else None

    def is_blank(self, drawing: Any, box: Box) -> bool:
        """Tell whether the object, alone on white, leaves the box white; True where it is not drawn alone any more."""
        bitmap = self._render_or_reuse(drawing)
        if bitmap is None:
            return True
        left, top, right, bottom = (round(side * self._scale) for side in box)
        points = ((x, y) for x in range(left, right + 1) for y in range(top, bottom + 1))
        return all(
            has_low_contrast(self._read_pixel(bitmap, x / self._scale, y / self._scale), WHITE) for x, y in points
        )

    def _read_pixel(self, bitmap: pdfium.PdfBitmap, x: float, y: float) -> Colour:
        column = min(max(round(x * self._scale), 0), bitmap.width - 1)
        row = min(max(round(y * self._scale), 0), bitmap.height - 1)
        at = row * bitmap.stride + column * bitmap.n_channels
        blue, green, red = bitmap.buffer[at : at + 3]
        return red, green, blue

    def _render_or_reuse(self, drawing: Any) -> pdfium.PdfBitmap | None:
        address = identify_object(drawing)
        if address not in self._drawings:
            if self._count >= _MAX_RENDERED or len(self._leaves) > _MAX_OBJECTS:
                return None
            self._count += 1
            self._drawings[address] = self._render_object(address)
            if len(self._drawings) > _KEPT:
                self._drawings.popitem(last=False)
        self._drawings.move_to_end(address)
        return self._drawings[address]

    def _render_object(self, address: int) -> pdfium.PdfBitmap:
        for leaf in self._leaves:
            pdfium_c.FPDFPageObj_SetIsActive(leaf, identify_object(leaf) == address)
        try:
            return self._page.render(scale=self._scale, may_draw_forms=False, draw_annots=False)
        finally:
            for leaf in self._leaves:
                pdfium_c.FPDFPageObj_SetIsActive(leaf, True)


def identify_object(thing: Any) -> int:
    """Return the address that identifies an object of a page."""
    return ctypes.cast(thing, ctypes.c_void_p).value or 0


_MAX_DEPTH = 5  # of forms inside forms
_MIN_SCAN = 0.5  # share of a page that its pictures cover when it is a scan
_MIN_ALPHA = 0.05
_RECTANGLE_SEGMENTS = range(4, 7)
_INVISIBLE, _CLIPS, _STROKED, _FILLED_AND_STROKED = 3, 7, {1, 5}, {2, 6}
_OPAQUE = 0.9  # below it, any colour may show through
_ROUGHLY_POINTS = 0.5
_THICK_POINTS = 3.0  # of a line that can be a background
_MIN_SHARE = 0.05  # of a letter's width and height to each other
_MIN_LEFT = 0.2  # of a letter's box, where a path cuts it

Bounds = tuple[float, float, float, float]
_NOWHERE: Bounds = (1.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class _DrawnArea:
    """An area drawn behind text. bounds: left, bottom, right, top in points; colour: None where it may be any; order: of drawing."""

    order: int
    bounds: Bounds
    colour: Colour | None
    drawing: Any
    is_picture: bool = False

    def holds(self, place: tuple[float, float]) -> bool:
        left, bottom, right, top = self.bounds
        return left <= place[0] <= right and bottom <= place[1] <= top


@dataclass(frozen=True)
class _Drawn:
    """An object of the page. window: what it is cut to, in points; None where nothing cuts it. opacity: of the forms around it."""

    order: int
    window: Bounds | None = None
    opacity: float = 1.0


@dataclass(frozen=True)
class _Text:
    """The properties shared by a text object's characters. colours: those that may blend in, with how opaque they are."""

    reason: HiddenReason | None
    drawn: _Drawn
    drawing: Any
    colours: tuple[tuple[Colour, float], ...] = ()


class Visibility:
    """The reasons why characters of one page are hidden."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self._objects: dict[int | None, _Drawn] = {}
        self._leaves: list[Any] = []
        self._areas: list[_DrawnArea] = []
        self._rendered = Rendered(page, self._leaves)
        self._collect_objects(page, PdfMatrix())
        self._width, self._height = page.get_size()
        covered = sum((r - l) * (t - b) for l, b, r, t in (area.bounds for area in self._areas if area.is_picture))  # noqa: E741
        self.is_scan = covered >= _MIN_SCAN * self._width * self._height
        self._last: tuple[int, _Text | None] = (-1, None)

    def why_unseen(self, textpage: pdfium.PdfTextPage, index: int, raw: Any, shown: Bounds) -> HiddenReason | None:
        """Return why a character is hidden; None for a visible one. raw: its box in PDF coordinates; shown: in points from the top left."""
        x0, y0, x1, y1 = shown
        if not (0 <= (x0 + x1) / 2 <= self._width and 0 <= (y0 + y1) / 2 <= self._height):
            return HiddenReason.OUTSIDE
        if 0 < max(x1 - x0, y1 - y0) < SMALLEST_POINTS:
            return HiddenReason.TOO_SMALL
        handle = pdfium_c.FPDFText_GetTextObject(textpage.raw, index)
        address = identify_object(handle)
        place = (raw.left + raw.right) / 2, (raw.bottom + raw.top) / 2
        if address != self._last[0] or self._last[1] is None:
            drawn = self._objects.get(address) or _Drawn(len(self._objects))
            self._last = address, self._analyse_text(handle, drawn, place, _is_squeezed(textpage, index))
        text = self._last[1]
        if text is None or text.reason:
            return text.reason if text else None
        if (
            text.drawn.window
            and _compute_visible_share((raw.left, raw.bottom, raw.right, raw.top), text.drawn.window) < _MIN_LEFT
        ):
            return HiddenReason.OUTSIDE
        is_hidden = bool(text.colours) and all(
            self._blends_with_background(colour, alpha, text, place, shown) for colour, alpha in text.colours
        )
        return HiddenReason.COLOUR if is_hidden else None

    def _analyse_text(self, text: Any, drawn: _Drawn, place: tuple[float, float], is_squeezed: bool) -> _Text:
        if is_squeezed:
            return _Text(HiddenReason.TOO_SMALL, drawn, text)
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(text)
        if mode == _CLIPS:  # letters as a clip path, visible where something is drawn in them
            is_filled = any(area.order > drawn.order and area.holds(place) for area in self._areas)
            return _Text(None if is_filled else HiddenReason.INVISIBLE, drawn, text)
        if mode == _INVISIBLE:
            over_scan = self.is_scan and any(area.is_picture and area.holds(place) for area in self._areas)
            return _Text(None if over_scan else HiddenReason.INVISIBLE, drawn, text)
        colours = []
        if mode not in _STROKED:
            colours.append(_read_colour(pdfium_c.FPDFPageObj_GetFillColor, text))
        if mode in _STROKED | _FILLED_AND_STROKED:
            colours.append(_read_colour(pdfium_c.FPDFPageObj_GetStrokeColor, text))
        seen = tuple((colour, alpha * drawn.opacity) for colour, alpha in colours)
        if all(alpha < _MIN_ALPHA for _, alpha in seen):
            return _Text(HiddenReason.INVISIBLE, drawn, text)
        may_blend = all(self._may_blend(colour, alpha) for colour, alpha in seen)
        return _Text(None, drawn, text, seen if may_blend else ())

    def _may_blend(self, colour: Colour, alpha: float) -> bool:
        grounds = {WHITE, *(area.colour for area in self._areas if area.colour)}
        return any(has_low_contrast(blend_colours(colour, ground, alpha), ground) for ground in grounds)

    def _blends_with_background(
        self, colour: Colour, alpha: float, text: _Text, place: tuple[float, float], shown: Bounds
    ) -> bool:
        behind = next(
            (area for area in reversed(self._areas) if area.order < text.drawn.order and area.holds(place)), None
        )
        background = behind.colour if behind else WHITE
        if background is None or not has_low_contrast(blend_colours(colour, background, alpha), background):
            return False
        truth = self._rendered.colour_at(behind.drawing, shown) if behind else WHITE
        if truth and not has_low_contrast(blend_colours(colour, truth, alpha), truth):
            return False
        return colour != WHITE or self._rendered.is_blank(text.drawing, shown)

    def _collect_objects(self, parent: Any, matrix: PdfMatrix, *, depth: int = 0, around: _Drawn | None = None) -> None:
        """Collect the areas that objects fill, and the order of all, forms opened. around: the enclosing form."""
        for item in _iterate_objects(parent):
            opacity = around.opacity if around else 1.0
            window = _intersect_bounds(around.window if around else None, _find_clip_bounds(item, matrix))
            kind = pdfium_c.FPDFPageObj_GetType(item)
            is_form = kind == pdfium_c.FPDF_PAGEOBJ_FORM
            if is_form:
                opacity *= _read_colour(pdfium_c.FPDFPageObj_GetFillColor, item)[1]
            drawn = self._objects[identify_object(item)] = _Drawn(len(self._objects), window, opacity)
            if is_form and depth < _MAX_DEPTH:
                self._collect_objects(item, _read_matrix(item).multiply(matrix), depth=depth + 1, around=drawn)
                continue
            if not is_form:
                self._leaves.append(item)
            if kind != pdfium_c.FPDF_PAGEOBJ_TEXT and (area := _find_covered_area(item, matrix, drawn)):
                self._areas.append(area)


def _find_covered_area(drawing: Any, matrix: PdfMatrix, drawn: _Drawn) -> _DrawnArea | None:
    """Return what an object covers; None for one that covers nothing."""
    kind = pdfium_c.FPDFPageObj_GetType(drawing)
    values = [ctypes.c_float() for _ in range(4)]
    pdfium_c.FPDFPageObj_GetBounds(drawing, *values)
    bounds, colour = matrix.on_rect(*(value.value for value in values)), None
    if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium_c.FPDFPath_GetDrawMode(drawing, fill, stroke)
        is_line = not fill.value and stroke.value and _is_thick(drawing, matrix, bounds)
        if not fill.value and not is_line:
            return None
        read = pdfium_c.FPDFPageObj_GetStrokeColor if is_line else pdfium_c.FPDFPageObj_GetFillColor
        found, alpha = _read_colour(read, drawing)
        if alpha < _MIN_ALPHA:
            return None
        is_opaque = drawn.opacity >= _OPAQUE and alpha >= _OPAQUE and not pdfium_c.FPDFPageObj_HasTransparency(drawing)
        colour = found if is_opaque and (is_line or _is_rectangle(drawing)) else None
    cut = _intersect_bounds(bounds, drawn.window)
    return _DrawnArea(drawn.order, cut, colour, drawing, kind == pdfium_c.FPDF_PAGEOBJ_IMAGE) if cut else None


def _iterate_objects(parent: Any) -> Iterator[Any]:
    """Yield the objects of a page, or of a form."""
    if isinstance(parent, pdfium.PdfPage):
        for index in range(pdfium_c.FPDFPage_CountObjects(parent.raw)):
            yield pdfium_c.FPDFPage_GetObject(parent.raw, index)
    else:
        for index in range(pdfium_c.FPDFFormObj_CountObjects(parent)):
            yield pdfium_c.FPDFFormObj_GetObject(parent, index)


def _read_matrix(thing: Any) -> PdfMatrix:
    found = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(thing, found)
    return PdfMatrix.from_raw(found)


def _read_colour(read: Any, thing: Any) -> tuple[Colour, float]:
    values = [ctypes.c_uint() for _ in range(4)]
    read(thing, *values)
    red, green, blue, alpha = (value.value for value in values)
    return (red, green, blue), alpha / 255


def _compute_visible_share(bounds: Bounds, window: Bounds) -> float:
    """Return the share of a box inside a window, from 0 to 1."""
    left, bottom, right, top = _intersect_bounds(bounds, window) or bounds
    size = (bounds[2] - bounds[0]) * (bounds[3] - bounds[1])
    return (right - left) * (top - bottom) / size if size and (right - left) >= 0 else float(right >= left)


def _intersect_bounds(a: Bounds | None, b: Bounds | None) -> Bounds | None:
    """Return the intersection of two bounds; None is unbounded. An empty box if they do not meet."""
    if a is None or b is None:
        return a or b
    left, bottom, right, top = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return (left, bottom, right, top) if left <= right and bottom <= top else _NOWHERE


def _compute_bounds(points: list[tuple[float, float]]) -> Bounds:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _read_points(segment_at: Callable[[int], Any], count: int) -> list[tuple[float, float]]:
    x, y = ctypes.c_float(), ctypes.c_float()
    found = []
    for index in range(count):
        pdfium_c.FPDFPathSegment_GetPoint(segment_at(index), x, y)
        found.append((x.value, y.value))
    return found


def _find_clip_bounds(thing: Any, matrix: PdfMatrix) -> Bounds | None:
    """Return the bounds of an object's clip paths; None where there are none."""
    clip = pdfium_c.FPDFPageObj_GetClipPath(thing)
    window: Bounds | None = None
    for path in range(max(0, pdfium_c.FPDFClipPath_CountPaths(clip)) if clip else 0):
        segment_at = partial(pdfium_c.FPDFClipPath_GetPathSegment, clip, path)
        points = _read_points(segment_at, max(0, pdfium_c.FPDFClipPath_CountPathSegments(clip, path)))
        if points:
            window = _intersect_bounds(window, _compute_bounds([matrix.on_point(*point) for point in points]))
    return window


def _is_thick(path: Any, matrix: PdfMatrix, bounds: Bounds) -> bool:
    """Tell whether a line is thicker than its path is high or wide: such lines are drawn as backgrounds. bounds: with what it strokes."""
    width = ctypes.c_float()
    pdfium_c.FPDFPageObj_GetStrokeWidth(path, width)
    joined = _read_matrix(path).multiply(matrix)
    thick = width.value * abs(joined.a * joined.d - joined.b * joined.c) ** 0.5
    return bool(thick >= _THICK_POINTS and min(bounds[2] - bounds[0], bounds[3] - bounds[1]) <= 2 * thick)


def _is_squeezed(textpage: pdfium.PdfTextPage, index: int) -> bool:
    """Tell whether letters are scaled so narrow or so flat that nobody sees them."""
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFText_GetMatrix(textpage.raw, index, matrix)
    wide, high = (matrix.a**2 + matrix.b**2) ** 0.5, (matrix.c**2 + matrix.d**2) ** 0.5
    return bool(0 < min(wide, high) < _MIN_SHARE * max(wide, high))


def _is_rectangle(path: Any) -> bool:
    """Tell whether a path is one upright rectangle: it fills all of its bounds."""
    count = pdfium_c.FPDFPath_CountSegments(path)
    if count not in _RECTANGLE_SEGMENTS:
        return False
    points = _read_points(partial(pdfium_c.FPDFPath_GetPathSegment, path), count)
    left, bottom, right, top = _compute_bounds(points)
    return all(
        min(abs(x - left), abs(x - right)) < _ROUGHLY_POINTS and min(abs(y - bottom), abs(y - top)) < _ROUGHLY_POINTS
        for x, y in points
    )
