"""Data for the library's pages: the tree of folders, their documents, and the state of ingestion."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePath
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import has_right, make_not_found
from knowledge.models import (
    Document,
    DocumentVersion,
    Folder,
    FolderLink,
    KnowledgeBase,
    ParseStatus,
    Stage,
    StageStatus,
)
from knowledge.parsers.base import list_accepted_extensions, load_parsers, parsers
from knowledge.selectors import list_due_reviews
from knowledge.services.uploads import SAVED_AS

PAGE_SIZE = 100  # documents in a table
UNFINISHED = (ParseStatus.PENDING, ParseStatus.PROCESSING)


@dataclass(frozen=True)
class TreeFolder:
    """A folder in the tree at the side. count: documents in it and below it that the person may read, where they see the folder.

    children: shown only along the way to the current folder.
    """

    id: UUID
    name: str
    count: int
    is_current: bool
    is_open: bool
    has_children: bool
    children: tuple["TreeFolder", ...] = ()


@dataclass(frozen=True)
class DocumentRow:
    """A document in a table, with the newest of its versions: the one that the person uploaded last. place: names of the folders above
    it that the person sees, where the table is of several folders.
    """

    document: Document
    version: DocumentVersion

    @property
    def type(self) -> str:
        return PurePath(self.document.filename).suffix.lstrip(".").upper()

    place: str = ""

    @property
    def owner(self) -> User | None:
        """Return the person responsible: the assigned owner, else whoever added it."""
        return self.document.owner or self.document.created_by

    @property
    def is_review_due(self) -> bool:
        return self.document.review_on is not None and self.document.review_on < timezone.localdate()

    @property
    def waits_for_approval(self) -> bool:
        """Tell whether the answering version waits for the approval that its base requires."""
        answering = next((v for v in self.document.versions.all() if v.pk == self.document.current_version_id), None)
        return (
            answering is not None and answering.approved_at is None and self.document.knowledge_base.is_approval_wanted
        )

    @property
    def is_unfinished(self) -> bool:
        return self.version.parse_status in UNFINISHED

    @property
    def stage(self) -> "ShownStage | None":
        return next(
            (stage for stage in list_ingestion_stages(self.version) if stage.status == StageStatus.RUNNING), None
        )


@dataclass(frozen=True)
class ShownStage:
    """One of the four steps of ingestion. duration_s: None until it ended."""

    name: str
    label: str
    status: str
    status_label: str
    done: int
    total: int | None
    duration_s: float | None


@dataclass(frozen=True)
class Accepted:
    """Formats by their usual names (PDF, DOCX, …), all their extensions (.htm), and the largest file. saved_as: `.doc:.docx`, …"""

    names: tuple[str, ...]
    extensions: tuple[str, ...]
    most_bytes: int
    saved_as: tuple[str, ...]

    @property
    def most_mb(self) -> int:
        return self.most_bytes // 1_000_000


def count_due_reviews(principal: Principal) -> int:
    """Return how many documents whose owner this person is, and that they may read, are past their date of review."""
    return list_due_reviews(principal, until=timezone.localdate() - timedelta(days=1)).count()


def is_place_manager(principal: Principal) -> bool:
    """Tell whether this person manages any folder or document."""
    return Folder.objects.reachable_by(principal, Right.MANAGE).exists()


def list_knowledge_bases(principal: Principal) -> list[KnowledgeBase]:
    """Return the knowledge bases this person may see something of, empty ones last; `documents` counts what they may see in each."""
    counted = Document.objects.visible_to(principal).order_by().values("knowledge_base_id").annotate(count=Count("pk"))
    counts = {row["knowledge_base_id"]: row["count"] for row in counted}
    bases = list(KnowledgeBase.objects.visible_to(principal))
    for base in bases:
        base.documents = counts.get(base.pk, 0)  # type: ignore[attr-defined]
    return sorted(bases, key=lambda base: not counts.get(base.pk))


def list_top_folders(principal: Principal, base: KnowledgeBase) -> list[Folder]:
    """Return the visible folders of a base with no visible folder above them: its root, for most people."""
    visible = Folder.objects.visible_to(principal).filter(knowledge_base=base)
    return list(visible.exclude(parent__in=Folder.objects.visible_to(principal)))


def list_hidden_folder_documents(principal: Principal, base: KnowledgeBase) -> list[DocumentRow]:
    """Return the documents of a base that this person may read while their folders are hidden, by file name."""
    beside = Document.objects.permitted(principal, Right.VIEW, knowledge_base=base)
    beside = beside.exclude(access_id=F("folder_id"))  # shares its folder's rights
    beside = beside.exclude(folder__in=Folder.objects.visible_to(principal))
    return build_document_rows(beside[:PAGE_SIZE])


def build_folder_tree(principal: Principal, base: KnowledgeBase, current: Folder | None) -> tuple[TreeFolder, ...]:
    """Return the visible folders of a base as a tree, open along the way to the current one."""
    folders = list(Folder.objects.visible_to(principal).filter(knowledge_base=base).only("id", "name", "parent_id"))
    visible = {folder.pk for folder in folders}
    below: defaultdict[UUID | None, list[Folder]] = defaultdict(list)
    for folder in folders:
        below[folder.parent_id if folder.parent_id in visible else None].append(folder)
    parents = {folder.pk: folder.parent_id for folder in folders}
    way = set(_iterate_ancestors(parents, current.pk if current else None))
    counts = _count_documents_below(principal, base, parents)

    def node(folder: Folder) -> TreeFolder:
        is_open = folder.pk in way
        children = tuple(map(node, below[folder.pk])) if is_open else ()
        is_current = current is not None and folder.pk == current.pk
        return TreeFolder(
            folder.pk, str(folder), counts[folder.pk], is_current, is_open, bool(below[folder.pk]), children
        )

    return tuple(map(node, below[None]))


def _count_documents_below(
    principal: Principal, base: KnowledgeBase, parents: dict[UUID, UUID | None]
) -> Counter[UUID]:
    """Return folder → count of readable documents in and below it. parents: of the folders that they see."""
    seen = Document.objects.visible_to(principal).filter(knowledge_base=base).order_by().values("folder_id")
    counts: Counter[UUID] = Counter()
    for row in seen.annotate(count=Count("pk")):
        for folder_id in _iterate_ancestors(parents, row["folder_id"]):
            counts[folder_id] += row["count"]
    return counts


def _iterate_ancestors(parents: dict[UUID, UUID | None], start: UUID | None) -> Iterator[UUID]:
    step = start
    while step is not None and step in parents:
        yield step
        step = parents[step]


def list_breadcrumbs(principal: Principal, folder: Folder) -> list[Folder]:
    """Return the visible folders from the top down to this one."""
    above = Folder.objects.visible_to(principal).filter(descendant_links__descendant=folder)
    return list(above.order_by("-descendant_links__depth"))


def list_folder_destinations(principal: Principal, folder: Folder) -> list[tuple[UUID, str]]:
    """Return (id, path) of the folders that this person may move this one into, by path, without itself and its parent."""
    inside = FolderLink.objects.filter(ancestor=folder).values("descendant_id")
    open_to = Folder.objects.reachable_by(principal, Right.ADD).exclude(pk__in=inside).exclude(children=folder)
    return _list_folder_paths(principal, folder.knowledge_base_id, open_to)


def list_document_destinations(principal: Principal, base: KnowledgeBase) -> list[tuple[UUID, str]]:
    """Return (id, path) of the folders of a base that this person may put documents into, by path."""
    return _list_folder_paths(principal, base.pk, Folder.objects.reachable_by(principal, Right.ADD))


def _list_folder_paths(principal: Principal, base_id: UUID, open_to: QuerySet[Folder]) -> list[tuple[UUID, str]]:
    seen = Folder.objects.visible_to(principal).filter(knowledge_base_id=base_id)
    rows = {row.pk: row for row in seen.only("id", "name", "parent_id")}
    parents = {pk: row.parent_id for pk, row in rows.items()}
    places = open_to.filter(pk__in=rows).values_list("pk", flat=True)
    paths = {pk: " / ".join(reversed([str(rows[step]) for step in _iterate_ancestors(parents, pk)])) for pk in places}
    return sorted(paths.items(), key=lambda place: place[1])


def list_folder_documents(principal: Principal, folder: Folder, number: int | str = 1) -> Page[DocumentRow]:
    """Return a page of the documents in a folder, by file name. number: from 1; another one gives the nearest page."""
    documents = Document.objects.permitted(principal, Right.VIEW, folder=folder)
    paginator = Paginator(documents, PAGE_SIZE)
    page = paginator.get_page(number)
    return Page(build_document_rows(page.object_list), page.number, paginator)  # type: ignore[arg-type]  # rows for documents


def load_document_rows(principal: Principal, folder: Folder, ids: Iterable[UUID]) -> list[DocumentRow]:
    """Return the given documents that this person may see in this folder and below it."""
    documents = Document.objects.visible_to(principal).filter(folder__ancestor_links__ancestor=folder, pk__in=list(ids))
    return build_document_rows(documents)


def describe_accepted_files() -> Accepted:
    load_parsers()
    names = [parser.extensions[0].lstrip(".").upper() for parser in parsers]
    saved_as = tuple(f"{old}:{new}" for old, new in SAVED_AS.items())
    return Accepted(tuple(names), tuple(list_accepted_extensions()), settings.UPLOAD_MAX_BYTES, saved_as)


def count_unfinished_documents(principal: Principal, folder: Folder) -> int:
    """Return how many documents in this folder and below it are still being ingested."""
    unfinished = DocumentVersion.objects.permitted(principal, Right.VIEW, parse_status__in=UNFINISHED)
    return unfinished.filter(document__folder__ancestor_links__ancestor=folder).count()


def list_document_versions(principal: Principal, document: Document) -> list[DocumentVersion]:
    """Return all versions, the newest first, with their stages. Raises NotFound where the document was deleted meanwhile."""
    versions = DocumentVersion.objects.visible_to(principal).filter(document=document)
    found = list(versions.select_related("document", "uploaded_by").prefetch_related("stages").order_by("-number"))
    if not found:
        raise make_not_found(Document)
    return found


def list_ingestion_stages(version: DocumentVersion) -> list[ShownStage]:
    """Return the four stages in order."""
    return [_build_shown_stage(stage) for stage in version.stages.all()]


def check_row_rights(principal: Principal, row: Folder | Document) -> dict[str, bool]:
    return {right.value: has_right(principal, right, row) for right in Right}


def build_document_rows(documents: QuerySet[Document]) -> list[DocumentRow]:
    """Return rows of visible documents, each with its newest version."""
    found = documents.prefetch_related("versions__stages")
    newest = ((document, next(iter(document.versions.all()), None)) for document in found)
    return [DocumentRow(document, version) for document, version in newest if version]


def _build_shown_stage(stage: Stage) -> ShownStage:
    ended = stage.started_at and stage.finished_at
    return ShownStage(
        name=stage.name,
        label=stage.get_name_display(),
        status=stage.status,
        status_label=stage.get_status_display(),
        done=stage.items_done,
        total=stage.items_total,
        duration_s=(stage.finished_at - stage.started_at).total_seconds() if ended else None,  # type: ignore[operator]
    )
