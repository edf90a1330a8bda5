"""The styles of a Word document: what each says of characters, headings, lists and shading, what it is based on included."""

import re
from dataclasses import dataclass, fields
from typing import Any

from knowledge.parsers.blocks import BlockKind
from knowledge.parsers.office.ooxml_names import VAL, W, is_on, parse_whole_number, value_of

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_KINDS: dict[str, BlockKind] = {
    "caption": "caption", "quote": "quotation", "intense quote": "quotation", "html preformatted": "code",
    "source code": "code", "macro": "code", "macro text": "code",
}  # fmt: skip
_LIST = re.compile(r"list (?:bullet|number)(?: ([2-5]))?", re.IGNORECASE)
_NEW = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_THEME = {"background1": "FFFFFF", "light1": "FFFFFF", "text1": "000000", "dark1": "000000"}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(pt|pc|pi|in|cm|mm)?")
_HALF_POINTS_OF = {"": 1.0, "pt": 2.0, "pc": 24.0, "pi": 24.0, "in": 144.0, "cm": 56.7, "mm": 5.67}
_MAX_CLEAR = 95_000  # thousandths of a per cent that one sees through
_MAX_CHAIN = 50  # styles based on one another
UNKNOWN = "unknown"  # a colour that we do not work out


@dataclass(frozen=True)
class CharacterFormat:
    """The format of characters; None where unset. colour, shade: six hex digits, "auto", or the name of a highlight."""

    vanishes: bool | None = None
    colour: str | None = None
    half_points: float | None = None
    shade: str | None = None
    is_clear: bool | None = None
    width: int | None = None
    place: str | None = None  # superscript, subscript or baseline
    is_struck: bool | None = None
    is_bold: bool | None = None

    def over(self, other: "CharacterFormat") -> "CharacterFormat":
        if self == _NOTHING:
            return other
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return CharacterFormat(*(theirs if own is None else own for own, theirs in pairs))


_NOTHING = CharacterFormat()


class Styles:
    """The styles of one document, by their ids."""

    def __init__(self, tree: Any | None) -> None:
        self._styles: dict[str, Any] = {}
        self._defaults: dict[str, str] = {}
        self._chains: dict[str, list[Any]] = {}
        self._looks: dict[tuple[str, str], CharacterFormat] = {}
        self._base = _NOTHING
        self.lists: dict[str, str] = {}
        if tree is None:
            return
        for style in tree.iterchildren(f"{W}style"):
            name = style.get(f"{W}styleId", "")
            self._styles[name] = style
            if style.get(f"{W}default") in ("1", "true"):
                self._defaults[style.get(f"{W}type", "")] = name
            if style.get(f"{W}type") == "numbering":
                self.lists[name] = value_of(style.find(f"{W}pPr/{W}numPr"), "numId") or ""
        for properties in tree.iterfind(f"{W}docDefaults/{W}rPrDefault/{W}rPr"):
            self._base = read_look(properties)

    def chain(self, properties: Any, tag: str, kind: str) -> list[Any]:
        """Return the style that properties name (the default one of its kind where they name none), and those it is based on."""
        following = value_of(properties, tag)
        following = self._defaults.get(kind, "") if following is None else following
        if following not in self._chains:
            self._chains[following] = self._list_base_styles(following)
        return self._chains[following]

    def _list_base_styles(self, following: str | None) -> list[Any]:
        found: list[Any] = []
        while following in self._styles and self._styles[following] not in found and len(found) < _MAX_CHAIN:
            found.append(self._styles[following])
            following = value_of(found[-1], "basedOn")
        return found

    def look(self, run_properties: Any, paragraph_properties: Any) -> CharacterFormat:
        """Return a run's own format over its style's, over its paragraph's, over the defaults."""
        key = (value_of(run_properties, "rStyle") or "", value_of(paragraph_properties, "pStyle") or "")
        if key not in self._looks:
            found = _NOTHING
            for style in self.chain(run_properties, "rStyle", "") + self.chain(
                paragraph_properties, "pStyle", "paragraph"
            ):
                found = found.over(read_look(style.find(f"{W}rPr")))
            self._looks[key] = found.over(self._base)
        return read_look(run_properties).over(self._looks[key])

    def paragraph_fill(self, properties: Any) -> str | None:
        """Return the shading of a paragraph: its own, or what its style gives it."""
        for own in (properties, *(one.find(f"{W}pPr") for one in self.chain(properties, "pStyle", "paragraph"))):
            if own is not None and (fill := read_fill_colour(own.find(f"{W}shd"))):
                return fill
        return None

    def level(self, properties: Any) -> int | None:
        """Return the level of a heading, 1 to 6; None for other paragraphs."""
        chain = self.chain(properties, "pStyle", "paragraph")
        for properties_in, name in [
            (properties, ""),
            *((item.find(f"{W}pPr"), _read_style_name(item)) for item in chain),
        ]:
            outline = value_of(properties_in, "outlineLvl")
            if outline is not None:
                return min(parse_whole_number(outline) + 1, 6) if parse_whole_number(outline) < 9 else None
            if found := _HEADING.fullmatch(name):
                return min(int(found[1]), 6)
            if name.lower() == "title":
                return 1
        return None

    def kind(self, properties: Any) -> BlockKind:
        names = (_read_style_name(item).lower() for item in self.chain(properties, "pStyle", "paragraph"))
        return next((_KINDS[name] for name in names if name in _KINDS), "paragraph")

    def list_of(self, properties: Any) -> tuple[str, int | None, str] | None:
        """Return the paragraph's list, its level or None, and the style that sets it; None outside lists."""
        sources = [(properties, ""), *(
            (item.find(f"{W}pPr"), item.get(f"{W}styleId", "")) for item in self.chain(properties, "pStyle", "paragraph")
        )]  # fmt: skip
        level: int | None = None
        for properties_in, style in sources:
            numbers = properties_in.find(f"{W}numPr") if properties_in is not None else None
            if numbers is None:
                continue
            level = (
                parse_whole_number(value_of(numbers, "ilvl")) if level is None and value_of(numbers, "ilvl") else level
            )
            name = value_of(numbers, "numId")
            if name is not None:
                return (name, level, style) if name != "0" else None
        return None

    def bullet_depth(self, properties: Any) -> int | None:
        """Return the depth of an item that is one only by its style, without a list definition."""
        chain = self.chain(properties, "pStyle", "paragraph")
        found = next((match for item in chain if (match := _LIST.fullmatch(_read_style_name(item)))), None)
        return int(found[1] or 1) - 1 if found else None

    def table_marks(self, table: Any) -> tuple[bool, bool]:
        """Tell whether a table's style colours its cells, and whether it sets off the first row and the table enables that."""
        chain = self.chain(table.find(f"{W}tblPr"), "tblStyle", "table")
        shades = any(next(style.iter(f"{W}shd"), None) is not None for style in chain)
        looked = table.find(f"{W}tblPr/{W}tblLook")
        if looked is None or not _wants_first_row(looked):
            return shades, False
        first = [
            one for style in chain for one in style.iterfind(f"{W}tblStylePr") if one.get(f"{W}type") == "firstRow"
        ]
        bold = (is_on(item.find(f"{W}rPr/{W}b")) for item in first)
        return shades, any(bold) or any(read_fill_colour(shade) for item in first for shade in item.iter(f"{W}shd"))


