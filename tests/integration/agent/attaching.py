"""Files of a conversation, attached as a person does."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from agent.conversations.attachments import attach_to_conversation
from agent.conversations.sessions import create_session
from agent.events import Event
from agent.models import Session
from agent.profiles.settings import Options
from authz.principal import Principal
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Document
from knowledge.retrieval.search import search
from tests.factories import allow, make_base, make_document, make_user, prepare_embedder
from tests.integration.agent.conversations import asked

CONTRACT = "# Contract with Meyer\n\nThe notice period of the contract with Meyer is seven months.\n"
HANDBOOK = "# Handbook\n\nThe notice period of employees is four weeks.\n"
NOTICE = "How long is the notice period?"


def attached(person: User, session: Session, name: str = "meyer.md", content: str = CONTRACT) -> Document:
    """A file of a conversation, read."""
    prepare_embedder()
    upload = attach_to_conversation(Principal.of(person), session.pk, filename=name, file=ContentFile(content.encode()))
    run_ingestion(upload.version.pk)
    return Document.unscoped.get(pk=upload.document.pk)


def with_files(*documents: Document) -> Options:
    return Options(attachments=tuple(document.pk for document in documents))


def found_by(principal: Principal) -> set[str]:
    """The file names that a search for the notice period brings this person."""
    return {hit.passage.filename for hit in search(principal, NOTICE).hits}


class Case:
    """Somebody who reads a handbook, and asked a question with a file of their own."""

    def __init__(self) -> None:
        self.person = make_person()
        self.me = Principal.of(self.person)
        self.session = create_session(self.me)
        self.document = attached(self.person, self.session)
        self.events = asked(self.person, NOTICE, self.session, options=with_files(self.document))
        self.answer_id = UUID(str(self.events[-1].assistant_message_id))

    def ask(self, **more: Any) -> list[Event]:
        return asked(self.person, NOTICE, self.session, **more)


def make_person() -> User:
    """Somebody who reads a handbook."""
    person, base = make_user(), make_base("Handbook")
    allow(person, base)
    make_document(base, "handbook.md", HANDBOOK, ingested=True)
    return person
