"""Search of the palette, under the user's rights."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agent.conversations.presentation.highlights import highlight_question_words
from agent.conversations.sessions import search_sessions
from agent.models import Message, MessageRole, Session
from agent.palette.places import PalettePlace, build_words_filter, find_base_places, find_folder_places
from authz.principal import Principal
from business.models import DataSource
from knowledge.documents.places import DocumentLocation, find_document_places
from knowledge.models import Document
from knowledge.retrieval.search import Scope, search_knowledge
from knowledge.services.folders import may_make_bases

MAX = 6  # of each kind
LOOKED_AT = 12  # passages
Ways = Callable[[HttpRequest], Iterable[tuple[str, str]]]  # (name, address) of pages that the user may open
_further: list[Ways] = []


@dataclass(frozen=True)
class FoundConversation:
    """snippet: the matching question, highlighted; "" where the title matches."""

    id: UUID
    title: str
    snippet: SafeString | str


@dataclass(frozen=True)
class FoundDocument:
    id: UUID
    title: str
    place: DocumentLocation | None


@dataclass(frozen=True)
class FoundPassage:
    """snippet: of the passage, with the words highlighted."""

    document_id: UUID
    chunk_id: UUID
    title: str
    snippet: SafeString


@dataclass(frozen=True)
class PaletteAction:
    """A page to open. icon: of the sprite."""

    label: str
    url: str
    icon: str


@dataclass(frozen=True)
class PaletteResults:
    """At most MAX of each kind. Without words: the latest conversations and documents, and every action."""

    conversations: tuple[FoundConversation, ...]
    documents: tuple[FoundDocument, ...]
    places: tuple[PalettePlace, ...]
    actions: tuple[PaletteAction, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.conversations or self.documents or self.places or self.actions)


def register_palette_pages(ways: Ways) -> None:
    """Register more pages for the palette: called once by the site, which knows more than this app."""
    _further.append(ways)


def find_admin_actions(request: HttpRequest, words: str) -> Iterator[PaletteAction]:
    """Yield the administration pages that match the words, for staff."""
    if words and request.user.is_staff:
        found = (way for ways in _further for way in ways(request) if _contains_all_words(way[0], words))
        yield from (PaletteAction(name, url, "settings") for name, url in islice(found, MAX))


def search_palette(
    principal: Principal, user: User | AnonymousUser, words: str, *, further: Iterable[PaletteAction] = ()
) -> PaletteResults:
    """Find everything with all the words in its name, and conversations with such a question.

    further: actions found elsewhere.
    """
    places = [*find_base_places(principal, words), *find_folder_places(principal, words)] if words else []
    return PaletteResults(
        tuple(_find_conversations(principal, words)),
        tuple(_find_named_documents(principal, words)),
        tuple(places[:MAX]),
        (
            *(action for action in _iterate_menu_actions(principal, user) if _contains_all_words(action.label, words)),
            *further,
        ),
    )


def _find_conversations(principal: Principal, words: str) -> Iterator[FoundConversation]:
    sessions = list(search_sessions(principal, words)[:MAX])
    matches = _find_latest_questions(sessions, words) if words else {}
    for session in sessions:
        snippet = (
            ""
            if _contains_all_words(session.title, words)
            else highlight_question_words(matches.get(session.pk, ""), words)
        )
        yield FoundConversation(session.pk, session.title, snippet)


def _find_latest_questions(sessions: Iterable[Session], words: str) -> dict[UUID, str]:
    """Return the latest question with all the words, by conversation."""
    rows = Message.objects.filter(
        build_words_filter(words, "content"), session__in=list(sessions), role=MessageRole.USER
    )
    return dict(rows.order_by("created_at").values_list("session_id", "content"))


def find_passages(principal: Principal, words: str) -> list[FoundPassage]:
    """Return the best passage of each document that holds some of the words and is not found by its name.

    The search is recorded. Raises InvalidInput, EmbeddingError.
    """
    hits = search_knowledge(principal, words, scope=Scope(), top_k=LOOKED_AT).hits
    named = set(_select_named_documents(principal, words).values_list("pk", flat=True))
    holding = (hit.passage for hit in hits if hit.scores.lexical_rank is not None)
    best = {item.document_id: item for item in reversed([*holding]) if item.document_id not in named}
    return [
        FoundPassage(item.document_id, item.chunk_id, item.title, highlight_question_words(item.text, words))
        for item in list(reversed(best.values()))[:MAX]
    ]


def _select_named_documents(principal: Principal, words: str) -> QuerySet[Document]:
    return Document.objects.visible_to(principal).filter(build_words_filter(words, "title", "filename"))


def _find_named_documents(principal: Principal, words: str) -> Iterator[FoundDocument]:
    rows = _select_named_documents(principal, words)
    found = dict(rows.order_by("-updated_at", "pk").values_list("pk", "title")[:MAX])
    places = find_document_places(principal, found)
    for pk, title in found.items():
        yield FoundDocument(pk, title, places.get(pk))


def _contains_all_words(label: str, words: str) -> bool:
    return all(word.casefold() in label.casefold() for word in words.split())


def _iterate_menu_actions(principal: Principal, user: User | AnonymousUser) -> Iterator[PaletteAction]:
    """Yield the links of the rail and the account menu."""
    yield PaletteAction(_("New conversation"), reverse("chat"), "plus")
    yield PaletteAction(_("All conversations, and search"), reverse("conversations"), "chat")
    yield PaletteAction(_("Library"), reverse("library"), "library")
    if may_make_bases(principal):
        yield PaletteAction(_("New knowledge base"), reverse("base-new"), "plus")
    if DataSource.objects.visible_to(principal).exists():
        yield PaletteAction(_("Explore data"), reverse("explore"), "chart")
    if user.is_staff:
        yield PaletteAction(_("Administration"), reverse("admin:index"), "settings")
    yield PaletteAction(_("Requests for access"), reverse("my-requests"), "lock")
    yield PaletteAction(_("API tokens"), reverse("tokens"), "key")
    yield PaletteAction(_("Trash"), reverse("trash"), "trash")
