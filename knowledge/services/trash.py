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
from audit.record import record
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, missing, require
from authz.rights.folders import folder_ids_with
from copilot_site.lib.errors import Conflict
from knowledge.models import Document
from knowledge.services.access_nodes import locked_row, new_node, read_rights_from
from knowledge.services.removal import remove_document
from knowledge.services.tree import lock_tree, mark_cuts

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)  # as in mail programs


@transaction.atomic
def trash_document(principal: Principal, *, document_id: UUID) -> Document:
    """Put a document into the trash. Raises NotFound (also for one already there), PermissionDenied (no `change`)."""
    document = get_visible(Document, principal, pk=document_id)
    require(principal, Right.CHANGE, document)
    lock_tree(document.knowledge_base_id)
    current = locked_row(document)
    if current.trashed_at is not None:  # since it was looked for
        raise missing(Document)
    before = current.access
    node = new_node(current, inherits=False)  # which no right reaches
    mark_cuts(node)
    read_rights_from(current, node)
    changes = {"trashed_at": timezone.now(), "trashed_by": principal.user_id, "trashed_from": before}
    Document.unscoped.filter(pk=current.pk).update(**changes)
    record(principal, Action.DOCUMENT_TRASHED, current)
    return current


def in_trash(principal: Principal) -> QuerySet[Document]:
    """Return the documents this person may restore: by today's rights they could change them at their old place. Latest first."""
    rows = Document.unscoped.filter(trashed_at__isnull=False)
    for right in (Right.VIEW, Right.CHANGE):
        rows = rows.filter(trashed_from_id__in=folder_ids_with(principal, right))
    return rows.select_related("folder", "knowledge_base", "trashed_by").order_by("-trashed_at")


def ends_at(document: Document) -> datetime | None:
    """Return when it is deleted for good; None outside of the trash."""
    return document.trashed_at and document.trashed_at + KEPT


@transaction.atomic
def restore_document(principal: Principal, *, document_id: UUID) -> Document:
    """Put a document back where it was, with its exceptions. Raises NotFound, Conflict (its file name is taken there by now)."""
    lock_tree(_get(principal, document_id).knowledge_base_id)
    current = locked_row(_get(principal, document_id))  # asked again: it may have been moved since
    node, before = current.access, current.trashed_from
    if before is None:
        raise missing(Document)
    try:
        with transaction.atomic():
            read_rights_from(current, before)
    except IntegrityError as error:
        raise Conflict(
            _("“%(folder)s” already contains a file called “%(name)s”.")
            % {"name": current.filename, "folder": before}  # which `in_trash` has seen
        ) from error
    Document.unscoped.filter(pk=current.pk).update(trashed_at=None, trashed_by=None, trashed_from=None)
    node.delete()
    record(principal, Action.DOCUMENT_RESTORED, current)
    return current


@transaction.atomic
def erase_document(principal: Principal, *, document_id: UUID) -> None:
    """Delete a document of the trash for good. Raises NotFound."""
    if not remove_document(principal, _get(principal, document_id), only=Q(trashed_at__isnull=False)):
        raise missing(Document)


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


def _get(principal: Principal, document_id: UUID) -> Document:
    document = in_trash(principal).filter(pk=document_id).first()
    if document is None:
        raise missing(Document)
    return document
