"""The start page of a conversation: what this person may ask here, and suggestions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from agent import texts
from agent.conversations.sessions import list_sessions
from agent.events import StopReason
from agent.models import Message, MessageRole
from agent.passages.follow_ups import is_follow_up_question
from agent.verified_answers.selectors import list_verified_questions
from authz.principal import Principal
from business.sources.services import OpenSource, open_sources
from knowledge.documents.places import DocumentLocation, find_document_places
from knowledge.library import list_knowledge_bases
from knowledge.models import Chunk, Document, KnowledgeBase
from knowledge.selectors import discoverable_folders
from knowledge.services.folders import may_make_bases
from knowledge.text.headings import remove_heading_number
from knowledge.text.language import detect_language

MAX_SUGGESTIONS, MAX_ABOUT, MAX_AGAIN, MAX_RECENT, MAX_TABLES = 4, 2, 3, 4, 12
HOW_TO = "How to "
LOOKED_AT = 12  # documents, the latest ones, whose headings may become questions
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class RecentDocument:
    id: UUID
    title: str
    place: DocumentLocation


@dataclass(frozen=True)
class FirstPage:
    """Scope and suggestions of the start page, under today's rights.

    name: used in the greeting. suggestions: questions in the language of the page that what they may read answers.
    again: own answered questions of the last week, the latest first, without follow-ups. recent: the documents changed
    last. bases: with `documents`, the number that they may read; empty_base: a visible base without documents. tables:
    what can be counted, in words; asks_data: whether there is any. may_ask: whether there is a folder to request access
    to.
    """

    name: str
    suggestions: tuple[str, ...]
    again: tuple[str, ...]
    recent: tuple[RecentDocument, ...]
    bases: tuple[KnowledgeBase, ...]
    empty_base: KnowledgeBase | None
    tables: tuple[str, ...]
    asks_data: bool
    may_make_bases: bool
    may_ask: bool

    @property
    def reads_documents(self) -> bool:
        return bool(self.recent)


def build_start_page(
    principal: Principal, user: User | AnonymousUser, language: str, *, suggested: Sequence[str] = ()
) -> FirstPage:
    """Return the start page. language: a Django language code.

    suggested: questions shown first; then those with a verified answer, and those made from documents.
    """
    latest = list(
        Document.objects.visible_to(principal).exclude(current_version=None).order_by("-updated_at")[:LOOKED_AT]
    )
    sources = [opened for opened in open_sources(principal) if opened.layer.semantic_models]
    bases = list_knowledge_bases(principal)
    suggestions = _suggest_questions(principal, language, suggested)
    return FirstPage(
        getattr(user, "first_name", "") or user.get_username(),
        suggestions,
        tuple(question for question in _yield_earlier_questions(principal) if question not in suggestions)[:MAX_AGAIN],
        tuple(_yield_recent_documents(principal, latest[:MAX_RECENT])),
        tuple(base for base in bases if base.documents),  # type: ignore[attr-defined]
        next((base for base in bases if not base.documents), None),  # type: ignore[attr-defined]
        tuple(dict.fromkeys(_yield_model_names(sources, language)))[:MAX_TABLES],
        bool(sources),
        may_make_bases(principal),
        discoverable_folders(principal).exists(),
    )


def _yield_recent_documents(principal: Principal, documents: Iterable[Document]) -> Iterator[RecentDocument]:
    found = list(documents)
    places = find_document_places(principal, [document.pk for document in found])
    for document in found:
        if document.pk in places:
            yield RecentDocument(document.pk, document.title, places[document.pk])


def _yield_model_names(sources: Iterable[OpenSource], language: str) -> Iterator[str]:
    for opened in sources:
        for model in opened.layer.semantic_models if opened.is_kept else ():
            yield model.label.text(language) or model.name.replace("_", " ")


def _suggest_questions(principal: Principal, language: str, suggested: Sequence[str]) -> tuple[str, ...]:
    code = "zh" if language.startswith("zh") else "en"
    known = [*suggested, *(item for item in list_verified_questions(principal) if detect_language(item) == code)]
    made = _yield_document_questions(principal, code) if len(known) < MAX_SUGGESTIONS else ()
    return tuple(dict.fromkeys([*known, *made]))[:MAX_SUGGESTIONS]


def _yield_earlier_questions(principal: Principal) -> Iterator[str]:
    """Yield the questions of answers, the latest first; a question that leans on the one before it means nothing here."""
    answered = Message.objects.filter(
        session__in=list_sessions(principal).filter(is_archived=False),
        role=MessageRole.ASSISTANT,
        stop_reason=StopReason.OK,
        created_at__gt=timezone.now() - WEEK,
        parent__isnull=False,
    )
    rows = answered.order_by("-created_at").values_list(
        "parent__content", "parent__parent", "state__input__normalized_query"
    )[: 10 * MAX_AGAIN]
    yield from dict.fromkeys(
        asked for asked, before, whole in rows if not before or not _needs_earlier_question(asked, whole)
    )


def _needs_earlier_question(asked: str, whole: str | None) -> bool:
    """Return whether a question needs the one before it. whole: as it was completed for the run, None for unknown."""
    return is_follow_up_question(asked) or (whole or asked).split() != asked.split()


def _yield_document_questions(principal: Principal, code: str) -> Iterator[str]:
    """Yield questions made from the latest documents in a language, one for each."""
    rows = Document.objects.visible_to(principal).filter(language=code).exclude(current_version=None)
    documents = {row.current_version_id: row for row in rows.order_by("-updated_at")[:LOOKED_AT]}
    chunks = Chunk.objects.visible_to(principal).filter(version_id__in=documents, is_retired=False)
    headings: dict[Any, list[str]] = {}
    for version_id, path in chunks.order_by("position").values_list("version_id", "heading_path"):
        if path:
            headings.setdefault(version_id, []).append(path[-1])
    asked = [
        _make_document_question(document, headings.get(version_id, ())) for version_id, document in documents.items()
    ]
    yield from [question for is_of_heading, question in asked if is_of_heading]
    yield from [question for is_of_heading, question in asked if not is_of_heading][:MAX_ABOUT]


def _make_document_question(document: Document, headings: Iterable[str]) -> tuple[bool, str]:
    """Return a question about a document, and whether one of its headings asks it; other headings make odd questions."""
    found = (_convert_heading_to_question(remove_heading_number(heading)) for heading in headings)
    asked = next(filter(None, found), "")
    return bool(asked), asked or str(texts.ABOUT_A_DOCUMENT) % {"title": document.title}


def _convert_heading_to_question(heading: str) -> str:
    """Return the question that a heading asks, or whose answer it announces; "" for any other."""
    if heading.endswith(("?", "？")):
        return heading
    if heading.startswith(("如何", "怎么", "怎样")):
        return f"{heading}？"
    return f"How do I {heading[len(HOW_TO) :]}?" if heading.startswith(HOW_TO) else ""
