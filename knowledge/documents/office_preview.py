"""Office files as pages of structure: slides as cards, sheets as sections with their names, a document as a sheet of paper.

It is made of the blocks that were read, and of the pictures between them. What they do not hold is not shown: fonts, colours, places on
a slide.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from knowledge.rendering import PlacedBlock, Span, render_blocks

Kind = Literal["document", "slides", "sheets"]
_OFFICE = "application/vnd.openxmlformats-officedocument."
KINDS: dict[str, Kind] = {
    f"{_OFFICE}wordprocessingml.document": "document",
    f"{_OFFICE}presentationml.presentation": "slides",
    f"{_OFFICE}spreadsheetml.sheet": "sheets",
}
"""By the type of the file."""


@dataclass(frozen=True)
class OfficePreview:
    """body: safe HTML, with the cited span in <mark>. sheets: (anchor, name) of the sheets in it, where there are several."""

    kind: Kind
    body: SafeString
    sheets: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PlacedPicture:
    """A picture inside a part. before: number of the part's blocks before it. page: its slide."""

    url: str
    before: int
    page: int | None = None


def build_office_preview(
    mime_type: str, blocks: Sequence[PlacedBlock], cited: Span | None, pictures: Sequence[PlacedPicture] = ()
) -> OfficePreview | None:
    """Return a part of an office file; None for other files. pictures: in the order of the text."""
    match KINDS.get(mime_type):
        case "slides":
            return OfficePreview("slides", _render_slides(blocks, cited, pictures))
        case "sheets":
            return _render_sheets(blocks, cited)
        case "document":
            return OfficePreview("document", _render_with_pictures(_merge_by_position(blocks, pictures), cited))
        case _:
            return None


def _merge_by_position(
    blocks: Sequence[PlacedBlock], pictures: Sequence[PlacedPicture]
) -> Iterator[PlacedBlock | PlacedPicture]:
    """Return blocks and pictures in their order."""
    done = 0
    for picture in pictures:
        yield from blocks[done : picture.before]
        yield picture
        done = picture.before
    yield from blocks[done:]


def _render_with_pictures(found: Iterable[PlacedBlock | PlacedPicture], cited: Span | None) -> SafeString:
    """Return the part as HTML, with the pictures between the runs of blocks."""
    what = _("Picture in the document")
    runs: list[SafeString] = []
    for is_picture, run in groupby(found, key=lambda item: isinstance(item, PlacedPicture)):
        if is_picture:
            addresses = [(item.url, what) for item in run if isinstance(item, PlacedPicture)]
            runs.append(format_html_join("\n", '<img src="{}" alt="{}" loading="lazy">', addresses))
        else:
            runs.append(_render_anchored_blocks([item for item in run if isinstance(item, PlacedBlock)], cited))
    return format_html_join("\n", "{}", ((run,) for run in runs))


def _render_slides(blocks: Sequence[PlacedBlock], cited: Span | None, pictures: Sequence[PlacedPicture]) -> SafeString:
    in_order = _merge_by_position(blocks, pictures)
    slides = [(page, list(found)) for page, found in groupby(in_order, key=_find_slide_number)]
    return format_html_join(
        "\n",
        '<section class="slide" aria-label="{}"><p class="slide-number">{}</p>\n{}</section>',
        (
            (name := _("Slide %(number)s") % {"number": page or "–"}, name, _render_with_pictures(found, cited))
            for page, found in slides
        ),
    )


def _find_slide_number(each: PlacedBlock | PlacedPicture) -> int | None:
    return each.page if isinstance(each, PlacedPicture) else each.block.page


def _render_sheets(blocks: Sequence[PlacedBlock], cited: Span | None) -> OfficePreview:
    """Return a preview by sheets: each begins at its name; text before the first one continues an earlier sheet."""
    sheets: list[list[PlacedBlock]] = []
    for block in blocks:
        if not sheets or (block.block.kind == "heading" and block.block.level == 1):
            sheets.append([])
        sheets[-1].append(block)
    body = format_html_join(
        "\n",
        '<section class="sheet" id="sheet-{}">\n{}</section>',
        ((number, _render_anchored_blocks(found, cited)) for number, found in enumerate(sheets, 1)),
    )
    named = [
        (f"sheet-{number}", found[0].block.text)
        for number, found in enumerate(sheets, 1)
        if found[0].block.kind == "heading"
    ]
    return OfficePreview("sheets", body, tuple(named) if len(named) > 1 else ())


def _render_anchored_blocks(found: Sequence[PlacedBlock], cited: Span | None) -> SafeString:
    """Return blocks as HTML. The cited span is anchored only where it begins: an id is unique on a page."""
    begins = cited is not None and bool(found) and found[0].start <= cited.start < found[-1].end
    return render_blocks(found, cited, anchor="cited" if begins else "")
