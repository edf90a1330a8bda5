"""Detection of hidden text on slides: shapes switched off or outside, and tiny, transparent or background-coloured letters.

What is behind letters is their shape's own colour, else a plain white slide with nothing under the shape; all else may be of any colour.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, has_low_contrast
from knowledge.parsers.office.ooxml_names import A, parse_whole_number

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_WHITE_NAMES = ("bg1", "lt1")
_MIN_ALPHA = 5_000  # thousandths of a per cent
_MAX_DEPTH = 8  # of groups in groups
_USUAL_POINTS = 18.0
Area = tuple[float, float, float, float]  # left, top, right, bottom


class Sight:
    """The visibility of one slide's content (python-pptx). size: its width and height."""

    def __init__(self, slide: Any, size: tuple[int, int]) -> None:
        self._slide, self._size = slide, size
        self._placed = {shape.element: (shape, area) for shape, area in _iterate_placed_shapes(slide.shapes)}
        self._is_white = _has_white_background(slide)
        self._behind: dict[Any, Colour | None] = {}

    def why_shape(self, shape: Any) -> HiddenReason | None:
        """Return why a shape is hidden; None if visible."""
        properties = next(shape.element.iter(f"{P}cNvPr"), None)
        if properties is not None and properties.get("hidden") in ("1", "true"):
            return HiddenReason.NOT_DISPLAYED
        _, (left, top, right, bottom) = self._placed.get(shape.element, (None, (0.0, 0.0, *self._size)))
        is_outside = right <= 0 or left >= self._size[0] or bottom <= 0 or top >= self._size[1]
        return HiddenReason.OUTSIDE if is_outside else None

    def why_run(self, run: Any, shape: Any) -> HiddenReason | None:
        """Return why a run of a visible shape is hidden; None if visible."""
        if reason := _find_hidden_reason(run):
            return reason
        if shape.element.tag == f"{P}sp":
            colour = _read_fill_colour(_find_format_property(run, "solidFill"), self._is_white)
            behind = self._find_background(shape) if colour else None
            if colour and behind and has_low_contrast(colour, behind):
                return HiddenReason.COLOUR
        properties = run.find(f"{A}rPr")
        is_struck = properties is not None and properties.get("strike", "noStrike") != "noStrike"
        return HiddenReason.STRUCK if is_struck else None

    def _find_background(self, shape: Any) -> Colour | None:
        """Return the colour behind a shape's text; None where it is unknown."""
        if shape.element not in self._behind:
            self._behind[shape.element] = self._compute_background(shape)
        return self._behind[shape.element]

    def _compute_background(self, shape: Any) -> Colour | None:
        if shape.element not in self._placed:
            return None
        for properties in (
            item.find(f"{P}spPr") for item in (shape.element, *iterate_layout_elements(shape, self._slide))
        ):
            if properties is None:
                continue
            if properties.find(f"{A}noFill") is not None:
                break
            if any(properties.find(f"{A}{name}") is not None for name in _FILLS):
                return _read_fill_colour(properties.find(f"{A}solidFill"), self._is_white)
        else:
            themed = shape.element.find(f"{P}style/{A}fillRef")
            if themed is not None and themed.get("idx") != "0":
                return None
        return (
            WHITE
            if self._is_white
            and not any(_has_overlap(self._find_area(shape), item) for item in self._iterate_areas_below(shape))
            else None
        )

    def _find_area(self, shape: Any) -> Area:
        return self._placed[shape.element][1]

    def _iterate_areas_below(self, shape: Any) -> Iterator[Area]:
        """Yield the boxes drawn before a shape: on its slide, its layout or its master."""
        for element, (_, area) in self._placed.items():
            if element is shape.element:
                break
            yield area
        layout = self._slide.slide_layout
        for item in (*layout.shapes, *layout.slide_master.shapes):
            if not item.is_placeholder:
                yield from (area for _, area in _iterate_placed_shapes([item]))


def iterate_layout_elements(shape: Any, slide: Any) -> Iterator[Any]:
    """Yield the elements of the layout that a placeholder takes its format from."""
    if shape.is_placeholder:
        for placeholder in slide.slide_layout.placeholders:
            if placeholder.placeholder_format.idx == shape.placeholder_format.idx:
                yield placeholder.element


def _iterate_placed_shapes(shapes: Any, depth: int = 0) -> Iterator[tuple[Any, Area]]:
    """Yield shapes with their boxes on the slide, those of groups included, without shapes placed by their layout."""
    for shape in shapes:
        if None in (shape.left, shape.top, shape.width, shape.height):
            continue
        yield shape, (shape.left, shape.top, shape.left + shape.width, shape.top + shape.height)
        inner = getattr(shape, "shapes", None)
        if inner is not None and depth < _MAX_DEPTH:
            to_slide = _build_group_transform(shape)
            for item, (left, top, right, bottom) in _iterate_placed_shapes(inner, depth + 1):
                yield item, (*to_slide(left, top), *to_slide(right, bottom))


