"""Detection of hidden text in an HTML page, by styles and attributes.

What a click opens (`<details>`) can be seen. A background that is a picture, or a colour that is not understood, hides nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, has_low_contrast
from knowledge.parsers.html.css import Stylesheet, matches_wide_screen, substitute_variables
from knowledge.parsers.html.css_values import (
    PX_PER_POINT,
    blend_colours,
    parse_length,
    parse_number,
    parse_shade,
    split_outside_brackets,
)

_PICTURE = re.compile(r"url\(|gradient\(|image-set\(")
_MOVED = re.compile(r"translate(?:[xy]|3d)?\(([^()]*)\)")
_SCALED = re.compile(r"scale(?:[xy]|3d)?\(([^()]*)\)")
_FADED = re.compile(r"opacity\(([^()]*)\)")
_INSET = re.compile(r"inset\(([^()]*?)(?:round [^()]*)?\)")
_SIZE_IN_FONT = re.compile(r"(?:^|\s)((?:\d|\.\d)[\d.]*[a-z%]*)(?=[/\s])")
_NEVER_SHOWN = frozenset(("template", "noscript", "noframes", "noembed", "datalist", "iframe", "audio", "video", "canvas",
                          "object", "progress", "meter", "rp", "annotation", "annotation-xml"))  # fmt: skip
_NOT_OF_A_DRAWING = frozenset(("title", "desc", "metadata", "defs", "symbol"))  # of SVG
_STRUCK = frozenset(("del", "s", "strike"))
_SPECIAL = _NEVER_SHOWN | _NOT_OF_A_DRAWING | _STRUCK | {"dialog"}
_OF_TABLES = frozenset(("table", "thead", "tbody", "tfoot", "tr", "td", "th"))  # grow with their content
_ATTRIBUTES = frozenset(
    ("style", "hidden", "popover", "color", "text", "bgcolor", "background", "fill", "opacity", "font-size")
)
_SIDES = ("top", "right", "bottom", "left")
_FAR_PX = (-500.0, 5000.0)  # unreachable by scrolling
_MIN_PX = 1.0  # of a box that clips its content
_MIN_OPACITY = _MIN_SCALE = 0.05
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}


@dataclass(frozen=True)
class InheritedLook:
    """The look that children inherit. reason: why all in it is hidden. background: None where it is not known."""

    reason: HiddenReason | None = None
    colour: Colour | None = (0, 0, 0)
    background: Colour | None = WHITE
    alpha: float = 1.0
    opacity: float = 1.0
    shadow: Colour | None = None
    size_px: float = 16.0
    is_drawn: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_unseen(self) -> HiddenReason | None:
        if self.reason:
            return self.reason
        if not self.is_drawn or self.opacity < _MIN_OPACITY:
            return HiddenReason.INVISIBLE
        if self.size_px < SMALLEST_POINTS * PX_PER_POINT:
            return HiddenReason.TOO_SMALL
        if self._is_colour_visible(self.colour, self.alpha) or (
            self.shadow and self._is_colour_visible(self.shadow, 1.0)
        ):
            return None
        return HiddenReason.INVISIBLE if self.alpha < _MIN_OPACITY else HiddenReason.COLOUR

    def _is_colour_visible(self, colour: Colour | None, alpha: float) -> bool:
        """Tell whether a colour stands out from its background; an unknown one does."""
        if alpha < _MIN_OPACITY:
            return False
        if colour is None or self.background is None:
            return True
        return not has_low_contrast(blend_colours(colour, self.background, alpha * self.opacity), self.background)


class Looks:
    """The looks of a page's elements (an lxml tree), by style sheets and attributes."""

    def __init__(self, tree: Any) -> None:
        sheets = (item.text or "" for item in tree.iter("style") if matches_wide_screen(item.get("media") or ""))
        self._styles = Stylesheet(tree, sheets)

    def of(self, element: Any, above: InheritedLook) -> InheritedLook:
        """Return the look of an element inside one that looks like `above`."""
        attributes, declared = element.attrib, self._styles.style_of(element)
        if not declared and element.tag not in _SPECIAL and _ATTRIBUTES.isdisjoint(attributes.keys()):
            return above
        variables = {**above.variables, **{name: value for name, value in declared.items() if name.startswith("--")}}
        style = _expand_shorthands({**_read_attribute_style(element), **substitute_variables(declared, variables)})
        colour, alpha = _find_text_colour(style, above)
        drawn = style.get("visibility")
        opacities = [parse_number(style.get("opacity")), *map(parse_number, _FADED.findall(style.get("filter", "")))]
        own = min((item for item in opacities if item is not None), default=1.0)
        return InheritedLook(
            reason=above.reason or _find_hidden_reason(element, style),
            colour=colour,
            background=_find_background(style, above.background),
            alpha=alpha,
            opacity=above.opacity * min(1.0, max(0.0, own)),
            shadow=_find_shadow_colour(style, above.shadow),
            size_px=_compute_font_size(style, above.size_px),
            is_drawn=above.is_drawn if drawn in (None, "inherit", "unset") else drawn not in ("hidden", "collapse"),
            variables=variables,
        )


