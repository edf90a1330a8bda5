"""Which text of an HTML page a reader does not see, by its styles and attributes; it is taken out of the tree.

What a click opens (`<details>`) can be seen. A background that is a picture, or a colour that is not understood, hides nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from knowledge.parsers.css import SCREEN_PX, Stylesheet, resolved
from knowledge.parsers.hidden import SMALLEST_POINTS, WHITE, Colour, Hidden, HiddenReason, blends_in, with_mark

_PX_OF = {"px": 1.0, "pt": 96 / 72, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "cm": 37.8, "mm": 3.78, "in": 96.0}
_PX_OF |= {"vw": SCREEN_PX / 100, "vh": 7.2, "%": SCREEN_PX / 100, "": 1.0}
_LENGTH = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z%]*)")
_RGB = re.compile(r"rgba?\(([^()]*)\)")
_PICTURE = re.compile(r"url\(|gradient\(|image-set\(")
_SHRUNK = re.compile(r"scale(?:[xy]|3d)?\(\s*0*\.?0*\s*[,)]|^0+(?:\.0+)?$")
_MOVED = re.compile(r"translate(?:[xy]|3d)?\(([^()]*)\)")
_CUT_AWAY = re.compile(
    r"inset\(\s*(?:[5-9]\d|100)%|(?:circle|ellipse)\(\s*0\D|polygon\((?:\s*0(?:px|%)?\s+0(?:px|%)?\s*,?)+\)"
)
_NEVER_SHOWN = frozenset({"template", "noscript", "datalist"})
_INLINE = frozenset(
    (
        *(
            "a",
            "abbr",
            "b",
            "bdi",
            "bdo",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
            "label",
            "mark",
        ),
        *("q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "u", "var"),
    )
)
_FAR_PX = (-500.0, 5000.0)  # beyond these nobody scrolls
_LEAST_PX = 1.0  # of a box that cuts off what is larger
_LEAST_OPACITY = 0.05
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}


@dataclass(frozen=True)
class _Look:
    """What an element hands down. reason: why nothing in it is seen. background: None where it is not known."""

    reason: HiddenReason | None = None
    colour: Colour | None = (0, 0, 0)
    background: Colour | None = WHITE
    alpha: float = 1.0
    size_px: float = 16.0
    is_drawn: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_unseen(self) -> HiddenReason | None:
        if self.reason:
            return self.reason
        if not self.is_drawn or self.alpha < _LEAST_OPACITY:
            return HiddenReason.INVISIBLE
        if self.size_px < SMALLEST_POINTS * _PX_OF["pt"]:
            return HiddenReason.TOO_SMALL
        if self.colour and self.background and blends_in(self.colour, self.background):
            return HiddenReason.COLOUR
        return None


def take_unseen(tree: Any) -> Hidden:
    """Take what cannot be seen out of a page (an lxml tree), leaving marks. Scripts and styles are read, not removed."""
    styles = Stylesheet([element.text or "" for element in tree.iter("style")])
    return _Walk(styles).over(tree)


class _Walk:
    """One way through a page in its order."""

    def __init__(self, styles: Stylesheet) -> None:
        self._styles = styles
        self._hidden = Hidden()
        self._last: tuple[Any, str] | None = None  # the text seen last: an element, and its `text` or `tail`
        self._apart = False
        self._unseen: list[Any] = []

    def over(self, tree: Any) -> Hidden:
        for node in [*reversed(list(tree.itersiblings(preceding=True))), tree, *tree.itersiblings()]:
            self._element(node, _Look())
        for element in self._unseen:
            if element.getparent() is not None:
                element.drop_tree()
        return self._hidden

    def _element(self, element: Any, above: _Look) -> None:
        if not isinstance(element.tag, str):
            if isinstance(element.text, str) and callable(element.tag) and element.tag.__name__ == "Comment":
                self._text(element, "text", replace(above, reason=HiddenReason.COMMENT))
            return
        if element.tag in ("script", "style", "head"):
            return
        look = _look(element, self._styles.style_of(element), above)
        if look.reason and not above.reason:
            self._unseen.append(element)
        is_block = element.tag not in _INLINE
        self._apart |= is_block
        self._text(element, "text", look)
        for child in element:
            self._element(child, look)
            self._text(child, "tail", look)
        self._apart |= is_block

    def _text(self, element: Any, place: str, look: _Look) -> None:
        text = getattr(element, place)
        if not text or not text.strip():
            return
        text = Hidden.unmarked(text)
        reason = look.why_unseen
        if reason is None:
            self._hidden.seen()
            self._last = (element, place)
            setattr(element, place, text)
        else:
            mark = self._hidden.take(text, reason, apart=self._apart)
            setattr(element, place, " ")
            if mark and self._last:
                owner, where = self._last
                setattr(owner, where, with_mark(getattr(owner, where), mark))
        self._apart = False


def _look(element: Any, declared: Mapping[str, str], above: _Look) -> _Look:
    variables = {**above.variables, **{name: value for name, value in declared.items() if name.startswith("--")}}
    style = {**_by_attributes(element), **resolved(declared, variables)}
    colour, alpha = above.colour, above.alpha
    if (said := style.get("color")) and said not in ("inherit", "currentcolor", "unset"):
        colour, alpha = _colour(said) or (None, 1.0)
    drawn = style.get("visibility")
    return _Look(
        reason=above.reason or _reason(element, style),
        colour=colour,
        background=_background(style, above.background),
        alpha=alpha,
        size_px=_size(style, above.size_px),
        is_drawn=above.is_drawn if drawn in (None, "inherit", "unset") else drawn not in ("hidden", "collapse"),
        variables=variables,
    )


def _by_attributes(element: Any) -> dict[str, str]:
    """What attributes say that are older than styles; a style is stronger."""
    style = {}
    if element.tag in _NEVER_SHOWN or (element.get("hidden") is not None and element.get("hidden") != "until-found"):
        style["display"] = "none"
    if element.tag == "dialog" and element.get("open") is None:
        style["display"] = "none"
    if colour := element.get("color") or (element.tag == "body" and element.get("text")):
        style["color"] = colour.lower()
    if background := element.get("bgcolor"):
        style["background-color"] = background.lower()
    if element.get("background"):
        style["background"] = "url()"
    return style


def _reason(element: Any, style: Mapping[str, str]) -> HiddenReason | None:
    """Why nothing in the element is seen, whatever its children say."""
    if style.get("display") == "none" or style.get("content-visibility") == "hidden":
        return HiddenReason.NOT_DISPLAYED
    if (opacity := _number(style.get("opacity"))) is not None and opacity < _LEAST_OPACITY:
        return HiddenReason.INVISIBLE
    if _is_outside(style):
        return HiddenReason.OUTSIDE
    if (element.get("aria-hidden") or "").lower() == "true":
        return HiddenReason.SKIPPED
    return None


def _is_outside(style: Mapping[str, str]) -> bool:
    names = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        names += ["left", "top", "right", "bottom"]
    moved = [_px(style.get(name)) for name in names]
    moved += [_px(part) for found in _MOVED.findall(style.get("transform", "")) for part in found.split(",")]
    if any(px is not None and not _FAR_PX[0] < px < _FAR_PX[1] for px in moved):
        return True
    if any(_SHRUNK.search(style.get(name, "")) for name in ("transform", "scale", "zoom")):
        return True
    sides = [_px(style.get(name)) for name in ("width", "height", "max-width", "max-height")]
    cuts = {style.get(name, "").split(" ")[0] for name in ("overflow", "overflow-x", "overflow-y")} & {"hidden", "clip"}
    if cuts and any(px is not None and px <= _LEAST_PX for px in sides):
        return True
    return _is_cut_away(style)


def _is_cut_away(style: Mapping[str, str]) -> bool:
    if style.get("clip", "").startswith("rect("):
        sides = [px for px in map(_px, re.split(r"[\s,]+", style["clip"][5:].strip(" )"))) if px is not None]
        if len(sides) == 4:  # "auto" cuts nothing
            top, right, bottom, left = sides
            return right - left <= _LEAST_PX or bottom - top <= _LEAST_PX
    return _CUT_AWAY.search(style.get("clip-path", "")) is not None


def _px(value: str | None) -> float | None:
    match = _LENGTH.fullmatch(value.strip()) if value else None
    return float(match[1]) * _PX_OF[match[2]] if match and match[2] in _PX_OF else None


def _number(value: str | None) -> float | None:
    match = _LENGTH.fullmatch(value) if value else None
    if not match or match[2] not in ("", "%"):
        return None
    return float(match[1]) / (100 if match[2] else 1)


def _size(style: Mapping[str, str], above_px: float) -> float:
    said = style.get("font-size") or next(
        iter(re.findall(r"(?:^|\s)((?:\d|\.\d)[\d.]*[a-z%]*)(?=[/\s])", style.get("font", ""))), ""
    )
    if said in _SIZES:
        return _SIZES[said]
    match = _LENGTH.fullmatch(said)
    if not match or match[2] not in _PX_OF:
        return above_px
    relative = {"em": above_px, "ex": above_px / 2, "ch": above_px / 2, "%": above_px / 100}
    return float(match[1]) * relative.get(match[2], _PX_OF[match[2]])


def _background(style: Mapping[str, str], above: Colour | None) -> Colour | None:
    if any(_PICTURE.search(style.get(name, "")) for name in ("background", "background-image")):
        return None
    said = style.get("background-color") or style.get("background")
    if not said or said in ("none", "inherit", "initial", "unset"):
        return above
    found = _colour(said) or next(filter(None, map(_colour, said.split())), None)
    if found is None:
        return None
    return found[0] if found[1] >= _LEAST_OPACITY else above


def _colour(said: str) -> tuple[Colour, float] | None:
    """Red, green, blue and how opaque it is; None for what is not understood."""
    from PIL import ImageColor

    if said == "transparent":
        return WHITE, 0.0
    if match := _RGB.fullmatch(said):
        parts = re.split(r"[\s,/]+", match[1].strip())
        numbers = [float(m[1]) * (2.55 if m[2] == "%" else 1) for m in map(_LENGTH.fullmatch, parts[:3]) if m]
        if len(numbers) < 3:
            return None
        alpha = _number(parts[3]) if len(parts) > 3 else 1.0
        red, green, blue = (round(min(255.0, max(0.0, number))) for number in numbers)
        return (red, green, blue), 1.0 if alpha is None else alpha
    try:
        red, green, blue, *opacity = ImageColor.getrgb(said)
    except ValueError:
        return None
    return (red, green, blue), opacity[0] / 255 if opacity else 1.0