def _build_group_transform(group: Any) -> Callable[[float, float], tuple[float, float]]:
    """Return the transformation from the coordinates in a group to those around it."""
    frame = group.element.find(f"{P}grpSpPr/{A}xfrm")
    parts = [frame.find(f"{A}{name}") if frame is not None else None for name in ("chOff", "chExt")]
    begin_x, begin_y = (parse_whole_number(parts[0].get(axis)) if parts[0] is not None else 0 for axis in ("x", "y"))
    wide, high = (parse_whole_number(parts[1].get(axis)) if parts[1] is not None else 0 for axis in ("cx", "cy"))
    factor_x, factor_y = (group.width / wide if wide else 1.0), (group.height / high if high else 1.0)
    return lambda x, y: (group.left + (x - begin_x) * factor_x, group.top + (y - begin_y) * factor_y)


def _has_overlap(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _find_hidden_reason(run: Any) -> HiddenReason | None:
    """Return why letters are hidden on any background."""
    size = _find_format_property(run, "sz")
    scale = (
        parse_whole_number(next((item.get("fontScale") for item in _find_text_body(run).iter(f"{A}normAutofit")), None))
        or 100_000
    )
    points = parse_whole_number(size) / 100 if size else _USUAL_POINTS
    if points * scale / 100_000 < SMALLEST_POINTS:
        return HiddenReason.TOO_SMALL
    if _find_format_property(run, "noFill") is not None and _find_format_property(run, "ln") is None:
        return HiddenReason.INVISIBLE
    fill = _find_format_property(run, "solidFill")
    alphas = [item.get("val", "") for item in fill.iter(f"{A}alpha")] if fill is not None else []
    return HiddenReason.INVISIBLE if any(parse_whole_number(item) < _MIN_ALPHA for item in alphas) else None


def _find_text_body(run: Any) -> Any:
    return next((ancestor for ancestor in run.iterancestors() if ancestor.tag.endswith("}txBody")), run)


def _find_format_property(run: Any, name: str) -> Any:
    """Return an attribute or a part of the format of letters: their own, else that of their list style's level."""
    level = level_of(next(run.iterancestors(f"{A}p"), None))
    for properties in (run.find(f"{A}rPr"), _find_text_body(run).find(f"{A}lstStyle/{A}lvl{level + 1}pPr/{A}defRPr")):
        if properties is None:
            continue
        found = properties.get(name) if name == "sz" else properties.find(f"{A}{name}")
        is_fill = name in ("solidFill", "noFill")
        if found is not None or (is_fill and any(properties.find(f"{A}{fill}") is not None for fill in _FILLS)):
            return found
    return None


def level_of(paragraph: Any) -> int:
    """Return the level of a paragraph, from 0 to 8."""
    properties = paragraph.find(f"{A}pPr") if paragraph is not None else None
    value = properties.get("lvl", "0") if properties is not None else "0"
    return min(max(parse_whole_number(value), 0), 8)


def _read_fill_colour(fill: Any, is_white: bool) -> Colour | None:
    if fill is None or len(fill) != 1:
        return None
    colour, value = fill[0], fill[0].get("val", "")
    if any(not child.tag.endswith("}alpha") for child in colour):
        return None
    if colour.tag == f"{A}srgbClr" and _HEX.fullmatch(value):
        return int(value[:2], 16), int(value[2:4], 16), int(value[4:], 16)
    return WHITE if colour.tag == f"{A}schemeClr" and value in _WHITE_NAMES and is_white else None


def _has_white_background(slide: Any) -> bool:
    """Tell whether a slide is plain white by its master: no background of its own, and the theme's first light colour is white."""
    layout, master = slide.slide_layout, slide.slide_layout.slide_master
    if any(item.element.find(f"{P}cSld/{P}bg") is not None for item in (slide, layout)):
        return False
    ground, mapped = master.element.find(f"{P}cSld/{P}bg"), master.element.find(f"{P}clrMap")
    named = [item.get("val") for item in ground.iter(f"{A}schemeClr")] if ground is not None else ["bg1"]
    if named != ["bg1"] or mapped is None or mapped.get("bg1") != "lt1":
        return False
    if ground is not None and any(next(ground.iter(f"{A}{name}"), None) is not None for name in _FILLS[1:]):
        return False
    theme = next((rel.target_part.blob for rel in master.part.rels.values() if rel.reltype.endswith("/theme")), b"")
    return re.search(rb"<a:lt1>\s*<a:(?:sysClr[^>]*lastClr|srgbClr[^>]*val)=\"FFFFFF\"", theme) is not None
