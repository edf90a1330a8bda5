"""Detection of hidden text in Word: formatted as hidden, deleted, tiny, in the background colour, or off the page."""

import re
from dataclasses import dataclass, replace
from typing import Any

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, HiddenReason, has_low_contrast
from knowledge.parsers.office.docx_styles import UNKNOWN, CharacterFormat, Styles, read_fill_colour
from knowledge.parsers.office.ooxml_names import W, parse_whole_number

_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_OLD_SHAPES = "{urn:schemas-microsoft-com:vml}"
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_HIGHLIGHTS: dict[str, Colour] = {
    "black": (0, 0, 0), "white": WHITE, "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255),
    "cyan": (0, 255, 255), "magenta": (255, 0, 255), "yellow": (255, 255, 0), "darkRed": (128, 0, 0),
    "darkGreen": (0, 128, 0), "darkBlue": (0, 0, 128), "darkCyan": (0, 128, 128), "darkMagenta": (128, 0, 128),
    "darkYellow": (128, 128, 0), "darkGray": (128, 128, 128), "lightGray": (192, 192, 192),
}  # fmt: skip
_MIN_WIDTH = 5  # % that letters are pressed to
_MIN_TWIPS = 30  # of a line's or a row's exact height
_FAR_TWIPS = (-10_000, 31_680)  # from the margin; 31,680 is Word's largest page
_MIN_EMU = 12_700  # of a shape's side: a point
_FAR_EMU = (-2_000_000, 20_116_800)
_UNSEEN_STYLE = re.compile(r"(?:visibility\s*:\s*hidden|display\s*:\s*none)", re.IGNORECASE)


@dataclass(frozen=True)
class TextSurroundings:
    """The surroundings of text. hidden: why they are invisible. behind: colour as six hex digits or a name, or UNKNOWN."""

    hidden: HiddenReason | None = None
    behind: str = "FFFFFF"

    def on(self, fill: str | None) -> "TextSurroundings":
        return replace(self, behind=fill) if fill else self

    def because(self, reason: HiddenReason | None) -> "TextSurroundings":
        return replace(self, hidden=reason) if reason and not self.hidden else self

    def in_paragraph(self, properties: Any, styles: Styles) -> "TextSurroundings":
        reason = HiddenReason.OUTSIDE if properties is not None and _is_off_page(properties) else None
        return self.on(styles.paragraph_fill(properties)).because(reason)

    def in_table(self, table: Any, is_shaded: bool) -> "TextSurroundings":
        return self.on(read_fill_colour(table.find(f"{W}tblPr/{W}shd")) or (UNKNOWN if is_shaded else None))

    def in_row(self, row: Any) -> "TextSurroundings":
        properties = row.find(f"{W}trPr")
        if properties is None:
            return self
        if properties.find(f"{W}del") is not None:
            return self.because(HiddenReason.DELETED)
        height = properties.find(f"{W}trHeight")
        is_exact = height is not None and height.get(f"{W}hRule") == "exact"
        return self.because(HiddenReason.ROW if is_exact and 0 < _read_number(height, "val") < _MIN_TWIPS else None)

    def in_cell(self, cell: Any) -> "TextSurroundings":
        is_gone = cell.find(f"{W}tcPr/{W}cellDel") is not None
        return self.on(read_fill_colour(cell.find(f"{W}tcPr/{W}shd"))).because(
            HiddenReason.DELETED if is_gone else None
        )

    def in_shape(self, shape: Any) -> "TextSurroundings":
        """Return the place inside any element of a drawing."""
        if shape.tag in (f"{_DRAWN}anchor", f"{_DRAWN}inline"):
            return self.because(_find_shape_reason(shape))
        if shape.tag.startswith(_OLD_SHAPES) and _UNSEEN_STYLE.search(shape.get("style") or ""):
            return self.because(HiddenReason.NOT_DISPLAYED)
        return self

    def why(self, look: CharacterFormat) -> HiddenReason | None:
        """Return why characters of this format are hidden here; None if visible."""
        if self.hidden is HiddenReason.DELETED:
            return self.hidden
        if look.vanishes:
            return HiddenReason.NOT_DISPLAYED
        if look.is_clear:
            return HiddenReason.INVISIBLE
        is_small = look.half_points is not None and look.half_points < 2 * SMALLEST_POINTS
        if is_small or (look.width is not None and look.width < _MIN_WIDTH):
            return HiddenReason.TOO_SMALL
        colour, behind = colour_of(look.colour), colour_of(look.shade or self.behind)
        if colour and behind and has_low_contrast(colour, behind):
            return HiddenReason.COLOUR
        return self.hidden or (HiddenReason.STRUCK if look.is_struck else None)


def colour_of(text: str | None) -> Colour | None:
    """Read six hex digits or a highlight; None for "auto", which Word keeps legible, and for unknown names."""
    if text and _HEX.fullmatch(text):
        return int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)
    return _HIGHLIGHTS.get(text or "")


def build_page_place(tree: Any) -> TextSurroundings:
    """Return the place on a plain page, with the colour that the document gives its pages."""
    page = tree.find(f"{W}background")
    return TextSurroundings() if page is None else TextSurroundings(behind=page.get(f"{W}color") or UNKNOWN)


def _is_off_page(properties: Any) -> bool:
    spacing, indent, frame = (properties.find(f"{W}{name}") for name in ("spacing", "ind", "framePr"))
    is_exact = spacing is not None and spacing.get(f"{W}lineRule") == "exact"
    if is_exact and 0 < _read_number(spacing, "line") < _MIN_TWIPS:
        return True
    moved = [_read_number(indent, "left") or _read_number(indent, "start")] if indent is not None else []
    moved += [_read_number(frame, "x"), _read_number(frame, "y")] if frame is not None else []
    return any(not _FAR_TWIPS[0] < item < _FAR_TWIPS[1] for item in moved)


def _find_shape_reason(shape: Any) -> HiddenReason | None:
    properties, extent = shape.find(f"{_DRAWN}docPr"), shape.find(f"{_DRAWN}extent")
    if properties is not None and properties.get("hidden") in ("1", "true"):
        return HiddenReason.NOT_DISPLAYED
    sizes = [parse_whole_number(extent.get(name)) for name in ("cx", "cy")] if extent is not None else []
    if any(size < _MIN_EMU for size in sizes):
        return HiddenReason.TOO_SMALL
    for name, size in zip(("positionH", "positionV"), sizes, strict=False):
        offset = parse_whole_number(shape.findtext(f"{_DRAWN}{name}/{_DRAWN}posOffset"))
        if offset + size < _FAR_EMU[0] or offset > _FAR_EMU[1]:
            return HiddenReason.OUTSIDE
    return None


def _read_number(element: Any, name: str) -> int:
    return parse_whole_number(element.get(f"{W}{name}"))
