"""One way in for files, whether a page, the API or a command brings them."""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, has_right, require_right
from copilot_site.lib.errors import NO_SPACE, InvalidInput, PermissionDenied, StorageFull
from copilot_site.lib.load.queues import send_on_commit
from knowledge.models import Document, DocumentVersion, Folder, Stage, StageName
from knowledge.parsers.base import list_accepted_extensions, load_parsers
from knowledge.tasks import INGEST, choose_queue
from knowledge.titles import build_title

# formats of before 2007, which no parser reads → what the program that made them saves, too
SAVED_AS = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx"}
FILENAME_BYTES = 200  # stays below every file system's 255 with room for a suffix


class UploadOutcome(StrEnum):
    CREATED = "created"
    NEW_VERSION = "new_version"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Upload:
    """The result of uploading one file."""

    document: Document
    version: DocumentVersion
    outcome: UploadOutcome


@dataclass(frozen=True)
class IncomingFile:
    """A file to add. title: "" takes the document's own, or one from its file name. language: "" detects it.

    queue: `bulk` for an import; "" for a person who waits.
    """

    filename: str
    file: "File[bytes]"
    title: str = ""
    language: str = ""
    queue: str = ""


def upload_document(
    principal: Principal,
    *,
    folder_id: UUID,
    filename: str,
    file: "File[bytes]",
    title: str = "",
    language: str = "",
    queue: str = "",
) -> Upload:
    """Store a file and queue its ingestion. The same bytes under the same name change nothing; other bytes are a new version.

    The keywords are the fields of IncomingFile.
    Raises NotFound (folder not visible), PermissionDenied (no `add`, or no `change` on a document of this name that others added),
    InvalidInput (name, type, size, empty), StorageFull.
    """
    folder = find_folder_to_fill(principal, folder_id)
    return add_document(principal, folder, IncomingFile(filename, file, title, language, queue))


def find_folder_to_fill(principal: Principal, folder_id: UUID) -> Folder:
    """Return the folder, for `add_document`; raises NotFound (not visible), PermissionDenied (no `add`)."""
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.ADD, folder)
    return folder


def map_documents_by_name(principal: Principal, folder: Folder) -> dict[str, Document]:
    """Return the visible documents directly in the folder, for `add_document` of many files: rights are read once."""
    seen = Document.objects.visible_to(principal).filter(folder=folder).order_by("-created_at")
    return {document.filename: document for document in seen}  # the first of two with the same name


def add_document(
    by: Principal | None, folder: Folder, incoming: IncomingFile, *, known: Mapping[str, Document] | None = None
) -> Upload:
    """Add a document after `upload_document`'s checks; `by` is None to set a system up. known: of `map_documents_by_name`.

    Raises PermissionDenied (the document of this name has exceptions, or is another's), InvalidInput, StorageFull.
    """
    name = clean_filename(incoming.filename)
    incoming = replace(incoming, filename=name)
    check_upload_file(name, incoming.file.size)
    version = DocumentVersion(
        sha256=compute_file_sha256(incoming.file),
        size_bytes=incoming.file.size,
        uploaded_by_id=by.user_id if by else None,
        queue=incoming.queue or choose_queue(by.user_id if by else None),
    )
    try:
        with transaction.atomic():
            before = _find_known_document(by, folder, name) if known is None else known.get(name)
            if by is not None and before is not None:
                require_right(by, Right.ADD, before)
            return _store_version(by, folder, incoming, version, before)
    except BaseException as error:
        if version.file:  # the rows are rolled back; the file must not stay behind
            version.file.storage.delete(version.file.name or "")
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            raise StorageFull(
                _(
                    "“%(name)s” was not stored: the disk of the server is full. Tell its administrator, then add it again."
                )
                % {"name": name}
            ) from error
        raise


def clean_filename(filename: str) -> str:
    """Return the last part of a name as one harmless line. Raises InvalidInput when nothing usable is left."""
    last = PurePath(filename.replace("\\", "/")).name
    name = unicodedata.normalize("NFC", "".join(c for c in last if c.isprintable())).strip()
    if name in {"", ".", ".."}:
        raise InvalidInput(_("The file has no usable name."))
    if len(name.encode("utf-8", "replace")) > FILENAME_BYTES:
        raise InvalidInput(
            _("The file name is longer than %(most)s bytes. Give it a shorter one.") % {"most": FILENAME_BYTES}
        )
    return name


