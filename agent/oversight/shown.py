"""List who was shown a document: subjects to choose, lines of the page and of its file. Holds no text of a document."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from agent.models import Message
from agent.palette.places import build_words_filter
from audit.actions import Action, How
from audit.chain.malformed_rows import load_partial_rows
from audit.models import Entry, Shown
from audit.shown import ShownFilter
from audit.titles import find_document_titles
from authz.people.groups import format_person_name
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_reviewed_rows
from copilot_site.lib.errors import NotFound
from knowledge.models import Document, Folder, FolderKind, FolderLink, KnowledgeBase

MAX = 20  # of one kind, to choose from
READ_AT_ONCE = 500  # lines of a file
CHANNELS = {"mcp": "MCP", "openai": "OpenAI API", "feishu": "Feishu"}


@dataclass(frozen=True)
class ShownSubject:
    """A document, folder, base or person. id: as text; of a row that may be deleted."""

    kind: str
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"

    @property
    def kind_name(self) -> str:
        names = {"document": _("document"), "folder": _("folder"), "base": _("knowledge base"), "person": _("person")}
        return names[self.kind]


@dataclass(frozen=True)
class ShownLine:
    """One line. right: which was checked then. url: of the replay, the run or the entry, whichever this reader may open.

    through: the way it was asked; "" for our own pages.
    """

    at: datetime
    document_id: UUID
    title: str
    how: How
    person_id: int | None
    person: str
    on_behalf_of: str
    right: Right
    perm_snapshot_id: str
    through: str
    run_id: str
    entry_id: int
    url: str


def find_subject(principal: Principal, key: str) -> ShownSubject:
    """Return the subject of a link. A deleted document or person is one, too. Raises NotFound."""
    kind, _colon, pk = key.partition(":")
    with suppress(ValueError):
        if kind == "document":
            return ShownSubject(kind, str(UUID(pk)), find_document_titles([UUID(pk)])[UUID(pk)])
        if kind == "person":
            return _make_person_subject(int(pk))
        models: dict[str, type[Folder | KnowledgeBase]] = {"folder": Folder, "base": KnowledgeBase}
        place = filter_reviewed_rows(models[kind], principal).filter(pk=UUID(pk)).first()
        if place is not None:
            return ShownSubject(kind, str(place.pk), str(place))
    raise NotFound(_("There is no such document, folder or person."))


def _make_person_subject(pk: int) -> ShownSubject:
    user = User.objects.filter(pk=pk).first()
    gone = Entry.objects.filter(action=Action.USER_DELETED, target_id=str(pk)).values_list("target_name", flat=True)
    return ShownSubject(
        "person", str(pk), format_person_name(user) if user else gone.first() or _("account %(n)s") % {"n": pk}
    )


def find_subjects(principal: Principal, words: str) -> list[ShownSubject]:
    """Return what is called so; of each kind MAX at most. An id of a document, also out of an evidence id, is that document."""
    with suppress(ValueError):
        return [find_subject(principal, f"document:{UUID(words.removeprefix('doc:').partition(':')[0])}")]
    people = User.objects.filter(build_words_filter(words, "username", "first_name", "last_name")).order_by("username")
    folders = filter_reviewed_rows(Folder, principal).filter(kind=FolderKind.FOLDER, parent__isnull=False)
    documents = filter_reviewed_rows(Document, principal).filter(
        build_words_filter(words, "title", "filename"), folder__kind=FolderKind.FOLDER
    )
    found = [ShownSubject("person", str(user.pk), format_person_name(user)) for user in people[:MAX]]
    for kind, rows in (
        ("base", filter_reviewed_rows(KnowledgeBase, principal).filter(build_words_filter(words, "name"))),
        ("folder", folders.filter(build_words_filter(words, "name"))),
        ("document", documents.order_by("title")),
    ):
        found += [ShownSubject(kind, str(row.pk), str(row)) for row in rows[:MAX]]
    found += _find_deleted_subjects(words)
    exact = [item for item in found if item.name.casefold() == words.strip().casefold()]
    return exact if len(exact) == 1 else found


def _find_deleted_subjects(words: str) -> list[ShownSubject]:
    """Return deleted documents and people, as the entry of their removal names them."""
    kinds = {Action.DOCUMENT_DELETED.value: "document", Action.USER_DELETED.value: "person"}
    rows = Entry.objects.filter(build_words_filter(words, "target_name"), action__in=kinds).order_by("-id")
    named = rows.values_list("action", "target_id", "target_name")[:MAX]
    return [ShownSubject(kinds[action], pk, _("%(title)s (deleted)") % {"title": name}) for action, pk, name in named]


def list_subject_rows(
    principal: Principal, subject: ShownSubject, *, since: datetime | None, until: datetime | None, how: str
) -> QuerySet[Shown]:
    """Return the rows about a subject, the latest first."""
    person = int(subject.id) if subject.kind == "person" else None
    documents = None if subject.kind == "person" else _list_subject_documents(principal, subject)
    return ShownFilter(documents, person, since, until, how).rows()


def _list_subject_documents(principal: Principal, subject: ShownSubject) -> Sequence[Any]:
    """Return the documents of a subject; for a place, those there now (also in the trash) and those deleted there."""
    pk = UUID(subject.id)
    if subject.kind == "document":
        return [[pk]]
    links = FolderLink.objects.filter(ancestor_id=pk)
    if subject.kind == "base":
        links = FolderLink.objects.filter(descendant__knowledge_base_id=pk, depth=0)
    folders = [str(link) for link in links.values_list("descendant_id", flat=True)]
    removed = Entry.objects.filter(action=Action.DOCUMENT_DELETED, detail__folder__in=folders)
    gone = [UUID(item) for item in removed.values_list("target_id", flat=True)]
    return [
        filter_reviewed_rows(Document, principal).filter(folder_id__in=links.values("descendant_id")).values("pk"),
        gone,
    ]


def iterate_shown_lines(rows: QuerySet[Shown] | Sequence[Shown], *, may_replay: bool) -> Iterator[ShownLine]:
    """Yield a line for each row, with the same number of queries for each READ_AT_ONCE of them."""
    left = iter(rows.iterator(READ_AT_ONCE) if isinstance(rows, QuerySet) else rows)
    while some := list(islice(left, READ_AT_ONCE)):
        beside = _Context.of(some, may_replay=may_replay)
        yield from (_make_shown_line(row, beside) for row in some)


@dataclass(frozen=True)
class _Context:
    """Facts of the lines that the index lacks. channels: by run; replays: the runs that this reader may replay."""

    entries: Mapping[int, Entry]
    titles: Mapping[UUID, str]
    people: Mapping[int | None, str]
    channels: Mapping[str, str | None]
    replays: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[Shown], *, may_replay: bool) -> "_Context":
        entries = {entry.pk: entry for entry in load_partial_rows(Entry, sorted({row.entry_id for row in rows}))}
        runs = {entry.run_id for entry in entries.values() if entry.run_id}
        asked = Entry.objects.filter(action=Action.QUESTION_ASKED, run_id__in=runs)
        return cls(
            entries,
            find_document_titles(row.document_id for row in rows),
            {user.pk: format_person_name(user) for user in User.objects.filter(pk__in={row.person_id for row in rows})},
            dict(asked.values_list("run_id", "detail__channel")),
            frozenset(map(str, _filter_answer_ids(runs))) if may_replay else frozenset(),
        )


def _filter_answer_ids(runs: set[str]) -> QuerySet[Message, UUID]:
    ids = []
    for run in runs:
        with suppress(ValueError):
            ids.append(UUID(run))
    return Message.objects.filter(pk__in=ids).values_list("pk", flat=True)


def _make_shown_line(row: Shown, beside: _Context) -> ShownLine:
    entry = beside.entries[row.entry_id]
    name = beside.people.get(row.person_id) or entry.actor_name
    return ShownLine(
        at=row.at,
        document_id=row.document_id,
        title=beside.titles[row.document_id],
        how=How(row.how),
        person_id=row.person_id,
        person=name or (_("account %(n)s") % {"n": row.person_id} if row.person_id else _("the system")),
        on_behalf_of=entry.on_behalf_of_name,
        right=Right.DOWNLOAD if entry.action == Action.DOCUMENT_DOWNLOADED else Right.VIEW,
        perm_snapshot_id=str(entry.detail.get("perm_snapshot_id") or ""),
        through=_describe_channel(entry, beside.channels.get(entry.run_id) or ""),
        run_id=entry.run_id,
        entry_id=entry.pk,
        url=_build_entry_url(entry, beside.replays),
    )


def _describe_channel(entry: Entry, channel: str) -> str:
    name = channel.partition(":")[0]
    if name:
        return CHANNELS.get(name, name)
    return "API" if "token" in entry.detail or "tool" in entry.detail else ""


def _build_entry_url(entry: Entry, replays: Collection[str]) -> str:
    """Return the replay, where this reader may replay; else the run's entries, which hold no text, or the entry."""
    if entry.run_id in replays:
        return reverse("replay", args=[entry.run_id])
    if entry.run_id:
        return reverse("admin:audit_entry_run", args=[entry.run_id])
    return reverse("admin:audit_entry_change", args=[entry.pk])
