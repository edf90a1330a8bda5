"""The metadata of a document (title, owner, review date, successor) and its versions."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import PurePath
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, require_right
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Document, DocumentVersion, ParseStatus
from knowledge.services.folders import clean_name
from knowledge.services.reindex import begin_indexing
from knowledge.services.uploads import IncomingFile, Upload, UploadOutcome, add_document
from knowledge.tasks import queue_ingestion

NEXT_REVIEW = timedelta(days=365)  # after a document was found correct; its form sets another day


@dataclass(frozen=True)
class StatedMetadata:
    """Metadata that people set. owner: None for whoever added it. superseded_by: None without a successor."""

    title: str
    owner: User | None = None
    review_on: date | None = None
    superseded_by: Document | None = None


@transaction.atomic
def change_document_facts(principal: Principal, *, document_id: UUID, facts: StatedMetadata) -> Document:
    """Store a document's metadata. A new title is indexed again with the passages.

    Raises NotFound, PermissionDenied (no `change`), InvalidInput (no usable title, superseded by itself or in a circle).
    """
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    before = StatedMetadata(document.title, document.owner, document.review_on, document.superseded_by)
    document.title = clean_name(facts.title)
    document.owner, document.review_on = facts.owner, facts.review_on
    document.superseded_by = _check_successor(document, facts.superseded_by)
    changed = [
        name
        for name in ("title", "owner", "review_on", "superseded_by")
        if getattr(before, name) != getattr(document, name)
    ]
    if changed:
        document.save(update_fields=[*changed, "updated_at"])
        current = document.current_version
        if "title" in changed and current is not None and begin_indexing(current.pk):
            queue_ingestion(current)
        record_action(principal, Action.DOCUMENT_CHANGED, document, detail={"fields": changed})
    return document


@transaction.atomic
def confirm_document(principal: Principal, *, document_id: UUID) -> date:
    """Say that a document is still correct, and return the day of its next review: in a year.

    Raises NotFound, PermissionDenied (no `change`), InvalidInput (no review is due).
    """
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    today = timezone.localdate()
    if document.review_on is None or document.review_on >= today:
        raise InvalidInput(_("No review of this document is due."))
    document.review_on = today + NEXT_REVIEW
    document.save(update_fields=["review_on", "updated_at"])
    record_action(principal, Action.DOCUMENT_CONFIRMED, document, detail={"review_on": str(document.review_on)})
    return document.review_on


def _check_successor(document: Document, successor: Document | None) -> Document | None:
    step, passed = successor, {document.pk}
    while step is not None:
        if step.pk in passed:
            raise InvalidInput(_("A document cannot replace itself, directly or in a circle."))
        passed.add(step.pk)
        step = step.superseded_by
    return successor


@transaction.atomic
def replace_file(principal: Principal, *, document_id: UUID, file: "File[bytes]") -> Upload:
    """Store a file as the newest version of a document, whatever the file is called; the type stays.

    Raises NotFound, PermissionDenied (no `add` or no `change`), InvalidInput (another type, empty, too large), StorageFull.
    """
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    suffix = PurePath(document.filename).suffix
    if PurePath(file.name or "").suffix.lower() != suffix.lower():
        raise InvalidInput(
            _("A new version of “%(name)s” is a %(suffix)s file, too; add another type as a document of its own.")
            % {"name": document.filename, "suffix": suffix}
        )
    return _add_newest_version(principal, document, file)


@transaction.atomic
def restore_version(principal: Principal, *, document_id: UUID, number: int) -> DocumentVersion:
    """Restore an older version: its bytes become the newest version, and the history is kept.

    Raises NotFound (no such version), PermissionDenied (no `add` or no `change`), InvalidInput (it is the newest, or the same as it).
    """
    version = get_visible(DocumentVersion, principal, document_id=document_id, number=number)
    require_right(principal, Right.CHANGE, version.document)
    with version.file.open("rb") as file:
        done = _add_newest_version(principal, version.document, file)
    if done.outcome is UploadOutcome.UNCHANGED:
        raise InvalidInput(_("Version %(number)s is the current version.") % {"number": number})
    detail = {"from": number, "version": done.version.number}
    record_action(principal, Action.VERSION_RESTORED, version.document, detail=detail)
    return done.version


@transaction.atomic
def approve_version(principal: Principal, *, document_id: UUID, number: int) -> DocumentVersion:
    """Approve a version, which is shown with it and with answers from it.

    Raises NotFound (no such version), PermissionDenied (no `manage`), InvalidInput (its base wants no approval, it is approved already,
    or its text is not read).
    """
    version = get_visible(DocumentVersion, principal, document_id=document_id, number=number)
    require_right(principal, Right.MANAGE, version.document)
    if not version.waits_for_approval or version.parse_status != ParseStatus.COMPLETED:
        raise InvalidInput(
            _("There is nothing to approve: version %(number)s does not wait for it.") % {"number": number}
        )
    version.approved_at, version.approved_by_id = timezone.now(), principal.user_id
    version.save(update_fields=["approved_at", "approved_by"])
    record_action(principal, Action.VERSION_APPROVED, version.document, detail={"version": number})
    return version


def _add_newest_version(principal: Principal, document: Document, file: "File[bytes]") -> Upload:
    known = {document.filename: document}
    return add_document(principal, document.folder, IncomingFile(document.filename, file), known=known)
