"""Check whether the sources of a verified answer have changed: before its use, and by a worker for its keeper's list."""

from collections.abc import Iterator
from uuid import UUID

from django.db import transaction
from django.db.models import F, Prefetch, Q

from agent.models import Flag, VerifiedAnswer, VerifiedSource
from audit.actions import Action
from audit.record import record_action
from business.statements.verified_sql import compute_layer_sha256
from knowledge.models import Chunk, Document, FolderKind

WITH_SOURCES = Prefetch("sources", VerifiedSource.objects.select_related("document", "data_source"))


def find_answer_fault(answer: VerifiedAnswer) -> str:
    """Return as `Flag` why an answer must not be used as verified; "" where nothing has changed."""
    if answer.source is not None:
        return (
            Flag.LAYER
            if _has_hash_changed(answer.layer_sha256, compute_layer_sha256(answer.source, answer.sql))
            else ""
        )
    return next((fault for source in answer.sources.all() if (fault := _find_source_fault(source))), "")


def _find_source_fault(source: VerifiedSource) -> str:
    if source.data_source is not None:
        return Flag.LAYER if _has_hash_changed(source.layer_sha256, compute_layer_sha256(source.data_source)) else ""
    document = source.document
    if document is None or document.trashed_at is not None or document.current_version_id is None:
        return Flag.GONE
    if document.current_version_id == source.version_id:
        return ""
    cited, now = _load_cited_text(source), _load_version_text(document.current_version_id)
    return "" if cited and _remove_white_space(cited) in _remove_white_space(now) else Flag.CHANGED


def _has_hash_changed(then: str, now: str) -> bool:
    return then not in ("", now)


def _load_cited_text(source: VerifiedSource) -> str:
    """Return the verified text: the span of the passage, or the whole version; "" where it is no longer stored."""
    if source.chunk_id is None:
        return _load_version_text(source.version_id)
    chunk = Chunk.unscoped.filter(id=source.chunk_id).first()
    return chunk.text[source.start : source.end or None] if chunk else ""


def _load_version_text(version_id: UUID | None) -> str:
    rows = Chunk.unscoped.filter(version_id=version_id, is_retired=False).order_by("position")
    return "\n".join(rows.values_list("text", flat=True))


def _remove_white_space(text: str) -> str:
    return "".join(text.split())


def iterate_answers_to_review() -> Iterator[VerifiedAnswer]:
    """Yield unflagged answers that a changed source may affect."""
    moved = Q(sources__document=None, sources__data_source=None) | Q(sources__document__trashed_at__isnull=False)
    moved |= Q(sources__document__current_version=None) | Q(sources__data_source__isnull=False)
    moved |= ~Q(sources__document__current_version=F("sources__version_id")) | Q(source__isnull=False)
    rows = VerifiedAnswer.unscoped.filter(moved, flag="").select_related("source").prefetch_related(WITH_SOURCES)
    return rows.distinct().iterator(chunk_size=200)


def flag_changed_answers() -> int:
    """Flag the answers whose sources have changed and return their number.

    Answers older than layer hashes get the current one.
    """
    for answer in VerifiedAnswer.unscoped.filter(source__isnull=False, layer_sha256="").select_related("source"):
        now = compute_layer_sha256(answer.source, answer.sql)  # type: ignore[arg-type]  # filtered
        VerifiedAnswer.unscoped.filter(pk=answer.pk, layer_sha256="").update(layer_sha256=now)
    return sum(
        _flag_answer(answer, fault) for answer in iterate_answers_to_review() if (fault := find_answer_fault(answer))
    )


def keep_last_folder(document: Document) -> None:
    """Keep the folder of a document that is about to be deleted, whose readers may know of it; none where it had rights of its own."""
    place = document.trashed_from or document.access
    VerifiedSource.objects.filter(document=document).update(folder=place if place.kind == FolderKind.FOLDER else None)


@transaction.atomic
def delete_unreachable_answers() -> None:
    """Delete the texts that nobody may see any more, because nobody is known to have been able to read a deleted source."""
    gone = VerifiedSource.objects.filter(document=None, data_source=None, folder=None)
    for answer in VerifiedAnswer.unscoped.filter(pk__in=gone.values("answer")):
        record_action(None, Action.VERIFIED_RETIRED, answer, reason=Flag.GONE)
        answer.delete()


@transaction.atomic
def _flag_answer(answer: VerifiedAnswer, fault: str) -> bool:
    """Return whether this process has flagged it."""
    is_first = bool(VerifiedAnswer.unscoped.filter(pk=answer.pk, flag="").update(flag=fault))
    if is_first:
        record_action(None, Action.VERIFIED_FLAGGED, answer, reason=fault)
    return is_first
