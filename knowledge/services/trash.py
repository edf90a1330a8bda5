"""The trash: a document in it is in no list, search or answer, and can be restored until its time is over.

Its rights are read from a node of its own that takes over nothing from above and on which nothing is given: what hides it is what
hides everything else.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, make_not_found, require_right
from authz.rights.folders import select_folder_ids
from copilot_site.lib.errors import Conflict
from knowledge.models import Document
from knowledge.services.access_nodes import create_access_node, lock_document, set_rights_place
from knowledge.services.removal import remove_document
from knowledge.services.tree import lock_tree, mark_cuts

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)  # as in mail programs


@transaction.atomic
def trash_document(principal: Principal, *, document_id: UUID) -> Document:
    """Put a document into the trash. Raises NotFound (also for one already there), PermissionDenied (no `change`)."""
    document = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, document)
    lock_tree(document.knowledge_base_id)
    current = lock_document(document)
    if current.trashed_at is not None:  # since it was looked for
        raise make_not_found(Document)
    before = current.access
    node = create_access_node(current, inherits=False)  # which no right reaches
    mark_cuts(node)
    set_rights_place(current, node)
    changes = {"trashed_at": timezone.now(), "trashed_by": principal.user_id, "trashed_from": before}
    Document.unscoped.filter(pk=current.pk).update(**changes)
    record_action(principal, Action.DOCUMENT_TRASHED, current)
    return current


def list_trashed_documents(principal: Principal) -> QuerySet[Document]:
    """Return the documents this person may restore: by today's rights they could change them at their old place. Latest first."""
    rows = Document.unscoped.filter(trashed_at__isnull=False)
    for right in (Right.VIEW, Right.CHANGE):
        rows = rows.filter(trashed_from_id__in=select_folder_ids(principal, right))
    return rows.select_related("folder", "knowledge_base", "trashed_by").order_by("-trashed_at")


def compute_deletion_time(document: Document) -> datetime | None:
    """Return when it is deleted for good; None outside of the trash."""
    return document.trashed_at and document.trashed_at + KEPT


@transaction.atomic
def restore_document(principal: Principal, *, document_id: UUID) -> Document:
    """Put a document back where it was, with its exceptions. Raises NotFound, Conflict (its file name is taken there by now)."""
    lock_tree(_find_trashed_document(principal, document_id).knowledge_base_id)
    current = lock_document(_find_trashed_document(principal, document_id))  # asked again: it may have been moved since
    node, before = current.access, current.trashed_from
    if before is None:
        raise make_not_found(Document)
    try:
        with transaction.atomic():
            set_rights_place(current, before)
    except IntegrityError as error:
        raise Conflict(
            _("“%(folder)s” already contains a file called “%(name)s”.")
            % {"name": current.filename, "folder": before}  # which `list_trashed_documents` has seen
        ) from error
    Document.unscoped.filter(pk=current.pk).update(trashed_at=None, trashed_by=None, trashed_from=None)
    node.delete()
    record_action(principal, Action.DOCUMENT_RESTORED, current)
    return current


@transaction.atomic
def erase_document(principal: Principal, *, document_id: UUID) -> None:
    """Delete a document of the trash for good. Raises NotFound."""
    if not remove_document(principal, _find_trashed_document(principal, document_id), only=Q(trashed_at__isnull=False)):
        raise make_not_found(Document)


def empty_trash() -> int:
    """Delete what has been in the trash for longer than KEPT; return how many documents. Each by itself: a failure keeps only one."""
    over = Q(trashed_at__lt=timezone.now() - KEPT)
    removed = 0
    for document in list(Document.unscoped.filter(over)):
        try:
            removed += remove_document(None, document, only=over)
        except Exception:
            logger.exception("the document %s stays in the trash", document.pk)
    return removed


def _find_trashed_document(principal: Principal, document_id: UUID) -> Document:
    document = list_trashed_documents(principal).filter(pk=document_id).first()
    if document is None:
        raise make_not_found(Document)
    return document
