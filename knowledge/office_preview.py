"""Office files as pages of structure: slides as cards, sheets as sections with their names, a document as a sheet of paper.

It is made of the blocks that were read. What they do not hold is not shown: fonts, colours, places on a slide, pictures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from knowledge.rendering import Placed, Span, as_html

Kind = Literal["document", "slides", "sheets"]
_OFFICE = "application/vnd.openxmlformats-officedocument."
KINDS: dict[str, Kind] = {
    f"{_OFFICE}wordprocessingml.document": "document",
    f"{_OFFICE}presentationml.presentation": "slides",
    f"{_OFFICE}spreadsheetml.sheet": "sheets",
}
"""By the type of the file."""


@dataclass(frozen=True)
class Preview:
    """body: safe HTML, with the cited span in <mark>. sheets: (anchor, name) of the sheets in it, where there are several."""

    kind: Kind
    body: SafeString
    sheets: tuple[tuple[str, str], ...] = ()


def preview_of(mime_type: str, blocks: Sequence[Placed], cited: Span | None) -> Preview | None:
    """A part of an office file; None for other files."""
    match KINDS.get(mime_type):
        case "slides":
            return Preview("slides", _slides(blocks, cited))
        case "sheets":
            return _sheets(blocks, cited)
        case "document":
            return Preview("document", as_html(blocks, cited))
        case _:
            return None


def _slides(blocks: Sequence[Placed], cited: Span | None) -> SafeString:
    slides = [(page, list(found)) for page, found in groupby(blocks, key=lambda each: each.block.page)]
    return format_html_join(
        "\n",
        '<section class="slide" aria-label="{}"><p class="slide-number">{}</p>\n{}</section>',
        (
            (name := _("Slide %(number)s") % {"number": page or "–"}, name, _anchored(found, cited))
            for page, found in slides
        ),
    )


def _sheets(blocks: Sequence[Placed], cited: Span | None) -> Preview:
    """A sheet begins at its name; what stands before the first name belongs to a sheet that began in an earlier part."""
    sheets: list[list[Placed]] = []
    for each in blocks:
        if not sheets or (each.block.kind == "heading" and each.block.level == 1):
            sheets.append([])
        sheets[-1].append(each)
    body = format_html_join(
        "\n",
        '<section class="sheet" id="sheet-{}">\n{}</section>',
        ((number, _anchored(found, cited)) for number, found in enumerate(sheets, 1)),
    )
    named = [
        (f"sheet-{number}", found[0].block.text)
        for number, found in enumerate(sheets, 1)
        if found[0].block.kind == "heading"
    ]
    return Preview("sheets", body, tuple(named) if len(named) > 1 else ())


def _anchored(found: Sequence[Placed], cited: Span | None) -> SafeString:
    """Blocks as HTML. The cited span is anchored where it begins, and nowhere else: an id stands once on a page."""
    begins = cited is not None and bool(found) and found[0].start <= cited.start < found[-1].end
    return as_html(found, cited, anchor="cited" if begins else "")
