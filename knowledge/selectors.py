"""Reads that pages, API and tools share. Rows come through `visible_to`; titles that the audit log names do not."""

import hashlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet, TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.folders import select_folder_ids
from copilot_site.lib.database import open_prepared_cursor
from copilot_site.lib.errors import NotFound
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import Chunk, Document, Folder, FolderKind, KnowledgeBase
from knowledge.text.passage_blocks import PassageBlock, parse_blocks
from knowledge.text.terms import count_terms

MAX_NAMED = 20  # bases in a sentence
SHOWN_WITH = ("document", "version", "knowledge_base")  # of a passage


def find_base_by_name(principal: Principal, name: str) -> KnowledgeBase:
    """Return the knowledge base of this name, for a command. Raises NotFound, which names those that this person may see."""
    try:
        return get_visible(KnowledgeBase, principal, name=name)
    except NotFound:
        names = KnowledgeBase.objects.visible_to(principal).order_by("name").values_list("name", flat=True)[:MAX_NAMED]
        there = f"there are {', '.join(f'“{item}”' for item in names)}" if names else "there is none yet"
        raise NotFound(f"There is no knowledge base “{name}” that {principal.username} may see; {there}.") from None


def list_due_reviews(principal: Principal, *, until: date) -> QuerySet[Document]:
    """Return documents that this person owns and may read, with a review date of `until` or earlier."""
    mine = Q(owner_id=principal.user_id) | Q(owner=None, created_by_id=principal.user_id)
    return Document.objects.visible_to(principal).filter(mine, review_on__lte=until)


@dataclass(frozen=True)
class ShownPassage:
    """A passage with its place. start, end: character offsets into the text of its version.

    page: its first one. page_starts: where in `text` each page after that begins. blocks: what it is made of, () of one that was read
    before passages knew. superseded_by: the document that holds instead of its
    own, which this person may not see. is_unapproved: its base requires approval, and this version has none.
    """

    chunk_id: UUID
    knowledge_base_id: UUID
    document_id: UUID
    version_id: UUID
    position: int
    title: str
    filename: str
    language: str
    heading_path: tuple[str, ...]
    text: str
    page: int | None
    start: int
    end: int
    is_current: bool
    page_starts: tuple[int, ...] = ()
    blocks: tuple[PassageBlock, ...] = ()
    superseded_by: UUID | None = None
    is_unapproved: bool = False

    def __post_init__(self) -> None:
        """Fold title, file name and headings to single lines, whichever query read the row."""
        for name in ("title", "filename"):
            object.__setattr__(self, name, fold_to_one_line(getattr(self, name)))
        object.__setattr__(self, "heading_path", tuple(map(fold_to_one_line, self.heading_path)))

    def page_at(self, offset: int) -> int | None:
        """Return the page on which the character at `offset` of the text stands."""
        return None if self.page is None else self.page + bisect_right(self.page_starts, offset)

    @property
    def embedded_text(self) -> str:
        """Return the indexed text of this passage: its place, then its text."""
        return build_passage_text(self.title, self.heading_path, self.text)


def build_passage_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """Return the text of a passage that is embedded, indexed and reranked."""
    return f"{' > '.join([title, *heading_path])}\n{text}"


def list_visible_passages(principal: Principal, chunk_ids: Iterable[UUID]) -> list[ShownPassage]:
    """Return the given passages that this person may see, unordered."""
    rows = Chunk.objects.visible_to(principal).filter(id__in=list(chunk_ids)).select_related(*SHOWN_WITH)
    return [build_shown_passage(row) for row in rows]


def filter_visible_passage_ids(principal: Principal, chunk_ids: Iterable[UUID]) -> set[UUID]:
    """Return which passages this person may see now: a hand-written `Chunk.objects.visible_to`, for checks before each event of a run.

    The passages are looked up first: a plan for any person and any number of passages would go through all that people may see.
    """
    ids = list(chunk_ids)
    if not ids:
        return set()
    visible = select_folder_ids(principal, Right.VIEW, among="SELECT access_id FROM asked")
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(
            "WITH asked AS MATERIALIZED (SELECT c.id, d.access_id FROM knowledge_chunk c"  # noqa: S608  # `authz.rights.folders` holds no input
            " JOIN knowledge_document d ON d.id = c.document_id WHERE c.id = ANY(%s))"
            f" SELECT a.id FROM asked a WHERE a.access_id IN ({visible.sql})",
            [ids, *visible.params],
        )
        return {pk for (pk,) in cursor.fetchall()}


