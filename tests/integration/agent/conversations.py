"""Asking as a person does, and reading what came back."""

from typing import Any, Protocol
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session
from agent.events import Answer, Event, References
from agent.models import Message, MessageRole, Session
from agent.passages import best
from agent.runs.start import ask_question
from authz.principal import Principal
from knowledge.models import Document, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_user

MANUAL = """# Leave

Employees have 30 days of annual leave in each calendar year.

A sick note is due on the third day of absence.
"""
SECRET = """# Salaries

The salary of the managing director is 420,000 euros a year.
"""
LEAVE = "How many days of annual leave do employees have?"
SALARY = "What is the salary of the managing director?"
UNKNOWN = "What is the boiling point of tungsten?"


class Floor(Protocol):
    """Sets whether what is found speaks of the matter at all: how well that is judged is measured elsewhere, on real questions."""

    def __call__(self, *, near: bool) -> None: ...


def lifting(monkeypatch: pytest.MonkeyPatch) -> Floor:
    """Return what lifts the floor above everything that a search finds, or lowers it below."""

    def floor(*, near: bool) -> None:
        monkeypatch.setattr(best, "NEAR", dict.fromkeys(best.NEAR, -2.0 if near else 2.0))

    return floor


Handbook = tuple[KnowledgeBase, Document, Document]  # base, manual, secret


def make_library() -> Handbook:
    """A base with a manual and, in a folder of its own base, what few may read: (base, manual, secret)."""
    base = make_base("Handbook")
    manual = make_document(base, "manual.md", MANUAL, ingested=True)
    secret = make_document(make_base("Board"), "salaries.md", SECRET, ingested=True)
    return base, manual, secret


def make_reader(base: KnowledgeBase) -> User:
    reader = make_user()
    allow(reader, base)
    return reader


def asked(person: User | Principal, question: str, session: Session | None = None, **kwargs: Any) -> list[Event]:
    """All events of one question; in a new conversation of the person when none is given."""
    principal = person if isinstance(person, Principal) else Principal.of(person)
    session_id: UUID = (session or create_session(principal)).pk

    async def collect() -> list[Event]:
        return [event async for event in ask_question(principal, session_id=session_id, question=question, **kwargs)]

    return async_to_sync(collect)()


def kinds(events: list[Event]) -> list[str]:
    """The types in order, repeats of one type together."""
    found: list[str] = []
    for event in events:
        if not found or found[-1] != event.response_type:
            found.append(event.response_type)
    return found


def words(events: list[Event]) -> str:
    """The answer as it was streamed."""
    return "".join(event.content for event in events if isinstance(event, Answer))


def sources(events: list[Event]) -> list[str]:
    """Titles of the documents that were cited."""
    return [row.title for event in events if isinstance(event, References) for row in event.knowledge_references]


def stored(events: list[Event]) -> Message:
    """The answer's row."""
    return Message.objects.get(pk=events[-1].assistant_message_id, role=MessageRole.ASSISTANT)
