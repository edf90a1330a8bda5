"""The files of a conversation: documents in a place of their own, which its person reads while they are in the conversation.

The place is a hidden folder with the conversation's id. It inherits nothing, nothing is granted on it, and nobody may change
its rights: its owner is let in by the statement that reads rights (`authz.rights.folders`), for a principal that is in this
conversation. So no list, search or answer anywhere else has to know of it.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta
from pathlib import PurePath
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import InvalidInput, PermissionDenied
from knowledge.models import ATTACHMENTS, Chunk, Document, DocumentVersion, Folder, FolderKind, GraphMode, KnowledgeBase
from knowledge.services.folders import find_root_folder
from knowledge.services.removal import remove_document
from knowledge.services.tree import link_new_folder, lock_tree, mark_cuts
from knowledge.services.uploads import (
    IncomingFile,
    Upload,
    add_document,
    check_upload_file,
    clean_filename,
    compute_file_sha256,
)

logger = logging.getLogger(__name__)

NAME = "Files in conversations 对话中的文件"  # of the base, for readers of both languages
MAX_FILES = 20  # of one conversation
MAX_LARGEST = 10  # of the largest size, for one person in all conversations


def are_attachments_allowed() -> bool:
    return settings.ATTACHMENT_DAYS > 0


def attach_file(principal: Principal, *, conversation_id: UUID, filename: str, file: "File[bytes]") -> Upload:
    """Store a file for one conversation, which the caller found to be this person's, and queue its reading. The same file again is the
    one that is there; another of its name gets a number.

    Raises PermissionDenied (files are not taken, or not through a token for one folder), InvalidInput (name, type, size, emptiness, too
    many), StorageFull.
    """
    if not are_attachments_allowed():
        raise PermissionDenied(
            _("Files in conversations are switched off here. Ask for a folder you can add files to.")
        )
    if principal.folder_id is not None:
        raise PermissionDenied(_("A token for one folder cannot attach files: they would lie outside of it."))
    check_upload_file(clean_filename(filename), file.size)
    inside = principal.in_conversation(conversation_id)
    _create_conversation_folder(principal, conversation_id)
    with transaction.atomic():
        place = Folder.unscoped.select_for_update().get(pk=conversation_id, kind=FolderKind.ATTACHED)
        name, is_there = _choose_filename(inside, place, clean_filename(filename), compute_file_sha256(file))
        if not is_there:
            _check_attachment_limits(place, file.size)
        return add_document(inside, place, IncomingFile(name, file))


def list_attached_documents(principal: Principal, conversation_id: UUID) -> QuerySet[Document]:
    """Return the files of a conversation, in the order in which they came; none of somebody else's."""
    rows = Document.objects.permitted(
        principal.in_conversation(conversation_id), Right.VIEW, folder_id=conversation_id, knowledge_base=ATTACHMENTS
    )
    return rows.order_by("created_at", "pk")


def remove_attached_document(principal: Principal, *, conversation_id: UUID, document_id: UUID) -> None:
    """Delete one file of a conversation for good. Raises NotFound."""
    inside = principal.in_conversation(conversation_id)
    remove_document(principal, get_visible(Document, inside, pk=document_id, folder_id=conversation_id))


def scope_to_document_conversation(principal: Principal, document_id: UUID) -> Principal:
    """Return the principal within the conversation that a document is a file of, if any; other people's stay closed."""
    rows = Document.unscoped.filter(pk=document_id, knowledge_base=ATTACHMENTS)
    return principal.in_conversation(rows.values_list("folder_id", flat=True).first())


def scope_to_passage_conversation(principal: Principal, base_id: UUID, chunk_id: UUID) -> Principal:
    """Return the same for a passage."""
    if base_id != ATTACHMENTS:
        return principal
    rows = Chunk.unscoped.filter(knowledge_base_id=base_id, id=chunk_id)
    return principal.in_conversation(rows.values_list("document__folder_id", flat=True).first())


