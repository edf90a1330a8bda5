"""Reads that pages, API and tools share. Every row comes through `visible_to`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from authz.checks import get_visible
from authz.principal import Principal
from knowledge.models import Chunk, Document


@dataclass(frozen=True)
class ShownPassage:
    """A passage with where it stands. start, end: character offsets into the text of its version."""

    chunk_id: UUID
    knowledge_base_id: UUID
    document_id: UUID
    version_id: UUID
    position: int
    title: str
    filename: str
    language: str
    heading_path: tuple[str, ...]
    text: str
    page: int | None
    start: int
    end: int
    is_current: bool

    @property
    def embedded_text(self) -> str:
        """What stands in the index for this passage: where it is, then what it says."""
        return passage_text(self.title, self.heading_path, self.text)


def passage_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """What is embedded, indexed and reranked of a passage."""
    return f"{' > '.join([title, *heading_path])}\n{text}"


def passages(principal: Principal, chunk_ids: Iterable[UUID]) -> list[ShownPassage]:
    """Those of the passages that this person may see, in no order."""
    rows = Chunk.objects.visible_to(principal).filter(id__in=list(chunk_ids)).select_related("document")
    return [_shown(row) for row in rows]


def passage(principal: Principal, chunk_id: UUID) -> ShownPassage:
    """One passage; raises NotFound, the same for missing and forbidden."""
    row = get_visible(Chunk, principal, id=chunk_id)
    return _shown(row)


def passages_of(principal: Principal, document: Document) -> list[ShownPassage]:
    """All passages of the version that answers, in order."""
    rows = (
        Chunk.objects.visible_to(principal)
        .filter(version_id=document.current_version_id)
        .select_related("document")
        .order_by("position")
    )
    return [_shown(row) for row in rows]


def _shown(row: Chunk) -> ShownPassage:
    return ShownPassage(
        chunk_id=row.id,
        knowledge_base_id=row.knowledge_base_id,
        document_id=row.document_id,
        version_id=row.version_id,
        position=row.position,
        title=row.document.title,
        filename=row.document.filename,
        language=row.document.language,
        heading_path=tuple(row.heading_path),
        text=row.text,
        page=row.page_from,
        start=row.start,
        end=row.end,
        is_current=row.version_id == row.document.current_version_id,
    )
