"""The cell styles of a workbook: number formats, emphasis, and reasons why text is hidden."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zipfile import ZipFile

from knowledge.parsers.hidden import WHITE, Colour, HiddenReason, has_low_contrast
from knowledge.parsers.html.css_values import blend_colours
from knowledge.parsers.office.number_formats import BUILT_IN, GENERAL, split_sections
from knowledge.parsers.office.time_formats import BUILT_IN as OF_TIMES

_SAYS_NOTHING = re.compile(r"(?:\"\s*\"|\[[^\]]*\]|_.|\\\\\s|\s)*")
_WHITE_FORMAT = re.compile(r"\[white\]", re.IGNORECASE)
MIN_POINTS = 1.5  # of a row's height or a font
_INDEXED: dict[int, Colour] = {0: (0, 0, 0), 1: WHITE, 8: (0, 0, 0), 9: WHITE, 64: (0, 0, 0), 65: WHITE}
_THEME: dict[str, Colour] = {"0": WHITE, "1": (0, 0, 0)}  # the first two of a theme: window and text


@dataclass(frozen=True)
class Style:
    """One style: why its cells are hidden, for words and for numbers. code: the number format.

    is_bold, fill: how they stand out; fill is a name of its colour, "" for none and for white.
    """

    words: HiddenReason | None = None
    numbers: HiddenReason | None = None
    code: str = ""
    is_bold: bool = False
    fill: str = ""


def read_styles(archive: ZipFile) -> dict[str, Style]:
    """Return the cell styles with an effect. Text is hidden by an empty number format, a font of no size, or one in the colour of the
    cell.
    """
    from lxml import etree

    if "xl/styles.xml" not in archive.namelist():
        return {}
    tree = etree.fromstring(archive.read("xl/styles.xml"))
    formats = (
        BUILT_IN | OF_TIMES | {item.get("numFmtId"): item.get("formatCode", "") for item in tree.iter("{*}numFmt")}
    )
    fonts = list(tree.iterfind("{*}fonts/{*}font"))
    fills = list(tree.iterfind("{*}fills/{*}fill"))
    known: dict[str, Style] = {}
    for number, style in enumerate(tree.iterfind("{*}cellXfs/{*}xf")):
        font, fill = _find_by_number(fonts, style.get("fontId")), _find_by_number(fills, style.get("fillId"))
        code = formats.get(style.get("numFmtId"), GENERAL)
        found = _build_style(code, font, fill)
        if found != Style():
            known[str(number)] = found
    return known


def _build_style(code: str, font: Any, fill: Any) -> Style:
    colour = _read_fill_colour(fill) if fill is not None else None
    is_bold = is_struck = False
    reason = None
    if font is not None:
        is_bold, is_struck = is_on(font.find("{*}b")), is_on(font.find("{*}strike"))
        found = WHITE if _WHITE_FORMAT.search(code) else _read_colour(font.find("{*}color"))
        if 0 < _read_font_size(font) < MIN_POINTS:
            reason = HiddenReason.TOO_SMALL
        elif found and colour and has_low_contrast(found, colour):
            reason = HiddenReason.COLOUR
        elif is_struck:
            reason = HiddenReason.STRUCK
    words, numbers = _check_hiding_format(code)
    return Style(
        HiddenReason.CELL if words else reason,
        HiddenReason.CELL if numbers else reason,
        "" if code in (GENERAL, "@") else code,
        is_bold,
        "" if colour == WHITE or fill is None else _identify_fill(fill),
    )


def _identify_fill(fill: Any) -> str:
    """Return a name that identifies a fill; "" for none."""
    pattern = fill.find("{*}patternFill")
    if pattern is not None and pattern.get("patternType", "none") in ("none", "gray125"):
        return ""
    return " ".join(f"{name}={value}" for item in fill.iter() for name, value in sorted(item.attrib.items()))


def _check_hiding_format(code: str) -> tuple[bool, bool]:
    """Tell whether a number format hides words, and whether it hides every number."""
    parts = split_sections(code)
    empty = [_SAYS_NOTHING.fullmatch(section) is not None for section in parts]
    return len(parts) > 3 and empty[3], len(parts) > 1 and all(empty[:3])


def _read_font_size(font: Any) -> float:
    size = font.find("{*}sz")
    return parse_number(size.get("val", "")) if size is not None else 0.0


def parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _find_by_number(known: Sequence[Any], number: str | None) -> Any:
    place = int(number or 0)
    return known[place] if place < len(known) else None


def _read_colour(colour: Any) -> Colour | None:
    if colour is None:
        return None
    if theme := colour.get("theme"):
        return _tint_colour(_THEME.get(theme), parse_number(colour.get("tint") or "0"))
    if (indexed := colour.get("indexed") or "").isdecimal():
        return _INDEXED.get(int(indexed))
    hexed = (colour.get("rgb") or "")[-6:]
    return (int(hexed[:2], 16), int(hexed[2:4], 16), int(hexed[4:], 16)) if len(hexed) == 6 else None


def _tint_colour(colour: Colour | None, tint: float) -> Colour | None:
    """Return a colour with a tint: darker below 0, lighter above."""
    if colour is None:
        return None
    return blend_colours(WHITE if tint > 0 else (0, 0, 0), colour, min(1.0, abs(tint)))


def _read_fill_colour(fill: Any) -> Colour | None:
    """Return the colour of a fill: white without one; None for patterns and gradients."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return None
    kind = pattern.get("patternType", "none")
    return WHITE if kind == "none" else _read_colour(pattern.find("{*}fgColor")) if kind == "solid" else None


def is_on(mark: Any) -> bool:
    """Tell whether an element like <b/> is present and not switched off."""
    return mark is not None and mark.get("val", "1") not in ("0", "false")
