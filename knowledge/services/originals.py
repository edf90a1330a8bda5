"""Changes to a document whose original was renamed, moved, deleted or restored. The caller has checked rights."""

from pathlib import PurePath

from django.db import transaction
from django.utils import timezone

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from knowledge.ingestion.publish import unpublish_document
from knowledge.models import Document, Folder, ParseStatus
from knowledge.services.access_nodes import move_document_with_node
from knowledge.services.reindex import restart_ingestion
from knowledge.services.uploads import clean_filename
from knowledge.tasks import queue_ingestion
from knowledge.titles import build_title, is_title_from_filename

TITLE_LENGTH = 300


@transaction.atomic
def withdraw_document(by: Principal | None, document: Document) -> None:
    """Withdraw a document from every answer; it stays, with its versions and the time. Doing it again changes nothing."""
    list(document.versions.select_for_update())  # as publishing does, versions first
    current = Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=document.pk)
    if current.withdrawn_at is not None:
        return
    unpublish_document(current)
    current.current_version, current.withdrawn_at = None, timezone.now()
    current.save(update_fields=["current_version", "withdrawn_at", "updated_at"])
    record_action(by, Action.DOCUMENT_WITHDRAWN, current)


@transaction.atomic
def restore_withdrawn_document(by: Principal | None, document: Document) -> None:
    """Let the newest version of a withdrawn document answer again, once it is read anew."""
    version = document.versions.select_for_update().order_by("-number").first()
    current = Document.unscoped.select_for_update(of=("self",)).get(pk=document.pk)
    if version is None or current.withdrawn_at is None:
        return
    current.withdrawn_at = None
    current.save(update_fields=["withdrawn_at", "updated_at"])
    record_action(by, Action.DOCUMENT_REINSTATED, current)
    if version.parse_status == ParseStatus.COMPLETED:  # else it is in progress or shows its failure
        restart_ingestion(version)
        queue_ingestion(version)


@transaction.atomic
def place_document(by: Principal | None, document: Document, folder: Folder, filename: str, title: str = "") -> None:
    """Put a document into a folder of its base under a file name that is free there, and give it a title. title: "": stays.

    A title taken from the old file name follows the new one. A new title reads the document anew, since titles are indexed.
    """
    name = find_free_filename(folder, clean_filename(filename), but=document)
    if document.folder_id != folder.pk:
        Document.unscoped.filter(pk=document.pk).update(
            filename=str(document.pk)
        )  # its name may be taken on either side
        move_document_with_node(document, folder)
        Document.unscoped.filter(pk=document.pk).update(filename=name)
        record_action(by, Action.DOCUMENT_MOVED, document, detail={"folder": str(folder.pk)})
    _rename_document(by, document, name, title)


def find_free_filename(folder: Folder, filename: str, *, but: Document | None = None) -> str:
    """Return the file name, or one with a number where another document of the folder has it."""
    name, path, number = filename, PurePath(filename), 1
    others = Document.unscoped.filter(folder=folder)
    others = others.exclude(pk=but.pk) if but else others
    while others.filter(filename=name).exists():
        number += 1
        name = f"{path.stem} ({number}){path.suffix}"
    return name


def _rename_document(by: Principal | None, document: Document, filename: str, title: str) -> None:
    if is_title_from_filename(document.filename, document.title) and not title:
        title = build_title(filename)
    before = document.filename, document.title
    document.filename, document.title = filename, title[:TITLE_LENGTH] or document.title
    if (document.filename, document.title) == before:
        return
    document.save(update_fields=["filename", "title", "updated_at"])
    record_action(by, Action.DOCUMENT_RENAMED, document)
    if document.title != before[1] and document.current_version is not None:
        restart_ingestion(document.current_version)
        queue_ingestion(document.current_version)
