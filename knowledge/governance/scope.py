"""Which places somebody governs, as the pages that list them need it."""

from uuid import UUID

from authz.governing import governed
from authz.principal import Principal
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase


def governed_places(principal: Principal) -> dict[UUID, UUID]:
    """Place → its knowledge base, of every base, folder and node of a document that this person governs.

    A node or folder that does not take over rights from above may be governed by others than the folder it lies in.
    """
    bases = governed(KnowledgeBase, principal).values_list("pk", "pk")
    folders = governed(Folder, principal).filter(kind=FolderKind.FOLDER).values_list("pk", "knowledge_base_id")
    with_exceptions = governed(Document, principal).filter(access__kind=FolderKind.DOCUMENT)
    return dict([*bases, *folders, *with_exceptions.values_list("access_id", "knowledge_base_id")])
