"""Text that stands in a file and that nobody sees who opens it: why, and how it is kept apart from what is read.

A parser takes such text out of the file before it is read and leaves a mark in the text before it, which says where it was.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum


def gettext_noop(text: str) -> str:
    """Marks a sentence for the catalogue of translations; Django stays out of the parsing process."""
    return text


class HiddenReason(StrEnum):
    """Why text cannot be seen. The values are stored."""

    NOT_DISPLAYED = "not_displayed"
    INVISIBLE = "invisible"
    TOO_SMALL = "too_small"
    COLOUR = "colour"
    OUTSIDE = "outside"
    SKIPPED = "skipped"  # aria-hidden: of documents that versions 2 and 3 of the parsers read
    COMMENT = "comment"
    DELETED = "deleted"
    STRUCK = "struck"
    ROW = "row"
    COLUMN = "column"
    SHEET = "sheet"
    CELL = "cell"
    SLIDE = "slide"
    PICTURE = "picture"


REASONS = {
    HiddenReason.NOT_DISPLAYED: gettext_noop("It is formatted as hidden."),
    HiddenReason.INVISIBLE: gettext_noop("It is drawn invisibly."),
    HiddenReason.TOO_SMALL: gettext_noop("It is too small to be seen."),
    HiddenReason.COLOUR: gettext_noop("It has the colour of what is behind it."),
    HiddenReason.OUTSIDE: gettext_noop("It lies outside the page, or is cut off."),
    HiddenReason.SKIPPED: gettext_noop("It is marked to be left out when the page is read aloud (aria-hidden)."),
    HiddenReason.COMMENT: gettext_noop("It is a comment in the source of the file."),
    HiddenReason.DELETED: gettext_noop("It was deleted while changes were tracked."),
    HiddenReason.STRUCK: gettext_noop("It is struck out."),
    HiddenReason.ROW: gettext_noop("Its row is hidden."),
    HiddenReason.COLUMN: gettext_noop("Its column is hidden."),
    HiddenReason.SHEET: gettext_noop("Its sheet is hidden."),
    HiddenReason.CELL: gettext_noop("The number format of its cell shows nothing."),
    HiddenReason.SLIDE: gettext_noop("Its slide is hidden."),
    HiddenReason.PICTURE: gettext_noop("It describes a picture for people who cannot see it."),
}

SEEN_CONTRAST = 1.2  # between luminances, from 1 to 21: text below cannot be told from what is behind it
SMALLEST_POINTS = 1.5  # of a font, as it is shown

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)

_OPEN, _CLOSE = "\U0010fffc", "\U0010fffd"  # of the last private plane: no font and no document needs them
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_WORD = re.compile(r"\w")
_NO_MARKS = {ord(_OPEN): None, ord(_CLOSE): None}


def blends_in(text: Colour, background: Colour) -> bool:
    """Whether text of one colour cannot be told from a background of the other, by WCAG's ratio of contrast."""
    a, b = sorted((_luminance(text), _luminance(background)))
    return (b + 0.05) / (a + 0.05) < SEEN_CONTRAST


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@dataclass
class Hidden:
    """What a parser took out of one file, in the order of the file.

    pieces: texts with their reasons, and without one the names of pictures; the number in a mark is an index into them.
    """

    pieces: list[tuple[str, HiddenReason | None]] = field(default_factory=list)
    _seen_since: bool = True

    @staticmethod
    def unmarked(source: str) -> str:
        """A source that holds no marks of its own: nobody can name a piece but the parser."""
        return source.translate(_NO_MARKS)

    def take(self, text: str, reason: HiddenReason, *, apart: bool = False) -> str:
        """Keep a text; returns the mark to leave, "" where the text belongs to the piece before it or says nothing.

        apart: whether a line ends between this text and the one before.
        """
        text = Hidden.unmarked(text)
        last = self.pieces[-1] if self.pieces and not self._seen_since else None
        if last and last[1] is reason:
            self.pieces[-1] = (last[0] + ("\n" if apart else "") + text, reason)
            return ""
        if not _WORD.search(text):
            return ""
        self.pieces.append((text, reason))
        self._seen_since = False
        return f"{_OPEN}{len(self.pieces) - 1}{_CLOSE}"

    def picture(self, name: str) -> str:
        """Keep the name of a picture, which is seen; returns the mark to leave."""
        self.pieces.append((name, None))
        self.seen()
        return f"{_OPEN}{len(self.pieces) - 1}{_CLOSE}"

    def seen(self) -> None:
        """Text that can be seen came between: what is hidden after it is another piece."""
        self._seen_since = True


def with_mark(text: str, mark: str) -> str:
    """A text with a mark in front of its last character: what tells lists and sentences apart looks at both ends."""
    if not mark:
        return text
    end = len(text.rstrip()) - 1
    return text[:end] + mark + text[end:] if end >= 0 else text + mark


def marks_in(text: str) -> list[int]:
    """The numbers of the pieces whose marks a text holds, in order."""
    return [int(number) for number in _MARK.findall(text)]


def all_marks(text: str) -> str:
    return "".join(f"{_OPEN}{number}{_CLOSE}" for number in marks_in(text))


def without_marks(text: str) -> str:
    return _MARK.sub("", text)
