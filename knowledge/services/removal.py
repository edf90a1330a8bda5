"""Deletion of a document: rows, files and images, and an audit entry that counts what is left of them."""

import logging
from collections.abc import Callable
from copy import copy
from functools import partial
from uuid import UUID

from django.core.files.storage import Storage
from django.db import transaction
from django.db.models import Q

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.registry import Registry
from knowledge.graph.storage import delete_document_graph
from knowledge.ingestion.publish import unpublish_document
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, Folder, FolderKind, GraphMention, SourceItem
from knowledge.page_images import list_stored_images

logger = logging.getLogger(__name__)

removing: Registry[Callable[[Document], None]] = Registry("reader of what is deleted")
"""Callbacks of upper apps in the deleting transaction, with the document before it is deleted for good."""
Files = list[tuple[UUID, Storage, list[str]]]
"""Of each version its id, its storage, and the names there of its original and its blocks."""


@transaction.atomic
def remove_document(by: Principal | None, document: Document, *, only: Q | None = None) -> bool:
    """Delete a document whose deletion the caller has checked; `by` None: the system. Return whether it existed.

    only: asked again under the lock; where it does not hold any more, the document stays.
    Locks as publishing does, versions first: one of the two sees the other's work.
    """
    list(document.versions.select_for_update())
    current = Document.unscoped.select_for_update().filter(only or Q(), pk=document.pk).first()
    if current is None:
        return False
    _delete_rows(by, current)
    return True


def _delete_rows(by: Principal | None, document: Document) -> None:
    detail = {"versions": document.versions.count(), "folder": str(document.folder_id)}
    record_action(by, Action.DOCUMENT_DELETED, document, detail=detail)
    files = [(v.pk, v.file.storage, [v.file.name or "", v.parsed_name]) for v in document.versions.all()]
    gone, nodes = copy(document), _find_own_nodes(document)
    for prepare in removing:
        prepare(document)
    unpublish_document(document)
    delete_document_graph(document)
    SourceItem.unscoped.filter(document=document).update(is_left_out=True)  # else recreated without exceptions
    document.delete()
    for node in nodes:
        node.delete()
    transaction.on_commit(lambda: _delete_files(by, gone, files))


def _find_own_nodes(document: Document) -> list[Folder]:
    """Return the node with the document's exceptions, and the one that hides it in the trash: both go with it."""
    nodes = (document.access, document.trashed_from)
    return [node for node in nodes if node is not None and node.kind == FolderKind.DOCUMENT]


def _delete_files(by: Principal | None, document: Document, files: Files) -> None:
    """Delete original, blocks and page images of each version; then audit what is left."""
    for version_id, storage, names in files:
        for name in filter(None, names):
            _try_deletion(partial(storage.delete, name))
        for name in list_stored_images(storage, version_id):
            _try_deletion(partial(storage.delete, name))
    with transaction.atomic():
        record_action(by, Action.DOCUMENT_ERASED, document, detail={"left": _count_remains(document, files)})


def _try_deletion(delete: Callable[[], object]) -> None:
    """Try a deletion; a file that fails does not stop the others and is counted as left."""
    try:
        delete()
    except Exception:
        logger.exception("a file of a deleted document stays in the store")


def _count_remains(document: Document, files: Files) -> dict[str, int]:
    """Return how many rows and files of a document there are; all zero after its end."""
    versions = [version_id for version_id, _storage, _names in files]
    return {
        "passages": Chunk.unscoped.filter(document_id=document.pk).count(),
        "vectors": ChunkIndex.unscoped.filter(document_id=document.pk).count(),
        "token_vectors": ChunkTokens.unscoped.filter(version_id__in=versions).count(),
        "graph_mentions": GraphMention.unscoped.filter(document_id=document.pk).count(),
        "files": sum(storage.exists(name) for _version, storage, names in files for name in names if name),
        "page_images": sum(len(list_stored_images(storage, version_id)) for version_id, storage, _names in files),
    }