def _find_text_colour(style: Mapping[str, str], above: InheritedLook) -> tuple[Colour | None, float]:
    """Return the colour of the letters, and their opacity."""
    colour, alpha = above.colour, above.alpha
    found = style.get("-webkit-text-fill-color") or style.get("color")
    if found and found not in ("inherit", "currentcolor", "unset"):
        colour, alpha = parse_shade(found) or (None, 1.0)
    if "text" in (style.get("background-clip"), style.get("-webkit-background-clip")) and alpha < _MIN_OPACITY:
        return None, 1.0  # letters show its background (clip)
    return colour, alpha


def _expand_shorthands(style: dict[str, str]) -> dict[str, str]:
    """Expand shorthand properties to one name for each side."""
    for name, prefix in (("margin", "margin-"), ("inset", "")):
        parts = split_outside_brackets(style.get(name, ""), " ")
        if parts != [""] and len(parts) <= 4:
            four = [*parts, *(parts[place] for place in ((), (0, 0, 0), (0, 1), (1,), ())[len(parts)])]
            style = {**{f"{prefix}{side}": part for side, part in zip(_SIDES, four, strict=True)}, **style}
    return style


def _find_shadow_colour(style: Mapping[str, str], above: Colour | None) -> Colour | None:
    """Return the colour of the letters' shadow, which may make them visible."""
    shadow = style.get("text-shadow")
    if shadow is None or shadow == "inherit":
        return above
    found = [parse_shade(word) for word in split_outside_brackets(split_outside_brackets(shadow)[0], " ")]
    return next((item[0] for item in found if item and item[1] >= 0.3), None)


def _read_attribute_style(element: Any) -> dict[str, str]:
    """Return the style of presentational attributes; style sheets override it."""
    attributes = {name: str(value).lower() for name, value in element.attrib.items() if value}
    style = {name: attributes[name] for name in ("color", "opacity", "font-size") if name in attributes}
    is_of_drawing = element.tag in _NOT_OF_A_DRAWING and next(element.iterancestors("svg"), None) is not None
    is_closed = element.tag == "dialog" and element.get("open") is None
    is_hidden = element.get("hidden") is not None and element.get("hidden") != "until-found"
    if element.tag in _NEVER_SHOWN or is_of_drawing or is_closed or is_hidden or element.get("popover") is not None:
        style["display"] = "none"
    if ink := attributes.get("fill") or (element.tag == "body" and attributes.get("text")):
        style["color"] = "transparent" if ink == "none" else ink
    if "bgcolor" in attributes:
        style["background-color"] = attributes["bgcolor"]
    if "background" in attributes:
        style["background"] = "url()"
    return style


