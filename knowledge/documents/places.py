"""The places and owners of documents, for people who may read them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.text.bilingual import in_language
from knowledge.models import Document, Folder, FolderLink


@dataclass(frozen=True)
class DocumentLocation:
    """path: names of the base and of the folders from the top down that the person sees. owner: name of the person responsible,
    "" for nobody. changed_at: when the version that answers was added; version: its number. is_superseded: another document
    holds instead of it, which the person may see.
    """

    path: tuple[str, ...]
    filename: str
    owner: str
    changed_at: datetime
    version: int = 1
    is_superseded: bool = False

    @property
    def type(self) -> str:
        return PurePath(self.filename).suffix.lstrip(".").upper()


def find_document_places(principal: Principal, document_ids: Iterable[UUID]) -> dict[UUID, DocumentLocation]:
    """Return document → place, without documents that this person may not see."""
    ids = set(document_ids)
    if not ids:
        return {}
    successor = Document.objects.visible_to(principal).filter(pk=OuterRef("superseded_by"))
    rows = Document.objects.visible_to(principal).filter(pk__in=ids).annotate(is_superseded=Exists(successor))
    documents = list(rows.select_related("knowledge_base", "owner", "created_by", "current_version"))
    above = find_folder_paths(principal, {document.folder_id for document in documents})
    return {
        document.pk: DocumentLocation(
            (_format_base_name(document), *above[document.folder_id]),
            document.filename,
            _format_owner_name(document),
            document.current_version.created_at if document.current_version else document.updated_at,
            document.current_version.number if document.current_version else 1,
            document.is_superseded,
        )
        for document in documents
    }


def _format_base_name(document: Document) -> str:
    return _("A file of this conversation") if document.is_attached else str(document.knowledge_base)


def find_folder_paths(principal: Principal, folder_ids: set[UUID]) -> dict[UUID, list[str]]:
    """Return folder → names on the path to it, itself last, without the root, which is named like its base."""
    seen = Folder.objects.visible_to(principal).filter(parent__isnull=False)
    links = FolderLink.objects.filter(descendant__in=folder_ids, ancestor__in=seen).order_by("-depth")
    found: defaultdict[UUID, list[str]] = defaultdict(list)
    for folder_id, name in links.values_list("descendant_id", "ancestor__name"):
        found[folder_id].append(in_language(name))
    return found


def find_fillable_folders(
    principal: Principal, words: str, *, most: int, right: Right = Right.ADD
) -> list[tuple[UUID, tuple[str, ...]]]:
    """Return (id, names of the base and the folders down to it) of at most `most` folders that this person sees with the right, by name:
    those whose name, or whose base's name, holds all the words.
    """
    rows = Folder.objects.visible_to(principal).filter(Folder.reach(principal, right))
    for word in words.split():
        rows = rows.filter(Q(name__icontains=word) | Q(knowledge_base__name__icontains=word))
    found = list(rows.select_related("knowledge_base").order_by("knowledge_base__name", "name", "pk")[:most])
    above = find_folder_paths(principal, {row.pk for row in found})
    return sorted(((row.pk, (str(row.knowledge_base), *above[row.pk])) for row in found), key=lambda row: row[1])


def _format_owner_name(document: Document) -> str:
    person = document.owner or document.created_by
    return (person.get_full_name() or person.get_username()) if person else ""
