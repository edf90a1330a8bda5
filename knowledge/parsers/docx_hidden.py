"""Text of a DOCX file that Word does not show: formatted as hidden, deleted, tiny, or of the colour behind it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.parsers.docx_place import Fields, why_unplaced
from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, Hidden, HiddenReason, blends_in, with_mark

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{_WORD}val"
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_HIGHLIGHTS: dict[str, Colour] = {
    "black": (0, 0, 0), "white": WHITE, "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255),
    "cyan": (0, 255, 255), "magenta": (255, 0, 255), "yellow": (255, 255, 0), "darkRed": (128, 0, 0),
    "darkGreen": (0, 128, 0), "darkBlue": (0, 0, 128), "darkCyan": (0, 128, 128), "darkMagenta": (128, 0, 128),
    "darkYellow": (128, 128, 0), "darkGray": (128, 128, 128), "lightGray": (192, 192, 192),
}  # fmt: skip
_TELLS = re.compile(
    rb":(?:vanish|specVanish|del|color|sz|w|fldChar|textFill|spacing|ind|framePr|trHeight|docPr|shape|AlternateContent)[\s/>]"
)
_NEW = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_THEME = {"background1": "FFFFFF", "light1": "FFFFFF", "text1": "000000", "dark1": "000000"}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(pt|pc|pi|in|cm|mm)?")
_HALF_POINTS_OF = {"": 1.0, "pt": 2.0, "pc": 24.0, "pi": 24.0, "in": 144.0, "cm": 56.7, "mm": 5.67}
_LEAST_WIDTH = 5  # % that letters are pressed to
_MOST_CLEAR = 95_000  # thousandths of a per cent that one sees through
_UNKNOWN = "unknown"  # a colour that we do not work out


def may_hide(part: bytes) -> bool:
    """Whether anything in a part of the file could hide text."""
    return _TELLS.search(part) is not None


@dataclass(frozen=True)
class _Format:
    """What is said of characters; None where it is not said. colour: "auto" or six hex digits."""

    vanishes: bool | None = None
    colour: str | None = None
    half_points: float | None = None
    shade: str | None = None
    is_clear: bool | None = None
    width: int | None = None
    place: str | None = None  # superscript, subscript or baseline

    def over(self, other: "_Format") -> "_Format":
        return _Format(
            other.vanishes if self.vanishes is None else self.vanishes,
            self.colour or other.colour,
            other.half_points if self.half_points is None else self.half_points,
            self.shade or other.shade,
            other.is_clear if self.is_clear is None else self.is_clear,
            other.width if self.width is None else self.width,
            self.place or other.place,
        )


class Styles:
    """The styles of a document: what each says of characters, what it is based on included."""

    def __init__(self, tree: Any | None) -> None:
        self._styles: dict[str, Any] = {}
        self._defaults: dict[str, str] = {}
        self._known: dict[str, _Format] = {}
        self._base = _Format()
        if tree is None:
            return
        for style in tree.iter(f"{_WORD}style"):
            name = style.get(f"{_WORD}styleId", "")
            self._styles[name] = style
            if style.get(f"{_WORD}default") in ("1", "true"):
                self._defaults[style.get(f"{_WORD}type", "")] = name
        for said in tree.iterfind(f"{_WORD}docDefaults/{_WORD}rPrDefault/{_WORD}rPr"):
            self._base = _said(said)

    def of_run(self, run: Any) -> _Format:
        """A run's own format over its style's, over its paragraph's, over the defaults."""
        said = run.find(f"{_WORD}rPr")
        paragraph = next(run.iterancestors(f"{_WORD}p"), None)
        found = _said(said).over(self._named(said, "rStyle", ""))
        properties = paragraph.find(f"{_WORD}pPr") if paragraph is not None else None
        return found.over(self._named(properties, "pStyle", "paragraph")).over(self._base)

    def _named(self, properties: Any, tag: str, kind: str) -> _Format:
        named = properties.find(f"{_WORD}{tag}") if properties is not None else None
        name = named.get(_VAL, "") if named is not None else self._defaults.get(kind, "")
        if name not in self._known:
            found, seen = _Format(), set[str]()
            following = name
            while following in self._styles and following not in seen:
                seen.add(following)
                style = self._styles[following]
                found = found.over(_said(style.find(f"{_WORD}rPr")))
                based = style.find(f"{_WORD}basedOn")
                following = based.get(_VAL, "") if based is not None else ""
            self._known[name] = found
        return self._known[name]

    def fill_of(self, paragraph: Any) -> str | None:
        """The shading that a paragraph's style gives it, or one that this is based on."""
        named = paragraph.find(f"{_WORD}pPr/{_WORD}pStyle")
        following = named.get(_VAL, "") if named is not None else self._defaults.get("paragraph", "")
        seen = set[str]()
        while following in self._styles and following not in seen:
            seen.add(following)
            style = self._styles[following]
            if fill := _fill(style.find(f"{_WORD}pPr/{_WORD}shd")):
                return fill
            based = style.find(f"{_WORD}basedOn")
            following = based.get(_VAL, "") if based is not None else ""
        return None

    def shades(self, table: Any) -> bool:
        """Whether the style of a table colours its cells."""
        named = table.find(f"{_WORD}tblPr/{_WORD}tblStyle")
        style = self._styles.get(named.get(_VAL, "")) if named is not None else None
        return style is not None and next(style.iter(f"{_WORD}shd"), None) is not None


