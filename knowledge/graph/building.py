"""Building of graphs: published documents that are not yet in their base's graph are read one after the other.

It is a step after publishing and apart from it: a document answers whether or not its graph could be made, and what is lost on the way
is tended later. One process works on a base at a time, so that no two make one entity.
"""

import math
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from authz.people.groups import list_full_names, list_unit_names
from copilot_site.lib.database import hold_process_lock
from knowledge.graph.names import Names, fold_name, is_distinctive_name
from knowledge.graph.pattern_extraction import AccountNames, extract_statements
from knowledge.graph.storage import (
    KnownNames,
    NamingPassage,
    PassageStatement,
    delete_base_graph,
    delete_orphans,
    load_known_names,
    store_mentions,
    store_statements,
)
from knowledge.models import (
    Chunk,
    Document,
    DocumentVersion,
    GraphEntity,
    GraphMention,
    GraphMode,
    GraphReading,
    KnowledgeBase,
    ParseStatus,
)
from knowledge.text.passage_blocks import parse_blocks
from knowledge.text.terms import count_terms

log = structlog.get_logger(__name__)

AT_ONCE_S = 60.0  # of one filling; other work of the queue comes between two
MAX_DEFER = timedelta(minutes=15)  # longest a published document waits for imports that keep coming


def find_unread_documents(base_id: UUID) -> QuerySet[Document]:
    """Return the documents of a base that answer and whose version is not in its graph."""
    read = GraphReading.objects.filter(document=OuterRef("pk"), version=OuterRef("current_version_id"))
    return Document.unscoped.filter(
        ~Exists(read), knowledge_base=base_id, current_version__isnull=False, trashed_at=None
    )


def is_graph_outdated(base: KnowledgeBase) -> bool:
    """Tell whether the graph of a base differs from its settings, or has names that were not looked for everywhere yet."""
    if base.graph == GraphMode.OFF:
        return GraphReading.objects.filter(document__knowledge_base=base).exists()
    return find_unread_documents(base.pk).exists() or _find_unmatched_entities(base).exists()


def is_filling_due(base_id: UUID) -> bool:
    """Return whether no document of the base waits to be imported, or a published one has waited for the graph for MAX_DEFER.

    Answers need passages first: beside an import the graph would take a worker of two. One switched off goes at once.
    """
    waiting = DocumentVersion.unscoped.filter(
        document__knowledge_base=base_id,
        document__trashed_at=None,
        parse_status__in=(ParseStatus.PENDING, ParseStatus.PROCESSING),
    ).exclude(document__knowledge_base__graph=GraphMode.OFF)
    late = find_unread_documents(base_id).filter(current_version__published_at__lt=Now() - MAX_DEFER)
    return not waiting.exists() or late.exists()


def fill_base_graph(base_id: UUID, *, at_most_s: float = math.inf) -> int:
    """Read unread documents of a base; return how many. Does nothing while another process does it."""
    count, begun = 0, time.monotonic()
    with hold_process_lock(f"graph:{base_id}") as is_alone:
        base = KnowledgeBase.unscoped.filter(pk=base_id).first()
        if not is_alone or base is None:
            return 0
        if base.graph == GraphMode.OFF:
            delete_base_graph(base)
            return 0
        if not is_graph_outdated(base):
            return 0
        known = load_known_names(base, Q())
        people = build_directory()
        skipped: set[UUID] = set()
        while time.monotonic() - begun < at_most_s:
            unread = find_unread_documents(base.pk).exclude(pk__in=skipped)
            if (document := unread.select_related("current_version").first()) is None:
                break
            try:
                read_document(base, document, known, people)
                count += 1
            except IntegrityError:  # deleted or replaced meanwhile
                log.info("graph.overtaken", document=str(document.pk))
                skipped.add(document.pk)
            except Exception as error:  # a failing document must not stop the others
                log.exception("graph.unread", document=str(document.pk))
                skipped.add(document.pk)
                _record_reading(document, problem=f"unexpected: {type(error).__name__}")
        match_new_names(base)
        delete_orphans(base)
    return count


def read_document(base: KnowledgeBase, document: Document, known: KnownNames, people: AccountNames) -> None:
    """Replace what the graph has of a document by what its passages say. Raises IntegrityError where its rows are gone."""
    version = document.current_version
    assert version is not None
    chunks = list(Chunk.unscoped.filter(version=version, is_retired=False).order_by("position"))
    readings = [
        PassageStatement(
            chunk,
            extract_statements(chunk.text, parse_blocks(chunk.blocks), is_first=chunk.position == 0, directory=people),
        )
        for chunk in chunks
    ]
    with transaction.atomic():
        GraphMention.unscoped.filter(document=document).delete()
        store_statements(base, document, readings, known)
        _record_reading(document)


def _record_reading(document: Document, *, problem: str = "") -> None:
    values = {"version_id": document.current_version_id, "problem": problem}
    GraphReading.objects.update_or_create(document=document, defaults=values)


def build_directory() -> AccountNames:
    """Return the directory as it is now. People are found by full names of two words or two characters, units as any other name."""
    return AccountNames(
        people=_build_names(
            name for name in list_full_names() if len(name) > 1 and (" " in name or not name.isascii())
        ),
        units=_build_names(name for name in list_unit_names() if is_distinctive_name(name)),
    )


def _build_names(texts: Iterable[str]) -> Names:
    names = Names()
    names.add(key for key in map(fold_name, texts) if key)
    return names


AT_ONCE = 200  # passages

# A name can only occur where its rarest word does: the index of terms finds those passages.
_RAREST = """
SELECT DISTINCT ON (n.place) f.term_id
FROM unnest(%(places)s::int[], %(terms)s::int[]) AS n(place, term)
JOIN knowledge_termfrequency f ON f.knowledge_base_id = %(base)s AND f.term_id = n.term
ORDER BY n.place, f.chunks, f.term_id"""
_HOLDING = """
SELECT DISTINCT i.chunk_id FROM knowledge_chunkindex i
WHERE i.knowledge_base_id = %(base)s AND i.live AND i.term_ids && %(rarest)s::int[] ORDER BY i.chunk_id"""


def match_new_names(base: KnowledgeBase) -> None:
    """Look for new names in the older passages, and mark each as done."""
    ids = list(_find_unmatched_entities(base).values_list("pk", flat=True))
    known = load_known_names(base, Q(is_spread=False))
    holding = _find_candidate_passages(base, known)
    for start in range(0, len(holding), AT_ONCE):
        rows = Chunk.unscoped.filter(knowledge_base=base, id__in=holding[start : start + AT_ONCE])
        passages = [NamingPassage(*row) for row in rows.values_list("id", "document_id", "version_id", "text")]
        with transaction.atomic():
            store_mentions(base, passages, known)
    GraphEntity.unscoped.filter(pk__in=ids).update(is_spread=True)


def _find_unmatched_entities(base: KnowledgeBase) -> QuerySet[GraphEntity]:
    return GraphEntity.unscoped.filter(knowledge_base=base, is_spread=False)


def _find_candidate_passages(base: KnowledgeBase, known: KnownNames) -> list[UUID]:
    """Return the passages that answer and may hold one of the names."""
    pairs = [(place, term) for place, key in enumerate(sorted(known.names.keys)) for term in count_terms(key)]
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
