"""The flip: in one transaction the new version answers and the old one does not."""

from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Avg
from django.utils import timezone

from audit.actions import Action
from audit.record import record_action
from copilot_site.lib.registry import Registry
from knowledge.ingestion.stages import Written
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, DocumentVersion, KnowledgeBase, WebhookEvent
from knowledge.selectors import build_passage_text
from knowledge.text.terms import build_sparse_vector, compute_lexical_weights, count_terms
from knowledge.webhooks.announcing import announce_document

published: Registry[Callable[[UUID], None]] = Registry("reader of what is published")
"""Callbacks of upper apps in the publishing transaction, with the document's id."""


def publish_version(version: DocumentVersion, _report: Callable[[int, int], None]) -> Written:
    """Let this version answer, unless a newer one does already; doing it again changes nothing."""
    return Written(1, partial(_switch_version, version))


def _switch_version(version: DocumentVersion) -> None:
    document = (
        Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=version.document_id)
    )
    current = document.current_version
    if document.withdrawn_at is not None:
        _delete_index_rows(version)
    elif current is None and document.versions.filter(number__gt=version.number, published_at__isnull=False).exists():
        _delete_index_rows(
            version
        )  # a newer one is being read again, or cannot be read any more: an older one does not come back
    elif current is None or current.number < version.number:
        unpublish_document(document)
        ChunkIndex.unscoped.filter(version=version).update(live=True, folder=document.access_id)
        _update_counts(document, version, sign=1)
        document.current_version = version
        document.save(update_fields=["current_version", "updated_at"])
        DocumentVersion.unscoped.filter(pk=version.pk).update(published_at=timezone.now())
        announce_document(WebhookEvent.DOCUMENT_READY, document, version=version.number)
        record_action(None, Action.DOCUMENT_PUBLISHED, document, detail={"version": version.number})
        for published_version in published:
            published_version(document.pk)
    elif current.number > version.number:  # a newer version was published first: this one will never answer
        _delete_index_rows(version)


def replace_passages(version: DocumentVersion, rows: list[Chunk], *, language: str) -> bool:
    """Replace the passages of an answering version by `rows`, all of them indexed; the old ones stay for the answers that cite them. False
    where the version does not answer any more. Runs inside the caller's transaction.
    """
    document = Document.unscoped.select_for_update(of=("self",)).get(pk=version.document_id)
    if document.current_version_id != version.pk:
        _delete_index_rows(version)
        return False
    ids = [row.id for row in rows]
    _update_counts(document, version, sign=-1)
    _delete_index_rows(version, keep=ids)
    Chunk.unscoped.filter(version=version, id__in=ids).delete()
    Chunk.unscoped.filter(version=version).update(is_retired=True)
    Chunk.unscoped.bulk_create(rows, batch_size=500)
    ChunkIndex.unscoped.filter(version=version).update(live=True, folder=document.access_id, language=language)
    _update_counts(document, version, sign=1)
    document.language = language
    document.save(update_fields=["language", "updated_at"])
    for published_version in published:
        published_version(document.pk)
    return True


def unpublish_document(document: Document) -> None:
    """Remove the answering version of a document from every search; runs inside the caller's transaction."""
    current = document.current_version
    if current is not None:
        _update_counts(document, current, sign=-1)
        _delete_index_rows(current)


def _delete_index_rows(version: DocumentVersion, *, keep: Sequence[UUID] = ()) -> None:
    ChunkIndex.unscoped.filter(version=version).exclude(chunk_id__in=keep).delete()
    ChunkTokens.unscoped.filter(version=version).exclude(chunk_id__in=keep).delete()


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


def update_passage_count(version: DocumentVersion, folder_id: UUID, *, sign: int) -> None:
    """Add the live passages of a version to the counts of a folder (sign 1), or subtract them (-1)."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_CHUNKS, {"sign": sign, "version": version.pk, "folder": folder_id})


def _update_counts(document: Document, version: DocumentVersion, *, sign: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TERMS, {"sign": sign, "version": version.pk})
    update_passage_count(version, document.access_id, sign=sign)


DRIFT = 0.1  # share by which the average may move before weights are made again; moves a score by less than 4 %
BATCH = 500


def refresh_statistics(base: KnowledgeBase) -> bool:
    """Weigh the terms of a knowledge base again if its average length has drifted; returns whether it was done."""
    average = ChunkIndex.unscoped.filter(knowledge_base=base, live=True).aggregate(mean=Avg("term_total"))["mean"]
    if average is None or abs(average - base.average_terms) <= DRIFT * base.average_terms:
        return False
    with transaction.atomic():
        KnowledgeBase.unscoped.filter(pk=base.pk).update(average_terms=average)
    ids = list(
        ChunkIndex.unscoped.filter(knowledge_base=base)
        .order_by("chunk_id")
        .values_list("chunk_id", flat=True)
        .distinct()
    )
    for start in range(0, len(ids), BATCH):
        _update_term_weights(base, ids[start : start + BATCH], average)
    base.average_terms = average
    return True


@transaction.atomic
def _update_term_weights(base: KnowledgeBase, ids: list[UUID], average: float) -> None:
    chunks = Chunk.unscoped.filter(knowledge_base=base, id__in=ids).select_related("document")
    values = []
    for chunk in chunks:
        tf = count_terms(build_passage_text(chunk.document.title, chunk.heading_path, chunk.text))
        length = sum(tf.values())
        values.append((build_sparse_vector(compute_lexical_weights(tf, length, average)).to_text(), base.pk, chunk.id))
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE knowledge_chunkindex SET lexical = %s::sparsevec WHERE knowledge_base_id = %s AND chunk_id = %s",
            values,
        )