def list_document_passages(principal: Principal, document: Document) -> list[ShownPassage]:
    """Return all passages of the version that answers, in order."""
    lookup = {"version_id": document.current_version_id, "document": document, "is_retired": False}
    rows = Chunk.objects.permitted(principal, Right.VIEW, **lookup)
    return [build_shown_passage(row) for row in rows.select_related(*SHOWN_WITH).order_by("position")]


def discoverable_folders(principal: Principal) -> QuerySet[Folder]:
    """Return the hidden folders whose names this person may see; none for anonymous people or through a token for one folder.

    Only `id` and `name` may be shown; everything else of such a folder stays hidden.
    """
    if principal.is_nobody or principal.folder_id is not None:
        return Folder.unscoped.none()
    hidden = Folder.unscoped.filter(is_discoverable=True, kind=FolderKind.FOLDER)
    return hidden.exclude(pk__in=select_folder_ids(principal, Right.VIEW)).only("id", "name").order_by("name", "id")


def match_discoverable_folders(principal: Principal, question: str) -> list[Folder]:
    """Return the three discoverable folders that share most of their name's terms with a question, best first; none that share nothing."""
    asked = set(count_terms(question))
    scored = []
    for folder in discoverable_folders(principal):
        terms = set(count_terms(folder.name))
        if terms & asked:
            scored.append((-len(terms & asked) / len(terms), folder.name, folder))
    return [folder for _score, _name, folder in sorted(scored, key=lambda row: row[:2])[:3]]


def find_recorded_titles(ids: Collection[UUID]) -> dict[UUID, str]:
    """Return titles for readers of the audit log, whose entries name the documents; no name of a conversation's file."""
    found = {}
    for row in Document.unscoped.filter(pk__in=ids).only("title", "trashed_at", "knowledge_base_id"):
        title = _("file of a conversation") if row.is_attached else row.title
        found[row.pk] = _("%(title)s (in the trash)") % {"title": title} if row.trashed_at else title
    return found


def build_shown_passage(row: Chunk) -> ShownPassage:
    """Return a row, read with SHOWN_WITH, for display."""
    return ShownPassage(
        chunk_id=row.id,
        knowledge_base_id=row.knowledge_base_id,
        document_id=row.document_id,
        version_id=row.version_id,
        position=row.position,
        title=row.document.title,
        filename=row.document.filename,
        language=row.document.language,
        heading_path=tuple(row.heading_path),
        text=row.text,
        page=row.page_from,
        start=row.start,
        end=row.end,
        is_current=row.version_id == row.document.current_version_id,
        page_starts=tuple(row.page_starts),
        blocks=parse_blocks(row.blocks),
        superseded_by=row.document.superseded_by_id,
        is_unapproved=row.knowledge_base.is_approval_wanted and row.version.approved_at is None,
    )


class Today(TextChoices):
    """The present state of a cited passage."""

    SAME = "same", gettext_lazy("the same text")
    CHANGED = "changed", gettext_lazy("another text")
    GONE = "gone", gettext_lazy("no longer there")


def compare_passage_texts(hashes: Mapping[UUID, str]) -> dict[UUID, Today]:
    """Compare passages with their texts of then. hashes: passage → hexadecimal SHA-256 of its former text."""
    rows = Chunk.unscoped.filter(id__in=hashes).values_list("id", "text")
    now = {pk: hashlib.sha256(text.encode()).hexdigest() for pk, text in rows}
    return {pk: _compare_text(now.get(pk), then) for pk, then in hashes.items()}


def _compare_text(now: str | None, then: str) -> Today:
    if now is None:
        return Today.GONE
    return Today.SAME if now == then else Today.CHANGED
