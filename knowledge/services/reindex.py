"""Bringing published documents into the embedding space of the settings, beside the one that answers until then."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from knowledge.engine import engine
from knowledge.ingestion.indexing import batches, index_rows, passages_to_index, write_placed
from knowledge.models import ChunkIndex, DocumentVersion


def published_versions() -> Sequence[DocumentVersion]:
    """The versions that answer, with what indexing needs of their documents."""
    rows = DocumentVersion.unscoped.filter(document__current_version_id=F("pk"))
    return list(rows.select_related("document__folder", "document__knowledge_base"))


def count_lacking() -> int:
    """How many published documents the space of the settings does not hold: a search does not find them."""
    indexed = ChunkIndex.unscoped.filter(version_id=OuterRef("pk"), space__name=engine().space)
    published = DocumentVersion.unscoped.filter(document__current_version_id=F("pk"))
    return published.filter(~Exists(indexed)).count()


def reindex_version(version: DocumentVersion) -> int:
    """Index one published version in the space of the settings; returns how many passages it lacked there."""
    with_engine = engine()
    _there, missing = passages_to_index(version, with_engine)
    for batch in batches(missing):
        rows = index_rows(version.document, batch, with_engine, live=True)
        with transaction.atomic():
            write_placed(version.document, rows)
    return len(missing)
