"""The running text of an HTML page: the text of its inline elements, and the hidden part of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from knowledge.parsers.blocks import remove_link_marks
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.html.hidden import InheritedLook
from knowledge.parsers.lines import collapse_white_space

DROPPED = frozenset(("script", "style", "meta", "link", "base", "nav", "select", "textarea", "input", "button"))
BLOCKS = frozenset(("address", "article", "aside", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figure",
                     "footer", "form", "header", "hgroup", "hr", "html", "legend", "li", "main", "p", "search", "section",
                     "summary", "tr", "td", "th", "thead", "tbody", "tfoot"))  # fmt: skip
HEADINGS = {f"h{level}": level for level in range(1, 7)}
WORD = re.compile(r"\w")
LINE = "\v"  # a line end, unlike the source's white space

Mode = Literal["blocks", "item", "flat"]
"""The end of a paragraph: with its block, with a line in a list item, or with a line in text without blocks."""


@dataclass
class HiddenPiece:
    """A piece of hidden text."""

    text: str
    reason: HiddenReason


@dataclass
class Open:
    """An element that changes the words inside it. start: how many parts of the text stand before them."""

    written: Callable[[str], str]
    start: int
    is_raised: bool = False


class TextReader:
    """Collects the text of elements. `_element` defines the effect of each."""

    def __init__(self) -> None:
        self._behind: list[HiddenPiece] = []  # of the block that is being read
        self._last: HiddenPiece | None = None  # until visible text
        self._apart = False  # whether a line ended since the last text
        self._parts: list[str] = []
        self._open: list[Open] = []
        self._mode: Mode = "blocks"
        self._is_code = False

    def _element(self, element: Any, above: InheritedLook) -> None:
        raise NotImplementedError

    def _text(self, text: str | None, look: InheritedLook) -> None:
        if not text:
            return
        text = remove_link_marks(text)
        reason = look.why_unseen if text.strip() else None
        if reason:
            self._take(text, reason)
            text = " "
        elif text.strip():
            self._last, self._apart = None, False
        elif self._last:
            self._last.text += " "
        if self._is_code:
            text = text.replace("\n", LINE).replace(" ", "\u00a0") if self._mode == "flat" else text
        self._parts.append(text)

    def _take(self, text: str, reason: HiddenReason) -> None:
        text = remove_link_marks(text)
        if self._last and self._last.reason is reason:
            self._last.text += ("\n" if self._apart else "") + text
        elif WORD.search(text):
            self._last = HiddenPiece(text, reason)
            self._behind.append(self._last)
        self._apart = False

    def _hide_element(self, element: Any, reason: HiddenReason) -> None:
        is_block = element.tag in BLOCKS or element.tag in HEADINGS or element.tag in ("br", "table", "ul", "ol", "pre")
        self._apart |= is_block
        if element.tag == "img" and element.get("alt"):
            self._take(element.get("alt"), reason)
        for text in (element.text, *(part for child in element for part in (child, child.tail))):
            if isinstance(text, str):
                self._take(text, reason)
            elif text is not None and isinstance(text.tag, str) and text.tag not in DROPPED:
                self._hide_element(text, reason)
            elif text is not None:
                self._read_comment(text)
        self._apart |= is_block

    def _read_comment(self, node: Any) -> None:
        if callable(node.tag) and node.tag.__name__ == "Comment" and isinstance(node.text, str):
            self._take(node.text, HiddenReason.COMMENT)

    def _close(self, opened: Open) -> None:
        self._parts[opened.start :] = [opened.written("".join(self._parts[opened.start :]))]

    def _said(self) -> str:
        """Return the text read so far and start anew; open elements continue."""
        for opened in reversed(self._open):
            self._close(opened)
            opened.start = 0
        text, self._parts = "".join(self._parts), []
        if self._is_code and self._mode != "flat":
            return text
        lines = (collapse_white_space(line).strip(" ") for line in text.split(LINE))
        return "\n".join(line for line in lines if line)

    def _inside(self, element: Any, look: InheritedLook) -> None:
        self._text(element.text, look)
        for child in element:
            self._element(child, look)
            self._text(child.tail, look)

    def _read_flat_text(self, element: Any, look: InheritedLook) -> str:
        """Return the text inside an element, without blocks."""
        kept = self._parts, self._open, self._mode
        self._parts, self._open, self._mode = [], [], "flat"
        self._inside(element, look)
        text = self._said()
        self._parts, self._open, self._mode = kept
        return text
