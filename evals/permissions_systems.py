"""Connect systems to the permissions benchmark: the interface that a system needs (`System`), this product, and a common baseline.

A system gets documents with one folder each, people, and grants on folders. It is asked questions as these people, and returns everything
that the person saw, by channel. The benchmark does not look inside: it searches what was shown for codes that only one document has.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from pgvector import HalfVector

from agent.conversations.sessions import create_session, get_message
from agent.events import Event
from agent.models import Session
from agent.runs.start import ask_question
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights, revoke_rights
from evals.corpus import CorpusDocument, Dataset, LoadedCorpus, load_corpus
from evals.forbidden_benchmark import signed_in
from evals.permissions_world import PermissionsWorld
from knowledge.models import Document, Folder
from knowledge.retrieval.engine import load_engine

BASE = "Permissions benchmark"
_AFTER_SEARCH = {"tool_result", "references"}
_COUNT = re.compile(r"(\d+)\s*(?:documents?\b|份文档|个文档)")
FETCHED = 50  # passages, before the filter
SHOWN = 8  # passages, as many as an answer of ours has at most
_NEAREST = """
SELECT c.document_id, c.text, d.title
FROM knowledge_chunkindex i JOIN knowledge_chunk c ON c.id = i.chunk_id JOIN knowledge_document d ON d.id = c.document_id
WHERE i.knowledge_base_id = %s
ORDER BY i.vector::halfvec({dimensions}) <#> %s::halfvec({dimensions}) LIMIT %s
"""


@dataclass(frozen=True)
class Shown:
    """Everything a person saw for one question.

    channels: text by channel, such as "answer", "titles", "suggestions" and "export"; a channel the system lacks is left out.
    documents: ids of the documents shown as sources, best first. counts: numbers of documents that the person was told of.
    """

    channels: Mapping[str, str]
    documents: Sequence[str] = ()
    counts: Sequence[int] = ()


class System(Protocol):
    """A system under test. Ids of documents and names of people are those of the world."""

    name: str

    def load(self, world: PermissionsWorld) -> None:
        """Bring in the documents, each in a folder of its own, and the people, who have no rights yet."""

    def grant(self, person: str, documents: Sequence[str]) -> None:
        """Let a person read the folders of these documents."""

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        """Take that right back; it is in force when this returns."""

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        """Ask as a person, and return what they saw.

        meanwhile: to be called once, after the search and before the answer is shown. What the person saw before that call is left out
        of the result. A system that cannot be stopped there calls it from a thread, and leaves out what was shown before it returned.
        """


class Copilot:
    """Asks in the chat as each person, and then opens the pages that might show more than the answer."""

    name = "this product"

    def __init__(self) -> None:
        self.corpus: LoadedCorpus
        self.names: Mapping[UUID, str] = {}
        self._folders: dict[str, Folder] = {}
        self._users: dict[str, User] = {}

    def load(self, world: PermissionsWorld) -> None:
        for person in world.people:
            user, _made = User.objects.get_or_create(username=f"permissions-{person}")
            User.objects.filter(pk=user.pk).update(is_active=True)
            self._users[person] = User.objects.get(pk=user.pk)
        rows = tuple(
            CorpusDocument(id=one.id, text=one.text, title=one.title, lang=one.language)
            for one in world.documents.values()
        )
        first = next(iter(self._users.values()))
        self.corpus = load_corpus(Dataset(BASE, rows, (), {}), Principal.of(first), name=BASE)
        revoke_rights(None, [Right.VIEW], self.corpus.base, of=first)
        self.names = self.corpus.external_ids
        self._folders = {self.names[row.pk]: row.folder for row in self.corpus.documents(world.documents)}
        self._take_all_back()

    def grant(self, person: str, documents: Sequence[str]) -> None:
        for document in documents:
            grant_rights(None, [Right.VIEW], self._folders[document], to=self._users[person])

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        for document in documents:
            revoke_rights(None, [Right.VIEW], self._folders[document], of=self._users[person])

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        user = self._users[person]
        session = create_session(Principal.of(user))
        events = async_to_sync(_events)(Principal.of(user), session, question, meanwhile)
        principal = Principal.of(user)
        answer = get_message(principal, session, UUID(str(events[-1].assistant_message_id)))
        shown = _pages(user, session, answer.id) | {"answer": "\n".join(event.model_dump_json() for event in events)}
        sources = dict.fromkeys(self.names.get(citation.passage.document_id, "") for citation in answer.citations)
        return Shown(shown, list(sources), [int(count) for count in _COUNT.findall(answer.content)])

    def close(self) -> None:
        """Take all rights back and let nobody sign in as these people; the documents stay for the next run."""
        self._take_all_back()
        User.objects.filter(pk__in=[user.pk for user in self._users.values()]).update(is_active=False)

    def _take_all_back(self) -> None:
        for person, user in self._users.items():
            read = Document.objects.visible_to(Principal.of(user)).filter(knowledge_base=self.corpus.base)
            self.revoke(person, [self.names[pk] for pk in read.values_list("pk", flat=True) if pk in self.names])


async def _events(
    principal: Principal, session: Session, question: str, meanwhile: Callable[[], None] | None
) -> list[Event]:
    """Return the events of an answer; with `meanwhile`, those after it."""
    seen: list[Event] = []
    async for event in ask_question(principal, session_id=session.pk, question=question):
        seen.append(event)
        if meanwhile and event.response_type in _AFTER_SEARCH:
            await sync_to_async(meanwhile)()
            seen, meanwhile = [], None
    if meanwhile:
        await sync_to_async(meanwhile)()
        seen = seen[-1:]
    return seen


def _pages(user: User, session: Session, answer: UUID) -> dict[str, str]:
    """Open the conversation again, export it, and look where names are suggested."""
    addresses = {
        "conversation": reverse("conversation", args=[session.pk]),
        "export": reverse("conversation-export", args=[session.pk, answer, "md"]),
        "suggestions": reverse("chat"),
        "titles": f"{reverse('palette')}?q=DF",
        "library": f"{reverse('find')}?q=DF",
    }
    client = signed_in(user)
    return {name: client.get(address, secure=True).content.decode() for name, address in addresses.items()}


class FetchThenFilter:
    """Searches the same vectors in the same PostgreSQL. Rights are read when the request begins, as a session usually has them."""

    name = "fetch then filter"

    def __init__(self, loaded: Copilot) -> None:
        """Search in what `loaded` brought in; its rights stay untouched."""
        self._loaded = loaded
        self._rights: dict[str, set[str]] = {}

    def load(self, world: PermissionsWorld) -> None:
        self._rights = {person: set() for person in world.people}

    def grant(self, person: str, documents: Sequence[str]) -> None:
        self._rights[person] |= set(documents)

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        self._rights[person] -= set(documents)

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        rights = set(self._rights[person])
        vector = load_engine().embedder.embed_query(question)
        with connection.cursor() as cursor:
            statement = _NEAREST.format(dimensions=len(vector))
            cursor.execute(statement, [self._loaded.corpus.base.pk, HalfVector(vector).to_text(), FETCHED])
            fetched = [(self._loaded.names[document], text, title) for document, text, title in cursor.fetchall()]
        if meanwhile:
            meanwhile()
        kept = [row for row in fetched if row[0] in rights][:SHOWN]
        return Shown(
            {"answer": "\n".join(text for _id, text, _title in kept), "titles": "\n".join(title for *_, title in kept)},
            [document for document, *_ in kept],
        )
