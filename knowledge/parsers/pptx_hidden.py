"""What nobody sees of a slide: shapes switched off or beside it, and letters that are tiny, clear or of the colour behind them.

What is behind letters is their shape's own colour, else a plain white slide with nothing under the shape; all else may be of any colour.
"""

import re
from collections.abc import Iterator
from typing import Any

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, blends_in

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_WHITE_NAMES = ("bg1", "lt1")
_LEAST_ALPHA = 5_000  # thousandths of a per cent
_MOST_DEPTH = 8  # of groups in groups
_USUAL_POINTS = 18.0
Place = tuple[float, float, float, float]  # left, top, right, bottom


def unseen(slide: Any, width: int, height: int) -> Iterator[tuple[Any, HiddenReason]]:
    """The elements that nobody sees, shapes before letters."""
    for properties in slide.shapes.element.iter("{*}cNvPr"):
        if properties.get("hidden") in ("1", "true"):
            yield properties.getparent().getparent(), HiddenReason.NOT_DISPLAYED
    placed = list(_placed(slide.shapes))
    for shape, (left, top, right, bottom) in placed:
        if right <= 0 or left >= width or bottom <= 0 or top >= height:
            yield shape.element, HiddenReason.OUTSIDE
    is_white = _is_white(slide)
    for number, (shape, place) in enumerate(placed):
        yield from _letters(shape, slide, place, [before for _, before in placed[:number]], is_white)
    for frame in slide.shapes.element.iter(f"{_P}graphicFrame"):
        for run in frame.iter(f"{_A}r"):
            if reason := _drawn(run):
                yield run, reason


def _placed(shapes: Any, depth: int = 0) -> Iterator[tuple[Any, Place]]:
    """Shapes with where they lie on the slide, those of groups included; not those that their layout puts somewhere."""
    for shape in shapes:
        if None in (shape.left, shape.top, shape.width, shape.height):
            continue
        yield shape, (shape.left, shape.top, shape.left + shape.width, shape.top + shape.height)
        inner = getattr(shape, "shapes", None)
        if inner is not None and depth < _MOST_DEPTH:
            to_slide = _scale(shape)
            for each, (left, top, right, bottom) in _placed(inner, depth + 1):
                yield each, (*to_slide(left, top), *to_slide(right, bottom))


def _scale(group: Any) -> Any:
    """From the coordinates inside a group to those around it."""
    frame = group.element.find(f"{_P}grpSpPr/{_A}xfrm")
    parts = [frame.find(f"{_A}{name}") if frame is not None else None for name in ("chOff", "chExt")]
    begin_x, begin_y = (int(parts[0].get(axis, 0)) if parts[0] is not None else 0 for axis in ("x", "y"))
    wide, high = (int(parts[1].get(axis, 0)) if parts[1] is not None else 0 for axis in ("cx", "cy"))

    def scaled(x: float, y: float) -> tuple[float, float]:
        factor_x, factor_y = (group.width / wide if wide else 1.0), (group.height / high if high else 1.0)
        return group.left + (x - begin_x) * factor_x, group.top + (y - begin_y) * factor_y

    return scaled


def _letters(
    shape: Any, slide: Any, place: Place, before: list[Place], is_white: bool
) -> Iterator[tuple[Any, HiddenReason]]:
    if shape.element.tag != f"{_P}sp":
        return
    background = _behind(shape, slide, place, before, is_white)
    for run in shape.element.iter(f"{_A}r"):
        colour = _colour(_said(run, "solidFill"), is_white)
        if reason := _drawn(run):
            yield run, reason
        elif colour and background and blends_in(colour, background):
            yield run, HiddenReason.COLOUR


def _drawn(run: Any) -> HiddenReason | None:
    """Why letters are not seen, whatever is behind them."""
    size = _said(run, "sz")
    scale = next((each.get("fontScale", "") for each in _body(run).iter(f"{_A}normAutofit")), "")
    points = int(size) / 100 if str(size or "").isdecimal() else _USUAL_POINTS
    if points * (int(scale) / 100_000 if scale.isdecimal() else 1.0) < SMALLEST_POINTS:
        return HiddenReason.TOO_SMALL
    if _said(run, "noFill") is not None and _said(run, "ln") is None:
        return HiddenReason.INVISIBLE
    fill = _said(run, "solidFill")
    alphas = [each.get("val", "") for each in fill.iter(f"{_A}alpha")] if fill is not None else []
    return HiddenReason.INVISIBLE if any(each.isdecimal() and int(each) < _LEAST_ALPHA for each in alphas) else None


