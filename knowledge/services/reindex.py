"""Published documents made anew: brought into the embedding space of the settings, beside the one that answers until then; or
read again, where older parsers read them or their base was set up otherwise."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from audit.actions import Action
from audit.record import record_action
from knowledge.ingestion.indexing import (
    build_index_rows,
    find_unindexed_passages,
    split_into_batches,
    write_document_rows,
)
from knowledge.ingestion.publish import unpublish_document
from knowledge.models import (
    ChunkIndex,
    Document,
    DocumentVersion,
    KnowledgeBase,
    ParseStatus,
    Recognition,
    Stage,
    StageName,
    StageStatus,
)
from knowledge.parsers.base import PARSER_VERSION
from knowledge.retrieval.engine import load_engine


def list_published_versions() -> Sequence[DocumentVersion]:
    """Return the versions that answer, with the facts about their documents that indexing needs."""
    rows = DocumentVersion.unscoped.filter(document__current_version_id=F("pk"))
    return list(rows.select_related("document__folder", "document__knowledge_base"))


def count_unindexed_documents() -> int:
    """Return how many published documents are missing in the space of the settings, where a search misses them."""
    indexed = ChunkIndex.unscoped.filter(version_id=OuterRef("pk"), space__name=load_engine().space)
    published = DocumentVersion.unscoped.filter(document__current_version_id=F("pk"))
    return published.filter(~Exists(indexed)).count()


def reindex_version(version: DocumentVersion) -> int:
    """Index one published version in the space of the settings; return how many passages were missing."""
    with_engine = load_engine()
    _there, missing = find_unindexed_passages(version, with_engine)
    for batch in split_into_batches(missing):
        rows = build_index_rows(version.document, batch, with_engine, live=True)
        with transaction.atomic():
            write_document_rows(version.document, rows)
    return len(missing)


def list_outdated_versions(base: KnowledgeBase | None = None) -> QuerySet[DocumentVersion]:
    """Return the versions that would be parsed differently today, answering and older ones, of one base or of all.

    Of all also those that older parsers read: after an upgrade, and not where somebody changes a base.
    """
    wants = Q(document__knowledge_base__is_hidden_text_indexed=True)
    outdated = wants & Q(hidden_apart__gt=0) | ~wants & Q(hidden_indexed__gt=0) | ~_build_pictures_filter()
    if base is None:
        outdated |= Q(parser_version__lt=PARSER_VERSION)
    rows = DocumentVersion.unscoped.filter(outdated, parse_status=ParseStatus.COMPLETED)
    return (rows.filter(document__knowledge_base=base) if base else rows).order_by("created_at", "pk")


def _build_pictures_filter() -> Q:
    """Return a filter for versions with as many pictures read as their base wants."""
    counts = {
        Recognition.OFF: 0,
        Recognition.BARE: F("bare_pictures"),
        Recognition.ALL: F("bare_pictures") + F("scanned_pages"),
    }
    found = Q()
    for recognition, count in counts.items():
        found |= Q(document__knowledge_base__recognition=recognition, recognised=count)
    return found


@transaction.atomic
def begin_rereading(version_id: UUID) -> bool:
    """Withdraw an outdated version from answers and restart its ingestion; return whether there was anything to do.

    It answers again when it is published. One that cannot be read any more stays out: what its older reading held must not answer.
    """
    version = list_outdated_versions().select_for_update(of=("self",)).filter(pk=version_id).first()
    if version is None:
        return False
    _restart_stages(version, StageName.values)
    return True


@transaction.atomic
def begin_indexing(version_id: UUID) -> bool:
    """Withdraw an answering version and index its passages again, under the document's present title; return whether there was anything to
    do.
    """
    rows = DocumentVersion.unscoped.select_for_update(of=("self",))
    version = rows.filter(pk=version_id, parse_status=ParseStatus.COMPLETED).first()
    if version is None:
        return False
    _restart_stages(version, [StageName.EMBED, StageName.PUBLISH])
    return True


def restart_ingestion(version: DocumentVersion) -> None:
    """Restart a version's ingestion from its file, to answer when it is published; runs inside the caller's transaction."""
    _restart_stages(version, StageName.values)


def _restart_stages(version: DocumentVersion, stages: Sequence[str]) -> None:
    """Withdraw the version's passages until it is published again."""
    document = (
        Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=version.document_id)
    )
    if document.current_version_id == version.pk:
        unpublish_document(document)
        document.current_version = None
        document.save(update_fields=["current_version", "updated_at"])
    Stage.objects.filter(version=version, name__in=stages).update(
        status=StageStatus.PENDING, items_done=0, items_total=None, started_at=None, finished_at=None
    )
    version.parse_status, version.attempts, version.queue = ParseStatus.PENDING, 0, "bulk"
    version.queued_at = timezone.now()  # the reaper finds it if no worker continues
    version.lease = version.lease_expires_at = None  # a worker that is cutting its passages can write no more
    version.save(update_fields=["parse_status", "attempts", "queue", "queued_at", "lease", "lease_expires_at"])
    record_action(None, Action.DOCUMENT_REREAD, document, detail={"version": version.number})
