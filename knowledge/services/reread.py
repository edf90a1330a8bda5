"""Documents that were read otherwise than they would be today: by older parsers, or before their base was set up otherwise."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.actions import Action
from audit.record import record
from knowledge.ingestion.publish import withdraw
from knowledge.models import Document, DocumentVersion, KnowledgeBase, ParseStatus, Stage, StageStatus
from knowledge.parsers.base import PARSER_VERSION


def outdated_versions(base: KnowledgeBase | None = None) -> QuerySet[DocumentVersion]:
    """The versions that are read and would be read otherwise today, answering ones and older ones; of one base, or of all."""
    wants = Q(document__knowledge_base__is_hidden_text_indexed=True)
    outdated = Q(parser_version__lt=PARSER_VERSION) | wants & Q(hidden_apart__gt=0) | ~wants & Q(hidden_indexed__gt=0)
    rows = DocumentVersion.unscoped.filter(outdated, parse_status=ParseStatus.COMPLETED)
    return (rows.filter(document__knowledge_base=base) if base else rows).order_by("created_at", "pk")


@transaction.atomic
def begin_rereading(version_id: UUID) -> bool:
    """Take one outdated version out of every answer and let its ingestion begin again; whether there was anything to do.

    It answers again when it is published. One that cannot be read any more stays out: what its older reading held must not answer.
    """
    version = outdated_versions().select_for_update(of=("self",)).filter(pk=version_id).first()
    if version is None:
        return False
    document = (
        Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=version.document_id)
    )
    if document.current_version_id == version.pk:
        withdraw(document)
        document.current_version = None
        document.save(update_fields=["current_version", "updated_at"])
    Stage.objects.filter(version=version).update(
        status=StageStatus.PENDING, items_done=0, items_total=None, started_at=None, finished_at=None
    )
    version.parse_status, version.attempts, version.queue = ParseStatus.PENDING, 0, "bulk"
    version.queued_at = timezone.now()  # the reaper finds it, should nobody go on with it
    version.save(update_fields=["parse_status", "attempts", "queue", "queued_at"])
    record(None, Action.DOCUMENT_REREAD, document, detail={"version": version.number})
    return True