def _body(run: Any) -> Any:
    return next((each for each in run.iterancestors() if each.tag.endswith("}txBody")), run)


def _said(run: Any, name: str) -> Any:
    """An attribute or a part of the format of letters: their own, else what their text's list style says of its level."""
    paragraph = next(run.iterancestors(f"{_A}p"), None)
    properties = paragraph.find(f"{_A}pPr") if paragraph is not None else None
    level = (
        int(properties.get("lvl", 0)) + 1 if properties is not None and properties.get("lvl", "0").isdecimal() else 1
    )
    for said in (run.find(f"{_A}rPr"), _body(run).find(f"{_A}lstStyle/{_A}lvl{level}pPr/{_A}defRPr")):
        if said is None:
            continue
        found = said.get(name) if name == "sz" else said.find(f"{_A}{name}")
        if found is not None or (
            name in ("solidFill", "noFill") and any(said.find(f"{_A}{fill}") is not None for fill in _FILLS)
        ):
            return found
    return None


def _behind(shape: Any, slide: Any, place: Place, before: list[Place], is_white: bool) -> Colour | None:
    """The colour behind a shape's letters; None where it may be any."""
    same = [
        each
        for each in (slide.slide_layout.placeholders if shape.is_placeholder else ())
        if each.placeholder_format.idx == shape.placeholder_format.idx
    ]
    for properties in (each.element.find(f"{_P}spPr") for each in (shape, *same)):
        if properties is None:
            continue
        if properties.find(f"{_A}noFill") is not None:
            break
        if any(properties.find(f"{_A}{name}") is not None for name in _FILLS):
            return _colour(properties.find(f"{_A}solidFill"), is_white)
    else:
        themed = shape.element.find(f"{_P}style/{_A}fillRef")
        if themed is not None and themed.get("idx") != "0":
            return None
    drawn = [other for kind in (slide.slide_layout, slide.slide_layout.slide_master) for each in kind.shapes
             for _, other in _placed([each]) if not each.is_placeholder]  # fmt: skip
    return WHITE if is_white and not any(_meet(place, other) for other in [*before, *drawn]) else None


def _meet(a: Place, b: Place) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _colour(fill: Any, is_white: bool) -> Colour | None:
    if fill is None or len(fill) != 1:
        return None
    said, value = fill[0], fill[0].get("val", "")
    if any(not child.tag.endswith("}alpha") for child in said):
        return None
    if said.tag == f"{_A}srgbClr" and _HEX.fullmatch(value):
        return int(value[:2], 16), int(value[2:4], 16), int(value[4:], 16)
    return WHITE if said.tag == f"{_A}schemeClr" and value in _WHITE_NAMES and is_white else None


def _is_white(slide: Any) -> bool:
    """Whether a slide is plain white by its master: no background of its own, and the theme's first light colour is white."""
    layout, master = slide.slide_layout, slide.slide_layout.slide_master
    if any(each.element.find(f"{_P}cSld/{_P}bg") is not None for each in (slide, layout)):
        return False
    ground, mapped = master.element.find(f"{_P}cSld/{_P}bg"), master.element.find(f"{_P}clrMap")
    named = [each.get("val") for each in ground.iter(f"{_A}schemeClr")] if ground is not None else ["bg1"]
    if named != ["bg1"] or mapped is None or mapped.get("bg1") != "lt1":
        return False
    if ground is not None and any(next(ground.iter(f"{_A}{name}"), None) is not None for name in _FILLS[1:]):
        return False
    theme = next((each.target_part.blob for each in master.part.rels.values() if each.reltype.endswith("/theme")), b"")
    return re.search(rb"<a:lt1>\s*<a:(?:sysClr[^>]*lastClr|srgbClr[^>]*val)=\"FFFFFF\"", theme) is not None