def take_unseen(tree: Any, styles: Styles) -> Hidden:
    """Take what is not shown out of a document's main part, leaving marks."""
    hidden = Hidden()
    last: Any = None
    paragraph: Any = None
    fields = Fields(tree)
    for run in list(tree.iter(f"{_WORD}r")):
        words = "".join(_words(run))
        if not words.strip() or _is_moved_away(run):
            continue
        own = next(run.iterancestors(f"{_WORD}p"), None)
        reason = HiddenReason.NOT_DISPLAYED if fields.holds(run) else _reason(run, styles) or why_unplaced(run)
        if reason is None:
            hidden.seen()
            last = next((t for t in reversed(list(run.iter(f"{_WORD}t"))) if (t.text or "").strip()), last)
            for text in run.iter(f"{_WORD}t"):
                text.text = Hidden.unmarked(text.text or "")
        else:
            mark = hidden.take(words, reason, apart=own is not paragraph)
            for text in list(run.iter(f"{_WORD}t", f"{_WORD}delText")):
                text.getparent().remove(text)
            if last is not None:
                last.text = with_mark(last.text, mark)
        paragraph = own
    return hidden


def is_seen(run: Any, styles: Styles) -> bool:
    """Whether a run that shows a picture is shown: it is neither deleted, moved away nor formatted as hidden."""
    return not (_is_moved_away(run) or _reason(run, styles) in (HiddenReason.DELETED, HiddenReason.NOT_DISPLAYED))


def _words(run: Any) -> Iterator[str]:
    for child in run.iterchildren():
        if child.tag in (f"{_WORD}t", f"{_WORD}delText"):
            yield child.text or ""
        elif child.tag in (f"{_WORD}tab", f"{_WORD}br", f"{_WORD}cr"):
            yield " "


def _is_moved_away(run: Any) -> bool:
    """It stands at its new place, too."""
    return next(run.iterancestors(f"{_WORD}moveFrom"), None) is not None


def _reason(run: Any, styles: Styles) -> HiddenReason | None:
    if next(run.iterancestors(f"{_WORD}del"), None) is not None:
        return HiddenReason.DELETED
    look = styles.of_run(run)
    if look.vanishes:
        return HiddenReason.NOT_DISPLAYED
    if look.is_clear:
        return HiddenReason.INVISIBLE
    is_small = look.half_points is not None and look.half_points < 2 * SMALLEST_POINTS
    if is_small or (look.width is not None and look.width < _LEAST_WIDTH):
        return HiddenReason.TOO_SMALL
    colour = _colour(look.colour)
    background = _background(run, look, styles) if colour else None
    return HiddenReason.COLOUR if colour and background and blends_in(colour, background) else None


