"""The access node of a document with exceptions: a hidden folder below its folder, from which its rights are read.

Chunks keep their place in `ChunkIndex.folder`, which is the document's `access`; both change under the lock of the document's
row, which publishing and indexing take, too, so that no row is written for a place that has just changed.
"""

from authz.rights.checks import make_not_found
from authz.rights.grants import has_no_own_rights
from knowledge.ingestion.publish import update_passage_count
from knowledge.models import ChunkIndex, Document, Folder, FolderKind
from knowledge.services.tree import link_new_folder, lock_tree, move_subtree


def ensure_access_node(document: Document) -> Folder:
    """Return the document's access node, made when it has none; runs inside the caller's transaction.

    Raises NotFound (in the trash, or of a conversation).
    """
    lock_tree(document.knowledge_base_id)
    current = lock_document(document)
    _refuse_trashed_document(current)
    if _is_document_node(current.access):
        return current.access
    node = create_access_node(current)
    set_rights_place(current, node)
    document.access = node
    return node


def create_access_node(document: Document, *, inherits: bool = True) -> Folder:
    """Make a node of the document's own below its folder; the caller holds `lock_tree`."""
    node = Folder.unscoped.create(
        knowledge_base_id=document.knowledge_base_id,
        parent_id=document.folder_id,
        name=document.filename[:200],
        kind=FolderKind.DOCUMENT,
        inherits=inherits,
    )
    link_new_folder(node, document.folder)
    return node


def find_access_node(document: Document) -> Folder | None:
    """Return the document's access node, as the database has it now. Raises NotFound (in the trash or of a
    conversation, where none carries rights).
    """
    current = Document.unscoped.select_related("access").get(pk=document.pk)
    _refuse_trashed_document(current)
    return current.access if _is_document_node(current.access) else None


def drop_node_if_empty(document: Document) -> None:
    """Let the document share its folder's rights again when its node carries none; runs inside the caller's transaction.

    A node stays where the folder shows another document of the same file name: two of them cannot share it.
    """
    lock_tree(document.knowledge_base_id)
    current = lock_document(document)
    node = current.access
    twins = Document.unscoped.filter(access_id=current.folder_id, filename=current.filename)
    if not _is_document_node(node) or not node.inherits or not has_no_own_rights(node) or twins.exists():
        return
    set_rights_place(current, current.folder)
    document.access = current.folder
    node.delete()


def move_document_with_node(document: Document, folder: Folder) -> None:
    """Put a document, with its exceptions, into another folder of its base; runs inside the caller's transaction.

    A document restored from the trash takes the rights of its new folder.
    """
    lock_tree(document.knowledge_base_id)
    current = lock_document(document)
    Document.unscoped.filter(pk=current.pk).update(folder=folder)
    _move_trashed_document(current, folder)
    if _is_document_node(current.access):
        move_subtree(current.access, folder)
    else:
        set_rights_place(current, folder)
        document.access = folder
    document.folder = folder


def _move_trashed_document(document: Document, folder: Folder) -> None:
    """Move a trashed document, with the node that it will read its rights from when restored."""
    before = document.trashed_from
    if before is not None and _is_document_node(before):
        move_subtree(before, folder)
    elif before is not None:
        Document.unscoped.filter(pk=document.pk).update(trashed_from=folder)


def _is_document_node(node: Folder) -> bool:
    """Tell whether it is the node of one document, not a folder."""
    return node.kind == FolderKind.DOCUMENT


def _refuse_trashed_document(document: Document) -> None:
    """Raise NotFound for trashed documents, hidden by their node, and conversations' files: their rights cannot be read or changed."""
    if document.trashed_at is not None or document.is_attached:
        raise make_not_found(Document)


def set_rights_place(document: Document, place: Folder) -> None:
    """Read a document's rights, and those on its passages, from `place` from now on; the caller holds `lock_tree`."""
    if document.current_version is not None:
        update_passage_count(document.current_version, document.access_id, sign=-1)
        update_passage_count(document.current_version, place.pk, sign=1)
    ChunkIndex.unscoped.filter(document=document).update(folder=place)
    Document.unscoped.filter(pk=document.pk).update(access=place)


def lock_document(document: Document) -> Document:
    """Return the document as the database has it now, locked together with its access node."""
    rows = Document.unscoped.select_for_update(of=("self",))
    return rows.select_related("access", "folder", "current_version", "trashed_from").get(pk=document.pk)
