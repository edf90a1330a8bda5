"""Reasons why text in a file is hidden from its readers. A parser returns such text as a block with the reason."""

from enum import StrEnum

from knowledge.failure_reasons import gettext_noop


class HiddenReason(StrEnum):
    """The reason why text is hidden. The values are stored."""

    NOT_DISPLAYED = "not_displayed"
    INVISIBLE = "invisible"
    TOO_SMALL = "too_small"
    COLOUR = "colour"
    OUTSIDE = "outside"
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


def has_low_contrast(text: Colour, background: Colour) -> bool:
    """Tell whether text of one colour cannot be told from a background of the other, by WCAG's ratio of contrast."""
    a, b = sorted((_compute_luminance(text), _compute_luminance(background)))
    return (b + 0.05) / (a + 0.05) < SEEN_CONTRAST


def _compute_luminance(colour: Colour) -> float:
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
