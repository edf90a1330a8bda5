"""A shared conversation says to each reader what they may read themselves, and an exported one no more than its page."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agent.conversations.sharing import end_share, read_share
from agent.conversations.sharing import share_conversation as share_answer
from agent.models import Citation, McpService, Message, MessageRole, QueryCitation, Session, Share
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from copilot_site.lib.errors import NotFound
from knowledge.models import Chunk, Document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.pages.house import client_of
from tests.sharing import Share as ShareWorld

pytestmark = pytest.mark.django_db
OPEN, CLOSED, LOOSE = "Leave is 30 days.", "The director earns 420,000.", "That is a lot."
QUESTION = "What do people get?"


class Case:
    """An answer of three sentences: on a document that many may read, on one that few may, and on nothing; and its readers."""

    def __init__(self) -> None:
        self.manual = make_document(make_base("Handbook"), "manual.md", OPEN, ingested=True)
        self.secret = make_document(make_base("Board"), "salaries.md", CLOSED, ingested=True)
        self.owner, self.colleague, self.stranger = make_user("owner"), make_user("colleague"), make_user("stranger")
        for person, documents in ((self.owner, (self.manual, self.secret)), (self.colleague, (self.manual,))):
            for document in documents:
                allow(person, document.folder.knowledge_base)
        self.session = Session.objects.create(user=self.owner, title="Benefits")
        asked = Message.objects.create(session=self.session, role=MessageRole.USER, content=QUESTION)
        self.answer = Message.objects.create(
            session=self.session,
            parent=asked,
            role=MessageRole.ASSISTANT,
            stop_reason="ok",
            provider="a model",
            notice="A notice for the owner",
            content=f"{OPEN}[1] {CLOSED}[2] {LOOSE}",
            sentences=[
                {"text": OPEN, "citations": [1]},
                {"text": CLOSED, "citations": [2]},
                {"text": LOOSE, "citations": []},
            ],
        )
        for number, document in enumerate((self.manual, self.secret), 1):
            _cite(self.answer, number, document)
        self.share = share_answer(Principal.of(self.owner), self.session.pk, self.answer.pk)

    def sees(self, person: User) -> set[str]:
        """The sentences that stand on the shared page for this person, and whether the sources do."""
        page = page_of(person, reverse("shared", args=[self.share.pk]))
        return {text for text in (OPEN, CLOSED, LOOSE, "manual.md", "salaries.md", QUESTION) if text in page}


def _cite(answer: Message, number: int, document: Document) -> None:
    chunk = Chunk.unscoped.get(document=document)
    Citation.objects.create(
        message=answer,
        number=number,
        evidence_id=f"e{number}",
        knowledge_base_id=document.folder.knowledge_base_id,
        document_id=document.pk,
        version_id=chunk.version_id,
        chunk_id=chunk.id,
        start=0,
        end=10,
        score=1.0,
        text_hash="",
    )


def page_of(person: User, address: str) -> str:
    answer = client_of(person).get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.fixture(scope="module")
def shared_case(share: ShareWorld) -> Callable[[], Case]:
    return share(Case)


@pytest.fixture
def case(shared_case: Callable[[], Case], db: None) -> Case:
    return shared_case()


def test_each_reader_sees_what_stands_on_documents_of_their_own(case: Case) -> None:
    texts = {OPEN, CLOSED, LOOSE, QUESTION}
    assert case.sees(case.owner) >= texts
    told = page_of(case.colleague, reverse("shared", args=[case.share.pk]))
    seen = {text for text in texts if text in told}
    assert seen == {OPEN, QUESTION}, "what has no source may say what the hidden one says"
    assert "2 sentences are hidden: you cannot open their sources." in told
    assert "any more" not in told  # they never could
    assert Entry.objects.filter(action=Action.CONVERSATION_SHARED).count() == 1
    read = Entry.objects.filter(action=Action.CONVERSATION_READ).latest("pk")
    assert (read.actor_name, read.detail["evidence"]) == ("colleague", ["e1"])
    assert case.sees(case.stranger) & texts == {QUESTION}
    allow(case.stranger, case.manual.folder.knowledge_base)
    assert case.sees(case.stranger) & texts == {OPEN, QUESTION}
    revoke_rights(None, [Right.VIEW], case.manual.folder.knowledge_base, of=case.stranger)
    assert case.sees(case.stranger) & texts == {QUESTION}


def test_a_notice_for_the_person_alone_is_not_shared(case: Case) -> None:
    for person in (case.owner, case.colleague):
        page = page_of(person, reverse("shared", args=[case.share.pk]))
        assert "A notice for the owner" not in page
    refused = Message.objects.create(
        session=case.session,
        parent=case.answer,
        role=MessageRole.ASSISTANT,
        stop_reason="no_evidence",
        content="Nothing found.\nSearched: Board",
    )
    shared = share_answer(Principal.of(case.owner), case.session.pk, refused.pk)
    assert "Searched: Board" not in page_of(case.colleague, reverse("shared", args=[shared.pk]))


def test_only_the_person_who_asked_shares_and_an_ended_share_is_gone(case: Case) -> None:
    later = Message.objects.create(
        session=case.session, parent=case.answer, role=MessageRole.USER, content="And later?"
    )
    Message.objects.create(
        session=case.session, parent=later, role=MessageRole.ASSISTANT, stop_reason="ok", content="Later."
    )
    address = reverse("shared", args=[case.share.pk])
    assert "And later?" not in page_of(case.colleague, address)
    place = [case.session.pk, case.answer.pk]
    colleague = client_of(case.colleague)
    assert colleague.post(reverse("conversation-share", args=place)).status_code == 404
    assert colleague.get(reverse("conversation-export", args=[*place, "md"])).status_code == 404
    with pytest.raises(NotFound):
        end_share(Principal.of(case.colleague), case.session.pk, case.share.pk)
    assert Share.objects.count() == 1
    end_share(Principal.of(case.owner), case.session.pk, case.share.pk)
    for person in (case.owner, case.colleague):
        assert client_of(person).get(address).status_code == 404
    with pytest.raises(NotFound):
        read_share(Principal.of(case.owner), case.share.pk)
    assert Client().get(address).status_code == 302


def _text(form: str, body: bytes) -> str:
    if form == "md":
        return body.decode()
    if form == "docx":
        from docx import Document as Word

        return "\n".join(paragraph.text for paragraph in Word(BytesIO(body)).paragraphs)
    import pypdfium2

    return "\n".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(body))


def _exported(case: Case, form: str) -> str:
    answer: Any = client_of(case.owner).get(
        reverse("conversation-export", args=[case.session.pk, case.answer.pk, form])
    )
    assert answer.status_code == 200
    return " ".join(_text(form, answer.content).replace("\\", "").split())


def test_a_file_says_what_the_page_says_with_its_sources(case: Case) -> None:
    said = (OPEN, CLOSED, LOOSE, QUESTION, "Benefits")
    forms = ("md", "docx", "pdf")
    for form in forms:
        text = _exported(case, form)
        assert [item for item in said if item in text] == list(said), form
        assert str(case.manual.pk) in text.replace(" ", "")
    address = reverse("conversation-export", args=[case.session.pk, case.answer.pk, "exe"])
    assert client_of(case.owner).get(address).status_code == 404
    revoke_rights(None, [Right.VIEW], case.secret.folder.knowledge_base, of=case.owner)
    case.answer.sentences.append({"text": "<b>x</b> [a](http://evil) \x07 & <para>", "citations": [1]})
    case.answer.save()
    for form in forms:
        text = _exported(case, form)
        assert {item for item in (OPEN, CLOSED) if item in text} == {OPEN}, form
        assert str(case.secret.pk) not in text.replace(" ", "")
        assert "<b>x</b> [a](http://evil)" in text, "text is no markup"
        taken = Entry.objects.filter(action=Action.CONVERSATION_EXPORTED).latest("pk")
        assert taken.detail["evidence"] == ["e1"]
    raw = client_of(case.owner).get(reverse("conversation-export", args=[case.session.pk, case.answer.pk, "md"]))
    assert "<b>" not in raw.content.decode().replace("\\<", "")


def test_what_a_service_outside_answered_is_not_shared(case: Case) -> None:
    """It was asked for whoever asked, and nobody says who else may read it."""
    McpService.objects.create(name="desk", url="https://desk.example/mcp")
    ticket = "Ticket 4711 is about the salary of Anna."
    answer = Message.objects.create(
        session=case.session,
        parent=case.answer,
        role=MessageRole.ASSISTANT,
        stop_reason="ok",
        provider="a model",
        content=ticket,
        sentences=[{"text": ticket, "citations": [1]}, {"text": LOOSE, "citations": []}],
    )
    QueryCitation.objects.create(message=answer, number=1, evidence_id="mcp:desk:1", source="mcp:desk", title="desk")
    shared = share_answer(Principal.of(case.owner), case.session.pk, answer.pk)
    own = page_of(case.owner, reverse("conversation", args=[case.session.pk]))
    assert ticket in own
    page = page_of(case.colleague, reverse("shared", args=[shared.pk]))
    assert ticket not in page
    assert page.count(LOOSE) == 0
