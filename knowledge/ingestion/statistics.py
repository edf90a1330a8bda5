"""Keeps term weights honest: a chunk's weights were made with the average length its knowledge base had then."""

from uuid import UUID

from django.db import connection, transaction
from django.db.models import Avg

from knowledge.ingestion.rows import sparse
from knowledge.models import Chunk, ChunkIndex, KnowledgeBase
from knowledge.retrieval.terms import document_terms, lexical_weights
from knowledge.selectors import passage_text

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
        _weigh(base, ids[start : start + BATCH], average)
    base.average_terms = average
    return True


@transaction.atomic
def _weigh(base: KnowledgeBase, ids: list[UUID], average: float) -> None:
    chunks = Chunk.unscoped.filter(knowledge_base=base, id__in=ids).select_related("document")
    values = []
    for chunk in chunks:
        tf = document_terms(passage_text(chunk.document.title, chunk.heading_path, chunk.text))
        length = sum(tf.values())
        values.append((sparse(lexical_weights(tf, length, average)).to_text(), base.pk, chunk.id))
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE knowledge_chunkindex SET lexical = %s::sparsevec WHERE knowledge_base_id = %s AND chunk_id = %s",
            values,
        )
