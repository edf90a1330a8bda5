"""Pages of PDFs and pictures as images, where on them a span of the text stands, and the pictures inside Office files."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.ingestion.stages import load_parsed_document, open_local_copy
from knowledge.models import DocumentVersion
from knowledge.models.documents import build_pages_path
from knowledge.parsers.base import UnreadableFile
from knowledge.parsers.blocks import TABULAR, Box, PageMarks
from knowledge.parsers.sandbox import locate_quotation_in_child, render_page_in_child, render_picture_in_child
from knowledge.rendering import PlacedBlock, Span

T = TypeVar("T", bytes, bytes | None)
PAGED_TYPES = ("application/pdf", "image/png", "image/jpeg", "image/tiff", "image/webp")
"""The types of files whose pages are shown as images."""


def load_page_png(version: DocumentVersion, number: int) -> bytes:
    """Return a page as PNG, made once and kept in the storage; the caller has read the version under the person's rights.

    number: from 1. Raises NotFound where there is no such page, InvalidInput where it cannot be drawn.
    """

    def drawn(path: Path) -> bytes | None:
        return render_page_in_child(path, filename=version.document.filename, page=number)

    try:
        png = _load_or_make_file(version, f"{number}.png", drawn)
    except UnreadableFile as problem:
        raise InvalidInput(_("This page cannot be shown as an image. Its text is next to it.")) from problem
    if png is None:
        raise NotFound(_("This document has no such page."))
    return png


def load_picture_png(version: DocumentVersion, number: int) -> bytes:
    """Return a picture inside an Office file as PNG, made once and kept, as `load_page_png` has it.

    number: from 1, in the order of the text.
    """
    pictures = load_parsed_document(version).inner_pictures
    if not 1 <= number <= len(pictures):
        raise NotFound(_("This document has no such picture."))

    def drawn(path: Path) -> bytes:
        return render_picture_in_child(path, filename=version.document.filename, name=pictures[number - 1].name)

    try:
        return _load_or_make_file(version, f"picture-{number}.png", drawn)
    except UnreadableFile as problem:
        raise InvalidInput(_("This picture cannot be shown; it is in the original.")) from problem


def _load_or_make_file(version: DocumentVersion, name: str, make: Callable[[Path], T]) -> T | bytes:
    """Return the version's stored file of this name, else make it by `make` and store it unless it is None."""
    storage, kept_as = version.file.storage, version.page_name(name)
    if storage.exists(kept_as):
        with storage.open(kept_as) as kept:
            return bytes(kept.read())
    with open_local_copy(version) as path:
        made = make(path)
    if made is not None:
        storage.save(kept_as, ContentFile(made))
    return made


def list_stored_images(storage: Storage, version_id: UUID) -> list[str]:
    """Return the storage names of a version's images and of the text read from its pictures."""
    folder = build_pages_path(version_id)
    with suppress(FileNotFoundError):
        return [f"{folder}/{name}" for name in storage.listdir(folder)[1]]
    return []


def find_page_marks(
    version: DocumentVersion, number: int, blocks: Sequence[PlacedBlock], cited: Span | None
) -> PageMarks:
    """Return the boxes of a span on its page, by letters in a PDF. blocks: of that page. Text that is not found is not marked."""
    touched = [(block, inner) for block in blocks if cited and (inner := cited.within(block.start, block.end))]
    if not touched:
        return PageMarks(0, 0, ())
    if not any(block.block.is_recognised for block, _inner in touched):
        quoted = " ".join(block.block.text[inner.start : inner.end] for block, inner in touched)
        within = [box for block, _inner in touched for box in block.block.boxes]
        with suppress(UnreadableFile), open_local_copy(version) as path:
            name = version.document.filename
            if marks := locate_quotation_in_child(path, filename=name, page=number, quoted=quoted, within=within):
                return marks
    return PageMarks(0, 0, tuple(find_cited_boxes(blocks, cited)))


def find_cited_boxes(blocks: Sequence[PlacedBlock], cited: Span | None) -> list[Box]:
    """Return the parts of these blocks' lines that the span touches, as shares of the page's size, for pages without letter positions.

    A block knows the boxes of its lines but not which characters stand in each: characters are taken to be spread over
    the lines by their widths. Of a table, all of it is meant.
    """
    found: list[Box] = []
    for block in blocks:
        inner = cited.within(block.start, block.end) if cited else None
        if inner:
            boxes = block.block.boxes
            found += (
                boxes if block.block.kind in TABULAR else _select_touched_boxes(boxes, len(block.block.text), inner)
            )
    return found


def _select_touched_boxes(boxes: Sequence[Box], length: int, span: Span) -> list[Box]:
    total = sum(x1 - x0 for x0, _y0, x1, _y1 in boxes)
    found, before = [], 0.0
    slack = total / length / 2  # half a character
    start, end = span.start / length * total, span.end / length * total
    for x0, y0, x1, y1 in boxes:
        after = before + x1 - x0
        if before < end - slack and after > start + slack:
            found.append((x0 + max(start - before, 0.0), y0, x1 - max(after - end, 0.0), y1))
        before = after
    return found