def delete_conversation_files(by: Principal | None, conversation_id: UUID) -> None:
    """Delete the files of a conversation with their place; the caller has checked that it is theirs. `by` is None for the system."""
    place = Folder.unscoped.filter(pk=conversation_id, kind=FolderKind.ATTACHED).first()
    if place is None:
        return
    for document in list(Document.unscoped.filter(folder=place)):
        remove_document(by, document)
    with transaction.atomic():
        if not Document.unscoped.filter(folder=place).exists():
            place.delete()


def list_conversations_with_files() -> list[UUID]:
    """Return the ids of conversations with files, so that the caller can find deleted ones."""
    return list(Folder.unscoped.filter(kind=FolderKind.ATTACHED).values_list("pk", flat=True))


def delete_expired_attachments() -> int:
    """Delete the files past their retention; return how many. Each by itself: a failure keeps only one."""
    before = timezone.now() - timedelta(days=settings.ATTACHMENT_DAYS)
    old = Document.unscoped.filter(knowledge_base=ATTACHMENTS, folder__kind=FolderKind.ATTACHED, created_at__lt=before)
    return sum(map(_delete_attachment, list(old)))


def _delete_attachment(document: Document) -> bool:
    try:
        return remove_document(None, document)
    except Exception:
        logger.exception("the file %s of a conversation stays", document.pk)
        return False


def _create_conversation_folder(principal: Principal, conversation_id: UUID) -> None:
    if Folder.unscoped.filter(pk=conversation_id).exists():
        return
    with transaction.atomic():
        base = _ensure_attachment_base()
        lock_tree(base.pk)
        root = find_root_folder(base)
        node, is_new = Folder.unscoped.get_or_create(
            pk=conversation_id,
            defaults={
                "knowledge_base": base,
                "parent": root,
                "name": str(conversation_id),
                "kind": FolderKind.ATTACHED,
                "inherits": False,
                "owner_id": principal.user_id,
            },
        )
        if is_new:
            link_new_folder(node, root)
            mark_cuts(node)


def _ensure_attachment_base() -> KnowledgeBase:
    """Return the one base of all conversations' files, made with the first of them. Its settings for pictures are those of any base."""
    taken = KnowledgeBase.unscoped.filter(name=NAME).exclude(pk=ATTACHMENTS).exists()
    name = f"{NAME} {ATTACHMENTS}" if taken else NAME
    base, is_new = KnowledgeBase.unscoped.get_or_create(pk=ATTACHMENTS, defaults={"name": name, "graph": GraphMode.OFF})
    if is_new:
        link_new_folder(Folder.unscoped.create(knowledge_base=base, parent=None, name=base.name), None)
        record_action(None, Action.KNOWLEDGE_BASE_CREATED, base)
    return base


def _choose_filename(inside: Principal, place: Folder, filename: str, sha256: str) -> tuple[str, bool]:
    """Return the name for a file, and whether the file exists already."""
    path, number, name = PurePath(filename), 1, filename
    known = dict(_iterate_newest_hashes(Document.objects.permitted(inside, Right.VIEW, folder=place)))
    while known.get(name, sha256) != sha256:
        number += 1
        name = f"{path.stem} ({number}){path.suffix}"
    return name, name in known


def _iterate_newest_hashes(documents: Iterable[Document]) -> Iterable[tuple[str, str]]:
    for document in documents:
        newest = document.versions.order_by("-number").values_list("sha256", flat=True).first()
        yield document.filename, newest or ""


def _check_attachment_limits(place: Folder, size_bytes: int) -> None:
    if Document.unscoped.filter(folder=place).count() >= MAX_FILES:
        raise InvalidInput(
            _("A conversation takes at most %(most)s files. Begin a new one, or file them into a folder.")
            % {"most": MAX_FILES}
        )
    mine = DocumentVersion.unscoped.filter(document__folder__owner_id=place.owner_id)
    used = mine.aggregate(sum=Sum("size_bytes"))["sum"] or 0
    most = MAX_LARGEST * settings.UPLOAD_MAX_BYTES
    if used + size_bytes > most:
        raise InvalidInput(
            _(
                "Your conversations hold %(used)s MB of files already, of %(most)s. Delete some conversations with files first."
            )
            % {"used": used // 1_000_000, "most": most // 1_000_000}
        )