def check_upload_file(name: str, size_bytes: int) -> None:
    """Raise InvalidInput for a file that can be refused before a byte is read: type, size, emptiness."""
    load_parsers()
    suffix = PurePath(name).suffix.lower()
    if suffix in SAVED_AS:
        raise InvalidInput(
            _("“%(name)s” is in the old format %(old)s. Open it, save it as %(new)s, and add that file.")
            % {"name": name, "old": suffix, "new": SAVED_AS[suffix]}
        )
    if suffix not in list_accepted_extensions():
        known = ", ".join(list_accepted_extensions())
        raise InvalidInput(
            _("“%(name)s” is of a type that is not supported. Supported: %(known)s.") % {"name": name, "known": known}
        )
    if size_bytes == 0:
        raise InvalidInput(_("“%(name)s” is empty.") % {"name": name})
    if size_bytes > settings.UPLOAD_MAX_BYTES:
        raise InvalidInput(
            _("“%(name)s” has %(size)s MB; the limit is %(most)s MB.")
            % {"name": name, "size": -(-size_bytes // 1_000_000), "most": settings.UPLOAD_MAX_BYTES // 1_000_000}
        )


def _store_version(
    by: Principal | None, folder: Folder, incoming: IncomingFile, version: DocumentVersion, known: Document | None
) -> Upload:
    name = incoming.filename
    locked = Document.unscoped.select_for_update()
    document = locked.filter(pk=known.pk, folder=folder, trashed_at=None).first() if known else None
    is_new = document is None
    if document is None:
        document, is_new = locked.get_or_create(
            access=folder,
            filename=name,
            defaults={
                "folder": folder,
                "knowledge_base_id": folder.knowledge_base_id,
                "title": incoming.title or build_title(name),
                "language": incoming.language,
                "created_by_id": version.uploaded_by_id,
            },
        )
    newest = None if is_new else document.versions.order_by("-number").first()
    is_brought_back = by is not None and document.withdrawn_at is not None
    if newest is not None and newest.sha256 == version.sha256 and not is_brought_back:
        return Upload(document, newest, UploadOutcome.UNCHANGED)
    if by is not None and newest is not None:
        _require_replace_right(by, document)
    if document.withdrawn_at is not None:
        document.withdrawn_at = None
        document.save(update_fields=["withdrawn_at", "updated_at"])
    version.document = document
    version.number = newest.number + 1 if newest else 1
    incoming.file.seek(0)
    version.file.save(name, incoming.file, save=False)
    if compute_file_sha256(incoming.file) != version.sha256:
        raise InvalidInput(_("“%(name)s” was changed while it was read. Add it again.") % {"name": name})
    version.queued_at = timezone.now()
    version.save(force_insert=True)
    Stage.objects.bulk_create(
        Stage(version=version, name=stage, position=place) for place, stage in enumerate(StageName.values)
    )
    action = Action.DOCUMENT_UPLOADED if is_new else Action.DOCUMENT_VERSION_ADDED
    record_action(by, action, document, detail={"version": version.number, "size_bytes": version.size_bytes})
    send_on_commit(INGEST, version.pk, queue=version.queue)
    return Upload(document, version, UploadOutcome.CREATED if is_new else UploadOutcome.NEW_VERSION)


def _require_replace_right(by: Principal, document: Document) -> None:
    """Raise PermissionDenied unless the document is theirs alone or they may change it."""
    is_theirs = not document.versions.exclude(uploaded_by_id=by.user_id).exists()
    if not is_theirs and not has_right(by, Right.CHANGE, document):
        raise PermissionDenied(
            _(
                "“%(name)s” already exists here and is not only yours: a new version needs the right “%(right)s”. "
                "Ask for it, or use another file name."
            )
            % {"name": document.filename, "right": Right.CHANGE.word}
        )


def _find_known_document(by: Principal | None, folder: Folder, name: str) -> Document | None:
    """Return the document of this name that this person sees in the folder; hidden ones do not count."""
    seen = Document.unscoped.filter(trashed_at=None) if by is None else Document.objects.visible_to(by)
    return seen.filter(folder=folder, filename=name).order_by("created_at").first()


def compute_file_sha256(file: "File[bytes]") -> str:
    """Return the whole file's SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()
    for part in file.chunks():
        digest.update(part)
    return digest.hexdigest()
