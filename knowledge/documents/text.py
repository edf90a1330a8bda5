"""Documents as a person sees them: a part of the text, or a page of it, with the cited span."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import NotFound
from knowledge.documents.office_preview import KINDS, OfficePreview, PlacedPicture, build_office_preview
from knowledge.ingestion.stages import load_parsed_document
from knowledge.library import list_document_versions
from knowledge.models import Chunk, Document, DocumentVersion, ParseStatus
from knowledge.page_images import PAGED_TYPES, find_page_marks, load_page_png, load_picture_png
from knowledge.parsers.blocks import Box, PageMarks, ParsedDocument
from knowledge.rendering import (
    PlacedBlock,
    Span,
    extract_excerpt,
    find_hidden_blocks,
    find_part_index,
    has_page_positions,
    render_blocks,
    split_into_parts,
)
from knowledge.sources.origin import SourceOrigin, find_document_origin


@dataclass(frozen=True)
class OpenedPassage:
    """A passage that a page is opened at. span: of the passage's text; None means all of it."""

    chunk_id: UUID
    span: Span | None = None


@dataclass(frozen=True)
class ShownPageImage:
    """A page to show as an image. marks: what to highlight on it. is_lost: something is cited that could not be found on it."""

    version: DocumentVersion
    number: int
    marks: PageMarks
    is_lost: bool = False

    @property
    def rects(self) -> list[Box]:
        """Return the boxes as x, y, width, height."""
        return [(x0, y0, x1 - x0, y1 - y0) for x0, y0, x1, y1 in self.marks.boxes]


@dataclass(frozen=True)
class Reader:
    """A document page. `shown` is the version whose text this is, None when no version could be read yet.

    part, part_count: from 1; of a PDF they are its pages. passages: those that begin in this part.
    unseen, unseen_count: what people do not see of this part in the original, kept apart. is_recognised: whether some of it was read
    from a picture. preview: of an office file, in place of `body`.
    """

    document: Document
    versions: Sequence[DocumentVersion]
    shown: DocumentVersion | None = None
    part: int = 1
    part_count: int = 1
    body: str = ""
    unseen: str = ""
    unseen_count: int = 0
    is_recognised: bool = False
    image: ShownPageImage | None = None
    preview: OfficePreview | None = None
    passages: Sequence[Chunk] = ()
    cited: Chunk | None = None
    is_citation_gone: bool = False
    origin: SourceOrigin | None = None

    @property
    def newest(self) -> DocumentVersion:
        return self.versions[0]

    @property
    def is_outdated(self) -> bool:
        """Tell whether another version answers by now."""
        return self.shown is not None and self.shown.pk != self.document.current_version_id


@dataclass(frozen=True)
class CitedSource:
    """The passage behind a citation. successor: the document that holds instead of its own, where the person may see it."""

    document: Document
    chunk: Chunk
    page: int | None
    is_outdated: bool
    body: SafeString
    image: ShownPageImage | None
    origin: SourceOrigin | None = None
    waits_for_approval: bool = False
    successor: Document | None = None


def open_document(
    principal: Principal,
    document_id: UUID,
    *,
    cited: OpenedPassage | None = None,
    part: int | None = None,
    number: int | None = None,
) -> Reader:
    """Return a document for reading, at the cited passage or at a part (from 1), of the given version or the one that answers.

    Recorded as opened. Raises NotFound.
    """
    document = get_visible(Document, principal, pk=document_id)
    versions = list_document_versions(principal, document)
    chunk = _find_cited_passage(principal, document, cited)
    wanted = next(
        (item.pk for item in versions if item.number == number and is_version_parsed(item)), document.current_version_id
    )
    version = _find_wanted_version(versions, chunk.version_id if chunk else wanted)
    is_gone = cited is not None and chunk is None
    if version is None:
        return Reader(document, versions, is_citation_gone=is_gone, origin=find_document_origin(principal, document))
    parsed = load_parsed_document(version)
    found = split_into_parts(parsed)
    span = _convert_passage_span(parsed, chunk, cited.span) if chunk and cited else None
    index = find_part_index(found, span.start) if span else min(max(part or 1, 1), len(found)) - 1
    blocks = found[index]
    record_action(principal, Action.DOCUMENT_OPENED, document, detail={"version": version.number, "part": index + 1})
    has_image = has_page_positions(parsed)
    unseen = find_hidden_blocks(parsed, found, index)
    return Reader(
        document,
        versions,
        shown=version,
        part=index + 1,
        part_count=len(found),
        body=render_blocks(blocks, span, anchor="" if has_image else "cited"),
        preview=build_office_preview(
            version.mime_type, blocks, span, _find_part_pictures(version, parsed, found, index)
        ),
        unseen=render_blocks([PlacedBlock(block, 0) for block in unseen], heading_from=3),
        unseen_count=len(unseen),
        is_recognised=any(block.block.is_recognised for block in blocks),
        image=_build_page_image(version, index + 1, blocks, span) if has_image else None,
        passages=_list_block_passages(principal, version, blocks),
        cited=chunk,
        is_citation_gone=is_gone,
        origin=find_document_origin(principal, document, chunk.heading_path if chunk else ()),
    )


def is_version_parsed(version: DocumentVersion) -> bool:
    return version.parse_status == ParseStatus.COMPLETED


def record_shown_passages(principal: Principal, passages: Sequence[Chunk]) -> None:
    """Record that passages of one version, loaded with it and its document, are shown, if there are any."""
    if passages:
        first = passages[0]
        detail = {"version": first.version.number, "chunks": [str(passage.id) for passage in passages]}
        record_action(principal, Action.DOCUMENT_OPENED, first.document, detail=detail)


