"""Further actions on a document: retry, download, move, delete."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, make_not_found, require_right
from copilot_site.lib.errors import Conflict, InvalidInput
from knowledge.models import Document, DocumentVersion, Folder, ParseStatus, Stage, StageStatus
from knowledge.services.access_nodes import lock_document, move_document_with_node
from knowledge.services.removal import remove_document
from knowledge.services.tree import lock_tree
from knowledge.tasks import choose_queue, queue_ingestion


@transaction.atomic
def retry_document(principal: Principal, *, document_id: UUID) -> DocumentVersion:
    """Start the newest version's ingestion again, from the stage that failed.

    Raises NotFound, PermissionDenied (no `change`), InvalidInput (nothing failed).
    """
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    version = document.versions.select_for_update().order_by("-number").first()
    if version is None or version.parse_status != ParseStatus.FAILED:
        raise InvalidInput(_("Only failed documents can be tried again."))
    version.parse_status = ParseStatus.PENDING
    version.failure, version.attempts, version.lease = None, 0, None
    version.queue = choose_queue(version.uploaded_by_id)
    version.save(update_fields=["parse_status", "failure", "attempts", "lease", "queue"])
    Stage.objects.filter(version=version).exclude(status=StageStatus.DONE).update(status=StageStatus.PENDING)
    record_action(principal, Action.DOCUMENT_RETRIED, document, detail={"version": version.number})
    queue_ingestion(version)
    return version


@transaction.atomic
def open_original(principal: Principal, *, document_id: UUID) -> DocumentVersion:
    """Return the version whose file is handed out for download; raises NotFound, PermissionDenied (no `download`)."""
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.DOWNLOAD, document)
    version = document.current_version or document.versions.order_by("-number").get()
    record_action(principal, Action.DOCUMENT_DOWNLOADED, document, detail={"version": version.number})
    return version


@transaction.atomic
def move_document(principal: Principal, *, document_id: UUID, folder_id: UUID) -> Document:
    """Move a document, with its exceptions, into another folder of the same knowledge base.

    Raises NotFound, PermissionDenied (no `change` on the document, no `add` on the folder), InvalidInput (another knowledge
    base), Conflict (the file name is taken there).
    """
    document = get_visible(Document, principal, pk=document_id)
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.CHANGE, document)
    require_right(principal, Right.ADD, folder)
    if document.knowledge_base_id != folder.knowledge_base_id:
        raise InvalidInput(
            _("Documents can only move within their knowledge base; “%(name)s” is in another one.") % {"name": folder}
        )
    if document.folder_id == folder.pk:
        return document
    taken = Conflict(
        _("“%(folder)s” already contains a file called “%(name)s”.") % {"name": document.filename, "folder": folder}
    )
    lock_tree(document.knowledge_base_id)
    if lock_document(document).trashed_at is not None:  # since it was looked for
        raise make_not_found(Document)
    if Document.objects.visible_to(principal).filter(folder=folder, filename=document.filename).exists():
        raise taken
    try:
        with transaction.atomic():
            move_document_with_node(document, folder)
    except IntegrityError as error:
        raise taken from error
    record_action(principal, Action.DOCUMENT_MOVED, document, detail={"folder": str(folder.pk)})
    return document


@transaction.atomic
def delete_document(principal: Principal, *, document_id: UUID) -> None:
    """Delete a document with all its versions and files; raises NotFound, PermissionDenied (no `change`)."""
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    remove_document(principal, document)
