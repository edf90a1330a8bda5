"""The end of a document: its rows, its files and its images, and a line in the audit log that counts what is left of them."""

from copy import copy
from uuid import UUID

from django.core.files.storage import Storage
from django.db import transaction

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from knowledge.ingestion.publish import withdraw
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, Folder, FolderKind
from knowledge.page_images import delete_page_images, kept_images
from knowledge.services.nodes import existing_node

Files = list[tuple[UUID, Storage, list[str]]]
"""Of each version its id, its storage, and the names there of its original and its blocks."""


@transaction.atomic
def remove_document(by: Principal | None, document: Document) -> None:
    """Delete a document after the checks of whoever asks; `by` is None for the system.

    Locks as publishing does, versions first: one of the two sees the other's work.
    """
    list(document.versions.select_for_update())
    document = Document.unscoped.select_for_update(of=("self",)).select_related("current_version").get(pk=document.pk)
    record(by, Action.DOCUMENT_DELETED, document, detail={"versions": document.versions.count()})
    files = [(v.pk, v.file.storage, [v.file.name or "", v.parsed_name]) for v in document.versions.all()]
    gone, nodes = copy(document), _own_nodes(document)
    withdraw(document)
    document.delete()
    for node in nodes:
        node.delete()
    transaction.on_commit(lambda: _delete_files(by, gone, files))


def _own_nodes(document: Document) -> list[Folder]:
    """The node with the document's exceptions, and the one that hides it in the trash: both go with it."""
    nodes = (existing_node(document), document.trashed_from)
    return [node for node in nodes if node is not None and node.kind == FolderKind.DOCUMENT]


def _delete_files(by: Principal | None, document: Document, files: Files) -> None:
    """The original, the blocks and the page images of each version; and a line in the audit log of what is left, counted afterwards."""
    for version_id, storage, names in files:
        for name in filter(None, names):
            storage.delete(name)
        delete_page_images(storage, version_id)
    with transaction.atomic():
        record(by, Action.DOCUMENT_ERASED, document, detail={"left": _left_of(document, files)})


def _left_of(document: Document, files: Files) -> dict[str, int]:
    """How many rows and files of a document there are; all zero after its end."""
    versions = [version_id for version_id, _storage, _names in files]
    return {
        "passages": Chunk.unscoped.filter(document_id=document.pk).count(),
        "vectors": ChunkIndex.unscoped.filter(document_id=document.pk).count(),
        "token_vectors": ChunkTokens.unscoped.filter(version_id__in=versions).count(),
        "files": sum(storage.exists(name) for _version, storage, names in files for name in names if name),
        "page_images": sum(len(kept_images(storage, version_id)) for version_id, storage, _names in files),
    }
