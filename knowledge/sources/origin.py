"""The origin of a document: its address, author and time in its source, for pages and citations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from authz.principal import Principal
from knowledge.models import Document, Folder, SourceItem
from knowledge.sources.base import find_section_url
from knowledge.sources.reading import find_connector_type


@dataclass(frozen=True)
class SourceOrigin:
    """noun: its kind in the source, such as a wiki page. path: without folders for people who do not see the folder here.

    url: of the cited heading where it can be linked to, "" where there is none.
    checked_at: when it last matched the source. gone_at: since when it is missed.
    """

    source: str
    noun: str
    path: str
    url: str
    author: str
    modified_at: datetime | None
    checked_at: datetime | None
    gone_at: datetime | None


def find_document_origin(
    principal: Principal, document: Document, heading_path: Sequence[str] = ()
) -> SourceOrigin | None:
    """Return a document's origin; None without a source, or if hidden from this person."""
    rows = SourceItem.objects.visible_to(principal).filter(document=document).select_related("source")
    row = rows.first()
    if row is None:
        return None
    is_place_seen = Folder.objects.visible_to(principal).filter(pk=document.folder_id).exists()
    url = find_section_url(row.url, row.sections, tuple(heading_path))
    return SourceOrigin(
        source=row.source.name,
        noun=str(find_connector_type(row.source.kind).noun),
        path=row.path if is_place_seen else PurePosixPath(row.path).name,
        url=url if url.startswith(("https://", "http://")) else "",
        author=row.author,
        modified_at=row.modified_at,
        checked_at=row.checked_at,
        gone_at=row.gone_at,
    )
