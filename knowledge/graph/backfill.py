"""A name that one passage makes known stands in others, that were there before it: those are looked through once for each new name."""

from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from knowledge.graph.storage import Known, Passage, keep_found, known_in
from knowledge.models import Chunk, GraphEntity, KnowledgeBase
from knowledge.text.terms import document_terms

AT_ONCE = 200  # passages

# A name stands only where its rarest word does; the index of terms finds those passages.
_RAREST = """
SELECT DISTINCT ON (n.place) f.term_id
FROM unnest(%(places)s::int[], %(terms)s::int[]) AS n(place, term)
JOIN knowledge_termfrequency f ON f.knowledge_base_id = %(base)s AND f.term_id = n.term
ORDER BY n.place, f.chunks, f.term_id"""
_HOLDING = """
SELECT DISTINCT i.chunk_id FROM knowledge_chunkindex i
WHERE i.knowledge_base_id = %(base)s AND i.live AND i.term_ids && %(rarest)s::int[] ORDER BY i.chunk_id"""


def spread(base: KnowledgeBase) -> None:
    """Look for the names that nobody looked for yet; each is marked when it was."""
    ids = list(GraphEntity.unscoped.filter(knowledge_base=base, is_spread=False).values_list("pk", flat=True))
    known = known_in(base, Q(is_spread=False))
    holding = _holding(base, known)
    for start in range(0, len(holding), AT_ONCE):
        rows = Chunk.unscoped.filter(knowledge_base=base, id__in=holding[start : start + AT_ONCE])
        passages = [Passage(*row) for row in rows.values_list("id", "document_id", "version_id", "text")]
        with transaction.atomic():
            keep_found(base, passages, known)
    GraphEntity.unscoped.filter(pk__in=ids).update(is_spread=True)


def _holding(base: KnowledgeBase, known: Known) -> list[UUID]:
    """The passages that answer and may hold one of the names."""
    pairs = [(place, term) for place, key in enumerate(sorted(known.names.keys)) for term in document_terms(key)]
    if not pairs:
        return []
    values: dict[str, Any] = {
        "base": base.pk,
        "places": [place for place, _term in pairs],
        "terms": [term for _place, term in pairs],
    }
    with connection.cursor() as cursor:
        cursor.execute(_RAREST, values)
        values["rarest"] = [term for (term,) in cursor.fetchall()]
        cursor.execute(_HOLDING, values)
        return [pk for (pk,) in cursor.fetchall()]