def _said(properties: Any) -> _Format:
    if properties is None:
        return _Format()
    values = {child.tag.removeprefix(_WORD): child for child in properties if isinstance(child.tag, str)}
    vanishes = [_is_on(values[name]) for name in ("vanish", "specVanish") if name in values]
    size = _SIZE.fullmatch(values["sz"].get(_VAL, "")) if "sz" in values else None
    shade = _fill(values.get("shd"))
    if "highlight" in values:
        shade = values["highlight"].get(_VAL)
    width = values["w"].get(_VAL, "").rstrip("%") if "w" in values else ""
    filled, is_clear = _text_fill(properties.find(f"{_NEW}textFill"))
    return _Format(
        any(vanishes) if vanishes else None,
        filled or _said_colour(values.get("color")),
        float(size[1]) * _HALF_POINTS_OF[size[2] or ""] if size else None,
        shade if shade not in ("auto", "none") else None,
        is_clear,
        int(width) if width.isdecimal() else None,
        values["vertAlign"].get(_VAL) if "vertAlign" in values else None,
    )


def _said_colour(colour: Any) -> str | None:
    if colour is None:
        return None
    theme = colour.get(f"{_WORD}themeColor")
    is_changed = colour.get(f"{_WORD}themeTint") or colour.get(f"{_WORD}themeShade")
    return _THEME[theme] if theme in _THEME and not is_changed else colour.get(_VAL)


def _text_fill(fill: Any) -> tuple[str | None, bool | None]:
    """What newer versions of Word fill letters with: a colour, and whether one sees through; None for what is not said."""
    if fill is None:
        return None, None
    if fill.find(f"{_NEW}noFill") is not None:
        return None, True
    clear = [_number(each.get(f"{_NEW}val")) for each in fill.iter(f"{_NEW}alpha")]
    said = fill.find(f"{_NEW}solidFill/{_NEW}srgbClr")
    colour = said.get(f"{_NEW}val") if said is not None and len(said) == 0 else _UNKNOWN
    return colour, bool(clear) and min(clear) >= _MOST_CLEAR


def _fill(shading: Any) -> str | None:
    """The colour of a shading, as six hex digits, "auto" or unknown; None where there is none."""
    if shading is None:
        return None
    pattern, fill = shading.get(_VAL, "clear"), shading.get(f"{_WORD}fill")
    if pattern == "solid":
        colour = shading.get(f"{_WORD}color", "auto")
        return "000000" if colour == "auto" else colour
    if pattern not in ("clear", "nil"):
        return _UNKNOWN
    if fill in (None, "auto") and shading.get(f"{_WORD}themeFill"):
        return _UNKNOWN
    return None if fill == "auto" else fill


def _number(said: str | None) -> int:
    return int(said) if said and said.isdecimal() else 0


def _is_on(toggle: Any) -> bool:
    return toggle.get(_VAL, "1") not in ("0", "false", "off")


def _colour(said: str | None) -> Colour | None:
    """Of six hex digits, or of a highlight; None for "auto", which Word keeps legible, and for what is not known."""
    if said and _HEX.fullmatch(said):
        return int(said[:2], 16), int(said[2:4], 16), int(said[4:], 16)
    return _HIGHLIGHTS.get(said or "")


def _background(run: Any, look: _Format, styles: Styles) -> Colour | None:
    """What is behind a run: its shading, its paragraph's, its cell's, else the page; None where a shape or style decides."""
    if look.shade:
        return _colour(look.shade)
    for above in run.iterancestors():
        name = above.tag.removeprefix(_WORD)
        if name in ("p", "tc", "tbl"):
            fill = _fill(above.find(f"{_WORD}{name}Pr/{_WORD}shd")) or (styles.fill_of(above) if name == "p" else None)
            if fill:
                return _colour(fill)
        if name == "txbxContent" or (name == "tbl" and styles.shades(above)):
            return None
    page = run.getroottree().getroot().find(f"{_WORD}background")
    return WHITE if page is None else _colour(page.get(f"{_WORD}color"))
