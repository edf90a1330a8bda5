"""What the tests of pages look at: one folder that a reader may read, with documents, and people with other rights."""

import io
import re
from functools import cached_property

from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from reportlab.pdfgen import canvas

from agent.events import StopReason
from agent.models import Citation, Message, MessageRole, Session
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Chunk, Document, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user

SENTENCE = "By default at most 25% of the desired pods are unavailable."


class House:
    """A base `Rules` with the folders `Updates` and, in it, `Old`; `Updates` is what the reader may view."""

    def __init__(self) -> None:
        self.base = make_base("Rules")
        self.folder = make_folder(self.base, "Updates")
        self.below = make_folder(self.folder, "Old")
        self.sibling = make_folder(self.base, "Secret plans")
        self.reader = make_user("reader")
        self.stranger = make_user("stranger")  # holds nothing
        self.elsewhere = make_user("elsewhere")  # holds everything, on another base
        self.keeper = make_user("writer")
        allow(self.reader, self.folder)
        allow(self.elsewhere, make_base("Other"), *Right)
        allow(self.keeper, self.folder, *Right)

    @cached_property
    def document(self) -> Document:
        return make_document(self.folder, "rolling.md", ingested=True)

    @cached_property
    def pdf(self) -> Document:
        return make_document(self.folder, "rolling.pdf", two_pages(), ingested=True)

    @cached_property
    def hidden(self) -> Document:
        return make_document(self.sibling, "plan.md", "# Plan\n\nThe plan is secret.", ingested=True)

    @cached_property
    def session(self) -> Session:
        """A conversation of the reader with one answer, which quotes SENTENCE from the document."""
        session = Session.objects.create(user=self.reader, title="Pods")
        asked = Message.objects.create(
            session=session, role=MessageRole.USER, content="How many pods may be unavailable?"
        )
        answer = Message.objects.create(
            session=session,
            parent=asked,
            role=MessageRole.ASSISTANT,
            content=f"{SENTENCE}[1]",
            sentences=[{"text": SENTENCE, "citations": [1]}],
            stop_reason=StopReason.OK,
            provider="extractive",
        )
        cite(answer, chunk_with(self.document, SENTENCE), SENTENCE)
        return session


def chunk_with(document: Document, words: str) -> Chunk:
    return next(chunk for chunk in Chunk.unscoped.filter(document=document) if words in chunk.text)


def cite(answer: Message, chunk: Chunk, words: str) -> None:
    """Have an answer's number 1 stand for these words of a passage."""
    start = chunk.text.index(words)
    Citation.objects.create(
        message=answer,
        number=1,
        evidence_id="e1",
        knowledge_base_id=chunk.knowledge_base_id,
        document_id=chunk.document_id,
        version_id=chunk.version_id,
        chunk_id=chunk.id,
        start=start,
        end=start + len(words),
        score=1.0,
        text_hash="",
    )


def source_url(chunk: Chunk, words: str) -> str:
    start = chunk.text.index(words)
    path = reverse("source", args=[chunk.knowledge_base_id, chunk.id])
    return f"{path}?start={start}&end={start + len(words)}"


def client_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def principal_of(user: User) -> Principal:
    return Principal.of(user)


def plain(body: bytes) -> str:
    """A page without what differs between two answers to the same request: the token against forged forms."""
    return re.sub(r'(name="csrfmiddlewaretoken" value=")[^"]*', r"\1", body.decode())


def two_pages() -> bytes:
    """A PDF: a page about pods, and a page about something else."""
    stream = io.BytesIO()
    page = canvas.Canvas(stream, invariant=True)
    page.drawString(72, 720, "Pods are replaced one by one.")
    page.drawString(72, 640, "The limit is a quarter of them.")
    page.showPage()
    page.drawString(72, 720, "The second page speaks of volumes.")
    page.showPage()
    page.save()
    return stream.getvalue()


def stored_files(base: KnowledgeBase) -> set[str]:
    """Names of the originals of one knowledge base: the storage is shared with tests that run at the same time."""
    folder = f"originals/{base.pk}"
    return set(default_storage.listdir(folder)[1]) if default_storage.exists(folder) else set()