def _wants_first_row(looked: Any) -> bool:
    setting = looked.get(f"{W}firstRow")
    if setting is not None:
        return bool(setting in ("1", "true", "on"))
    value = looked.get(VAL) or "0"
    return bool(int(value, 16) & 0x20) if re.fullmatch("[0-9A-Fa-f]{1,8}", value) else False


def _read_style_name(style: Any) -> str:
    return value_of(style, "name") or ""


def read_look(properties: Any) -> CharacterFormat:
    """Read the format in run properties."""
    if properties is None or len(properties) == 0:
        return _NOTHING
    values = {child.tag: child for child in properties if isinstance(child.tag, str)}

    def toggle(*names: str) -> bool | None:
        toggles = [is_on(values[W + name]) for name in names if W + name in values]
        return any(toggles) if toggles else None

    size = _SIZE.fullmatch(values[f"{W}sz"].get(VAL, "")) if f"{W}sz" in values else None
    shade = values[f"{W}highlight"].get(VAL) if f"{W}highlight" in values else read_fill_colour(values.get(f"{W}shd"))
    width = values[f"{W}w"].get(VAL, "").rstrip("%") if f"{W}w" in values else ""
    filled, is_clear = _read_text_fill(values.get(f"{_NEW}textFill"))
    return CharacterFormat(
        vanishes=toggle("vanish", "specVanish"),
        colour=filled or _read_colour(values.get(f"{W}color")),
        half_points=float(size[1]) * _HALF_POINTS_OF[size[2] or ""] if size else None,
        shade=shade if shade not in ("auto", "none") else None,
        is_clear=is_clear,
        width=int(width) if width.isdecimal() else None,
        place=values[f"{W}vertAlign"].get(VAL) if f"{W}vertAlign" in values else None,
        is_struck=toggle("strike", "dstrike"),
        is_bold=toggle("b"),
    )


def _read_colour(colour: Any) -> str | None:
    if colour is None:
        return None
    theme = colour.get(f"{W}themeColor")
    is_changed = colour.get(f"{W}themeTint") or colour.get(f"{W}themeShade")
    return _THEME[theme] if theme in _THEME and not is_changed else colour.get(VAL)


def _read_text_fill(fill: Any) -> tuple[str | None, bool | None]:
    """Read the text fill of newer versions of Word: a colour, and whether it is transparent; None where unset."""
    if fill is None:
        return None, None
    if fill.find(f"{_NEW}noFill") is not None:
        return None, True
    clear = [parse_whole_number(item.get(f"{_NEW}val")) for item in fill.iter(f"{_NEW}alpha")]
    found = fill.find(f"{_NEW}solidFill/{_NEW}srgbClr")
    colour = found.get(f"{_NEW}val") if found is not None and len(found) == 0 else UNKNOWN
    return colour, bool(clear) and min(clear) >= _MAX_CLEAR


def read_fill_colour(shading: Any) -> str | None:
    """Return the colour of a shading, as six hex digits, "auto" or unknown; None where there is none."""
    if shading is None:
        return None
    pattern, fill = shading.get(VAL, "clear"), shading.get(f"{W}fill")
    if pattern == "solid":
        colour = shading.get(f"{W}color", "auto")
        return "000000" if colour == "auto" else colour
    if pattern not in ("clear", "nil"):
        return UNKNOWN
    if fill in (None, "auto") and shading.get(f"{W}themeFill"):
        return UNKNOWN
    return None if fill == "auto" else fill
