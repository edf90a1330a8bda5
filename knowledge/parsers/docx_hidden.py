"""Text of a DOCX file that Word does not show: formatted as hidden, deleted, tiny, or of the colour behind it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, Hidden, HiddenReason, blends_in, with_mark

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{_WORD}val"
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_HIGHLIGHTS: dict[str, Colour] = {"white": WHITE, "black": (0, 0, 0), "yellow": (255, 255, 0)}
_TELLS = re.compile(rb":(?:vanish|specVanish|del|color|sz)[\s/>]")


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

    def over(self, other: "_Format") -> "_Format":
        return _Format(
            other.vanishes if self.vanishes is None else self.vanishes,
            self.colour or other.colour,
            other.half_points if self.half_points is None else self.half_points,
            self.shade or other.shade,
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
    for run in list(tree.iter(f"{_WORD}r")):
        words = "".join(_words(run))
        if not words.strip() or _is_moved_away(run):
            continue
        own = next(run.iterancestors(f"{_WORD}p"), None)
        reason = _reason(run, styles)
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
    if look.half_points is not None and look.half_points < 2 * SMALLEST_POINTS:
        return HiddenReason.TOO_SMALL
    colour = _colour(look.colour)
    background = _background(run, look, styles) if colour else None
    return HiddenReason.COLOUR if colour and background and blends_in(colour, background) else None


def _said(properties: Any) -> _Format:
    if properties is None:
        return _Format()
    values = {child.tag.removeprefix(_WORD): child for child in properties if isinstance(child.tag, str)}
    vanishes = [_is_on(values[name]) for name in ("vanish", "specVanish") if name in values]
    size = values["sz"].get(_VAL, "") if "sz" in values else ""
    shade = values["shd"].get(f"{_WORD}fill") if "shd" in values else None
    if "highlight" in values:
        shade = values["highlight"].get(_VAL)
    return _Format(
        any(vanishes) if vanishes else None,
        values["color"].get(_VAL) if "color" in values else None,
        float(size) if size.isdecimal() else None,
        shade if shade not in ("auto", "none") else None,
    )


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
            shade = above.find(f"{_WORD}{name}Pr/{_WORD}shd")
            fill = shade.get(f"{_WORD}fill") if shade is not None else None
            if fill and fill != "auto":
                return _colour(fill)
        if name == "txbxContent" or (name == "tbl" and styles.shades(above)):
            return None
    page = run.getroottree().getroot().find(f"{_WORD}background")
    return WHITE if page is None else _colour(page.get(f"{_WORD}color"))