def _find_hidden_reason(element: Any, style: Mapping[str, str]) -> HiddenReason | None:
    """Return why the whole element is hidden, whatever its children's styles."""
    display = style.get("display", "")
    if display in ("none", "table-column", "table-column-group") or style.get("content-visibility") == "hidden":
        return HiddenReason.NOT_DISPLAYED
    if (opacity := parse_number(style.get("opacity"))) is not None and opacity < _MIN_OPACITY:
        return HiddenReason.INVISIBLE
    can_be_cut = element.tag not in _OF_TABLES and not display.startswith("table")
    if _is_moved_away(style) or _is_shrunk(style) or _is_clipped(style) or (can_be_cut and _has_no_room(style)):
        return HiddenReason.OUTSIDE
    lines = f"{style.get('text-decoration', '')} {style.get('text-decoration-line', '')}"
    return HiddenReason.STRUCK if element.tag in _STRUCK or "line-through" in lines else None


def _is_moved_away(style: Mapping[str, str]) -> bool:
    names = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        names += _SIDES
    moved = [parse_length(style.get(name)) for name in names]
    moved += [parse_length(part) for found in _MOVED.findall(style.get("transform", "")) for part in found.split(",")]
    moved += [parse_length(part) for part in style.get("translate", "").split()]
    return any(item is not None and not _FAR_PX[0] < item < _FAR_PX[1] for item in moved)


def _is_shrunk(style: Mapping[str, str]) -> bool:
    factors = [part for found in _SCALED.findall(style.get("transform", "")) for part in found.split(",")]
    factors += [*style.get("scale", "").split(), style.get("zoom", "")]
    return any((factor := parse_number(part)) is not None and abs(factor) < _MIN_SCALE for part in factors)


def _has_no_room(style: Mapping[str, str]) -> bool:
    words = f"{style.get('overflow', '')} {style.get('overflow-x', '')} {style.get('overflow-y', '')}".split()
    sides = [parse_length(style.get(name)) for name in ("width", "height", "max-width", "max-height", "line-height")]
    return not {"hidden", "clip", "auto", "scroll"}.isdisjoint(words) and any(
        item is not None and item <= _MIN_PX for item in sides
    )


def _is_clipped(style: Mapping[str, str]) -> bool:
    if style.get("clip", "").startswith("rect("):
        sides = [
            item for item in map(parse_length, re.split(r"[\s,]+", style["clip"][5:].strip(" )"))) if item is not None
        ]
        if len(sides) == 4:  # "auto" clips nothing
            top, right, bottom, left = sides
            return right - left <= _MIN_PX or bottom - top <= _MIN_PX
    for found in _INSET.findall(style.get("clip-path", "")):
        shares = [parse_number(part) or 0.0 if part.endswith("%") else 0.0 for part in found.split()] or [0.0]
        above, beside = shares[0], shares[min(1, len(shares) - 1)]
        below, before = (shares[2] if len(shares) > 2 else above), (shares[3] if len(shares) > 3 else beside)
        if above + below >= 1 or beside + before >= 1:
            return True
    return False


def _compute_font_size(style: Mapping[str, str], above_px: float) -> float:
    size = style.get("font-size") or next(iter(_SIZE_IN_FONT.findall(style.get("font", ""))), "")
    if size.endswith("%"):
        return above_px * (parse_number(size) or 0.0)
    found = _SIZES.get(size, parse_length(size, em=above_px))
    return above_px if found is None else found


def _find_background(style: Mapping[str, str], above: Colour | None) -> Colour | None:
    if any(_PICTURE.search(style.get(name, "")) for name in ("background", "background-image")):
        return None
    background = style.get("background-color") or style.get("background")
    if not background or background in ("none", "inherit", "initial", "unset"):
        return above
    found = parse_shade(background) or next(
        filter(None, map(parse_shade, split_outside_brackets(background, " "))), None
    )
    if found is None:
        return None
    return found[0] if found[1] >= _MIN_OPACITY else above
