"""Which places somebody governs or reviews, as the pages that list them need it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from authz.governing import governed, reviewed
from authz.principal import Principal
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase


def governed_places(principal: Principal) -> dict[UUID, UUID]:
    """Place → its knowledge base, of every base, folder and node of a document that this person governs.

    A node or folder that does not take over rights from above may be governed by others than the folder it lies in.
    """
    return _places(governed, principal)


def reviewed_places(principal: Principal) -> dict[UUID, UUID]:
    """The same of what this person governs or reviews: they may see its rights, and change them where they govern."""
    return _places(reviewed, principal)


def _places(rows: Callable[..., Any], principal: Principal) -> dict[UUID, UUID]:
    bases = rows(KnowledgeBase, principal).values_list("pk", "pk")
    folders = rows(Folder, principal).filter(kind=FolderKind.FOLDER).values_list("pk", "knowledge_base_id")
    with_exceptions = rows(Document, principal).filter(access__kind=FolderKind.DOCUMENT)
    return dict([*bases, *folders, *with_exceptions.values_list("access_id", "knowledge_base_id")])
