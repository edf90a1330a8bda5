"""Re-cutting of published documents to the settings of their base, from the parsed blocks, while old passages answer.

New passages are indexed beside the old ones and take their place in one transaction. Those that stay the same keep their ids; the
others stay as they are for the answers that cite them, and are not found any more.
"""

import time
from collections.abc import Sequence
from uuid import UUID

import structlog
from django.db.models import F, QuerySet

from audit.actions import Action
from audit.record import record_action
from copilot_site.lib.database import hold_process_lock
from knowledge.embedding.base import EmbeddingError
from knowledge.ingestion.chunking import ChunkDraft
from knowledge.ingestion.indexing import build_index_rows, split_into_batches, write_document_rows
from knowledge.ingestion.lease import (
    LeaseLost,
    claim_read_version,
    hold_lease,
    open_fenced_transaction,
    release_version,
)
from knowledge.ingestion.publish import replace_passages
from knowledge.ingestion.stages import (
    build_passages,
    choose_language,
    load_parsed_document,
    make_chunk_id,
    split_into_passages,
)
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.retrieval.engine import load_engine

AT_ONCE_S = 60.0  # of one turn of a base; the rest waits behind the imports

log = structlog.get_logger(__name__)


def find_versions_to_cut(base: KnowledgeBase) -> QuerySet[DocumentVersion]:
    """Return the answering versions of a base that are cut under other settings."""
    answering = DocumentVersion.unscoped.filter(document__knowledge_base=base, document__current_version_id=F("pk"))
    return answering.filter(parse_status=ParseStatus.COMPLETED).exclude(cut_as=base.cut_as).order_by("created_at", "pk")


def recut_base(base_id: UUID) -> bool:
    """Re-cut a base for AT_ONCE_S; return whether something is left. False while another process does it."""
    begun, skipped = time.monotonic(), list[UUID]()
    with hold_process_lock(f"cut:{base_id}") as is_alone:
        base = KnowledgeBase.unscoped.filter(pk=base_id).first()
        if not is_alone or base is None:
            return False
        while (version := find_versions_to_cut(base).exclude(pk__in=skipped).first()) is not None:
            if time.monotonic() - begun > AT_ONCE_S:
                return True
            skipped.append(version.pk)
            _try_recut(version.pk)
    return False


def _try_recut(version_id: UUID) -> None:
    """Try to re-cut a version; one that fails keeps its passages and does not stop the others."""
    try:
        recut_version(version_id)
    except (EmbeddingError, OSError) as error:
        log.warning("cutting.put_off", version=str(version_id), why=type(error).__name__)
    except Exception:
        log.exception("cutting.broken", version=str(version_id))


def recut_version(version_id: UUID) -> bool:
    """Re-cut an answering version to its base's settings; return whether passages changed. It answers all the time.

    Raises EmbeddingError, FileNotFoundError (what was read of it is gone).
    """
    version = claim_read_version(version_id)
    if version is None:
        return False
    try:
        with hold_lease(version):
            return _recut_claimed_version(version)
    except LeaseLost:
        log.info("cutting.lease_lost", version=str(version.pk))
        return False
    finally:
        release_version(version)


def _recut_claimed_version(version: DocumentVersion) -> bool:
    document, base = version.document, version.document.knowledge_base
    parsed = load_parsed_document(version)
    drafts = split_into_passages(parsed, base)
    before = list(Chunk.unscoped.filter(version=version).order_by("is_retired", "position"))
    rows = build_passages(version, drafts, _match_passage_ids(version, drafts, before))
    there = [(row.id, row.start, row.end) for row in before if not row.is_retired]
    is_other = there != [(row.id, row.start, row.end) for row in rows]
    language = choose_language(document, parsed)
    if is_other:
        _index_passages(version, rows)
    with open_fenced_transaction(version):
        if (is_other or language != document.language) and not replace_passages(version, rows, language=language):
            return False
        DocumentVersion.unscoped.filter(pk=version.pk).update(cut_as=base.cut_as)
        if is_other:
            record_action(
                None, Action.DOCUMENT_CUT, document, detail={"version": version.number, "passages": len(rows)}
            )
    return is_other


def _match_passage_ids(version: DocumentVersion, drafts: Sequence[ChunkDraft], before: Sequence[Chunk]) -> list[UUID]:
    """Return an id for each passage: that of an earlier one, perhaps retired, with the same words below the same headings."""
    known: dict[tuple[str, tuple[str, ...]], list[UUID]] = {}
    for chunk in before:
        known.setdefault((chunk.text, tuple(chunk.heading_path)), []).append(chunk.id)
    taken = {chunk.id for chunk in before}
    return [
        known[key].pop(0)
        if known.get(key := (draft.text, draft.heading_path))
        else make_chunk_id(version.pk, draft.ordinal, taken=taken)
        for draft in drafts
    ]


def _index_passages(version: DocumentVersion, rows: Sequence[Chunk]) -> None:
    """Index the missing passages in batches, beside the old ones. Leftovers of an earlier try are deleted first."""
    with open_fenced_transaction(version):
        left = ChunkIndex.unscoped.filter(version=version, live=False)
        ChunkTokens.unscoped.filter(version=version, chunk_id__in=left.values("chunk_id")).delete()
        left.delete()
    of_space = ChunkIndex.unscoped.filter(version=version, space_id=load_engine().space_id)
    there = set(of_space.values_list("chunk_id", flat=True))
    for batch in split_into_batches([row for row in rows if row.id not in there]):
        made = build_index_rows(version.document, batch, load_engine(), live=False)
        with open_fenced_transaction(version):
            write_document_rows(version.document, made)