def open_cited_source(principal: Principal, base_id: UUID, chunk_id: UUID, span: Span | None) -> CitedSource:
    """Return a passage with its cited span (of the passage's text) highlighted. Recorded as evidence shown. Raises NotFound."""
    chunk = get_visible(Chunk, principal, knowledge_base_id=base_id, id=chunk_id)
    document, version = chunk.document, chunk.version
    parsed = load_parsed_document(version)
    cited = _convert_passage_span(parsed, chunk, span)
    blocks = extract_excerpt(parsed, Span(chunk.start, chunk.end))
    page = next((block.block.page for block in blocks if cited.within(block.start, block.end)), chunk.page_from)
    image = None
    if page and has_page_positions(parsed):
        image = _build_page_image(version, page, split_into_parts(parsed)[page - 1], cited)
    record_action(
        principal, Action.EVIDENCE_SHOWN, document, detail={"version": version.number, "chunk": str(chunk.id)}
    )
    return CitedSource(
        document,
        chunk,
        page=page,
        is_outdated=version.pk != document.current_version_id,
        body=render_blocks(blocks, cited if span else None, heading_from=3),
        image=image,
        origin=find_document_origin(principal, document, chunk.heading_path),
        successor=find_visible_successor(principal, document),
        waits_for_approval=version.approved_at is None and document.knowledge_base.is_approval_wanted,
    )


def find_visible_successor(principal: Principal, document: Document) -> Document | None:
    """Return the document that holds instead of this one, where this person may see it."""
    if document.superseded_by_id is None:
        return None
    return Document.objects.visible_to(principal).filter(pk=document.superseded_by_id).first()


def open_page_image(principal: Principal, document_id: UUID, version_number: int, page: int) -> bytes:
    """Return a page of a version as PNG; page: from 1. Recorded as shown. Raises NotFound."""
    version = find_paged_version(principal, document_id, version_number)
    png = load_page_png(version, page)
    record_action(
        principal, Action.PAGE_IMAGE_SHOWN, version.document, detail={"version": version_number, "page": page}
    )
    return png


def open_embedded_picture(principal: Principal, document_id: UUID, version_number: int, number: int) -> bytes:
    """Return a picture inside an Office file as PNG; number: from 1, in the order of the text. Recorded as shown. Raises NotFound."""
    version = get_visible(
        DocumentVersion, principal, document_id=document_id, number=version_number, mime_type__in=list(KINDS)
    )
    if not is_version_parsed(version):
        raise NotFound(_("This document has no such picture."))
    png = load_picture_png(version, number)
    record_action(
        principal, Action.PAGE_IMAGE_SHOWN, version.document, detail={"version": version_number, "picture": number}
    )
    return png


def find_paged_version(principal: Principal, document_id: UUID, version_number: int) -> DocumentVersion:
    """Return a version of a PDF or a picture. Raises NotFound."""
    return get_visible(
        DocumentVersion, principal, document_id=document_id, number=version_number, mime_type__in=PAGED_TYPES
    )


def _find_part_pictures(
    version: DocumentVersion, parsed: ParsedDocument, found: Sequence[Sequence[PlacedBlock]], index: int
) -> list[PlacedPicture]:
    """Return the pictures inside the part at `index`; one between two parts goes with the text that it follows."""
    if version.mime_type not in KINDS:
        return []
    first = sum(len(part) for part in found[:index])
    last = first + len(found[index])
    return [
        PlacedPicture(
            reverse("picture", args=[version.document_id, version.number, number]), picture.at - first, picture.page
        )
        for number, picture in enumerate(parsed.inner_pictures, 1)
        if first < picture.at <= last or (index == 0 and picture.at == 0)
    ]


def _build_page_image(
    version: DocumentVersion, number: int, blocks: Sequence[PlacedBlock], cited: Span | None
) -> ShownPageImage:
    marks = find_page_marks(version, number, blocks, cited)
    return ShownPageImage(version, number, marks, is_lost=cited is not None and not marks.boxes)


def _find_cited_passage(principal: Principal, document: Document, cited: OpenedPassage | None) -> Chunk | None:
    if cited is None:
        return None
    return Chunk.objects.visible_to(principal).filter(document=document, id=cited.chunk_id).first()


def _find_wanted_version(versions: Sequence[DocumentVersion], wanted: UUID | None) -> DocumentVersion | None:
    return next((version for version in versions if version.pk == wanted), None)


def _list_block_passages(
    principal: Principal, version: DocumentVersion, blocks: Sequence[PlacedBlock]
) -> Sequence[Chunk]:
    if not blocks:
        return ()
    inside = {"start__gte": blocks[0].start, "start__lt": blocks[-1].end}
    return list(
        Chunk.objects.visible_to(principal).filter(version=version, is_retired=False, **inside).order_by("position")
    )


def _convert_passage_span(parsed: ParsedDocument, chunk: Chunk, within: Span | None) -> Span:
    """Return a span of a passage's text as a span of the document's; what the passage repeats (a header row) is no part of it."""
    text = parsed.text[chunk.start : chunk.end]
    body = text.strip("\n").rstrip()
    start = chunk.start + len(text) - len(text.lstrip("\n"))
    whole = Span(start, start + len(body))
    if within is None:
        return whole
    repeated = chunk.blocks[0].get("repeated", 0) if chunk.blocks else max(chunk.text.rfind(body), 0)
    first, last = (max(offset - repeated, 0) for offset in (within.start, within.end))
    return Span(start + first, min(start + last, whole.end)) if first < last else whole
