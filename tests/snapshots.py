"""Reading what a permission snapshot packs; the product writes and compares it only."""

from uuid import UUID

from authz.models import PermissionSnapshot
from authz.rights.snapshot import ID_BYTES


def folder_ids_in(snapshot: PermissionSnapshot) -> set[UUID]:
    """The folders that were visible, nodes of documents with rights of their own included."""
    packed = bytes(snapshot.folders.packed)
    return {UUID(bytes=packed[place : place + ID_BYTES]) for place in range(0, len(packed), ID_BYTES)}
