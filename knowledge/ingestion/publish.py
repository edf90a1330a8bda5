"""The flip: in one transaction the new version answers and the old one does not."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.db import connection
from django.utils import timezone

from audit.actions import Action
from audit.record import record
from knowledge.ingestion.stages import Written
from knowledge.models import ChunkIndex, ChunkTokens, Document, DocumentVersion


def publish(version: DocumentVersion, _report: Callable[[int, int], None]) -> Written:
    """Let this version answer, unless a newer one does already; doing it again changes nothing."""
    return Written(1, partial(_flip, version))


def _flip(version: DocumentVersion) -> None:
    document = (
        Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=version.document_id)
    )
    current = document.current_version
    if current is None and document.versions.filter(number__gt=version.number, published_at__isnull=False).exists():
        _drop(version)  # a newer one is being read again, or cannot be read any more: an older one does not come back
    elif current is None or current.number < version.number:
        withdraw(document)
        ChunkIndex.unscoped.filter(version=version).update(live=True, folder=document.access_id)
        _count(document, version, sign=1)
        document.current_version = version
        document.save(update_fields=["current_version", "updated_at"])
        DocumentVersion.unscoped.filter(pk=version.pk).update(published_at=timezone.now())
        record(None, Action.DOCUMENT_PUBLISHED, document, detail={"version": version.number})
    elif current.number > version.number:  # a newer one was faster: this one will never answer
        _drop(version)


def withdraw(document: Document) -> None:
    """Take the answering version of a document out of every search; runs inside the caller's transaction."""
    current = document.current_version
    if current is not None:
        _count(document, current, sign=-1)
        _drop(current)


def _drop(version: DocumentVersion) -> None:
    ChunkIndex.unscoped.filter(version=version).delete()
    ChunkTokens.unscoped.filter(version=version).delete()


# One row for each term, in the order of its key, so that two publishing workers never wait for each other in a circle.
# A chunk counts once, however many embedding spaces hold it.
_COUNT_TERMS = """
INSERT INTO knowledge_termfrequency (knowledge_base_id, term_id, chunks)
SELECT i.knowledge_base_id, t.term_id, %(sign)s * count(DISTINCT i.chunk_id)
FROM knowledge_chunkindex i CROSS JOIN LATERAL unnest(i.term_ids) AS t(term_id)
WHERE i.version_id = %(version)s AND i.live
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (knowledge_base_id, term_id) DO UPDATE SET chunks = knowledge_termfrequency.chunks + excluded.chunks
"""
_COUNT_CHUNKS = """
UPDATE knowledge_folder f
SET chunk_count = f.chunk_count + %(sign)s * c.chunks, term_count = f.term_count + %(sign)s * c.terms
FROM (
    SELECT count(*) AS chunks, coalesce(sum(term_total), 0) AS terms
    FROM (SELECT DISTINCT chunk_id, term_total FROM knowledge_chunkindex WHERE version_id = %(version)s AND live) once
) c
WHERE f.id = %(folder)s
"""


def count_passages(version: DocumentVersion, folder_id: UUID, *, sign: int) -> None:
    """Add the live passages of a version to the counts of a folder (sign 1), or take them away (-1)."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_CHUNKS, {"sign": sign, "version": version.pk, "folder": folder_id})


def _count(document: Document, version: DocumentVersion, *, sign: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TERMS, {"sign": sign, "version": version.pk})
    count_passages(version, document.access_id, sign=sign)
