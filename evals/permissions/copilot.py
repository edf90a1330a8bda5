"""The adapter of this product: real uploads, real rights, the chat, and the pages as a browser gets them."""

import re
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.urls import reverse

from agent.conversations.sessions import create_session, get_message
from agent.events import Event
from agent.models import Session
from agent.runs.start import ask
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import give, take_back
from evals.permissions.adapter import Shown
from evals.permissions.world import PermissionsWorld
from evals.rights.forbidden_benchmark import signed_in
from evals.search.corpus import LoadedCorpus, load_corpus
from evals.search.datasets import CorpusDocument, Dataset
from knowledge.models import Document, Folder

BASE = "Permissions benchmark"
_AFTER_SEARCH = {"tool_result", "references"}
_COUNT = re.compile(r"(\d+)\s*(?:documents?\b|份文档|个文档)")


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
        take_back(None, [Right.VIEW], self.corpus.base, of=first)
        self.names = self.corpus.external_ids
        self._folders = {self.names[row.pk]: row.folder for row in self.corpus.documents(world.documents)}
        self._take_all_back()

    def grant(self, person: str, documents: Sequence[str]) -> None:
        for document in documents:
            give(None, [Right.VIEW], self._folders[document], to=self._users[person])

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        for document in documents:
            take_back(None, [Right.VIEW], self._folders[document], of=self._users[person])

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
    async for event in ask(principal, session_id=session.pk, question=question):
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
