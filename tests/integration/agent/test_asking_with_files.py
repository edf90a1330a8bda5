"""A question with files: what it is answered from, which files it takes, and how they end."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from agent.conversations import attachments
from agent.conversations.attachments import attach, file_into, remove, take_out, unsent_attachments
from agent.conversations.sessions import create_session, delete_session, get_message, messages_of
from agent.models import AgentProfile, Message, Role, Session
from agent.profiles import Options
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.ingestion.pipeline import ingest
from knowledge.models import (
    ATTACHMENTS,
    Chunk,
    ChunkIndex,
    ChunkTokens,
    Document,
    Folder,
    FolderKind,
    KnowledgeBase,
)
from knowledge.retrieval.search import Scope
from knowledge.services import attachments as files
from tests.factories import allow, make_base, make_folder, make_user
from tests.integration.agent.attaching import CONTRACT, NOTICE, attached, found_by, make_person, with_files
from tests.integration.agent.conversations import asked, sources, words
from tests.integration.agent.modelled import modelled, sent
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_person()


@pytest.fixture
def session(person: User) -> Session:
    return create_session(Principal.of(person))


def test_a_question_with_a_file_is_answered_from_it(person: User, session: Session) -> None:
    document = attached(person, session)
    events = asked(person, NOTICE, session, options=with_files(document))
    assert sources(events) == [document.title]
    assert "seven months" in words(events)
    question = messages_of(Principal.of(person), session)[0]
    assert [each.name for each in question.attachments] == ["meyer.md"]


def test_a_later_question_reads_the_files_beside_everything_else(person: User, session: Session) -> None:
    document = attached(person, session)
    asked(person, NOTICE, session, options=with_files(document))
    events = asked(person, NOTICE, session, options=Options(follows=Message.objects.latest("created_at").pk))
    assert set(sources(events)) == {document.title, "Handbook"}


def test_with_its_conversation_nothing_of_a_file_is_left(
    person: User, session: Session, django_capture_on_commit_callbacks: Any
) -> None:
    document, other = attached(person, session), create_session(Principal.of(person))
    kept = attached(person, other, "kept.md")
    asked(person, NOTICE, session, options=with_files(document))
    stored = document.versions.get().file
    assert ChunkIndex.unscoped.filter(document=document).exists()
    with django_capture_on_commit_callbacks(execute=True):
        delete_session(Principal.of(person), session.pk)
    assert not Chunk.unscoped.filter(document_id=document.pk).exists()
    assert not ChunkIndex.unscoped.filter(document_id=document.pk).exists()
    assert not ChunkTokens.unscoped.filter(version__document_id=document.pk).exists()
    assert not stored.storage.exists(stored.name or "")
    erased = Entry.objects.get(action=Action.DOCUMENT_ERASED)
    assert set(erased.detail["left"].values()) == {0}
    assert set(Document.unscoped.filter(knowledge_base=ATTACHMENTS)) == {kept}
    assert set(Folder.unscoped.filter(kind=FolderKind.ATTACHED).values_list("pk", flat=True)) == {other.pk}


def test_what_is_old_or_without_its_conversation_is_thrown_away(person: User, session: Session, settings: Any) -> None:
    settings.ATTACHMENT_DAYS = 3
    old, fresh = attached(person, session), attached(person, session, "fresh.md", "# New\n\nSomething else.\n")
    lost = create_session(Principal.of(person))
    orphan = attached(person, lost, "orphan.md")
    lost.delete()
    Document.unscoped.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3, seconds=1))
    assert attachments.throw_away() == 1
    assert set(Document.unscoped.filter(knowledge_base=ATTACHMENTS)) == {fresh}
    assert orphan.pk
    assert not Folder.unscoped.filter(pk=lost.pk).exists()


def test_the_same_file_is_one_and_another_of_its_name_gets_a_number(person: User, session: Session) -> None:
    first = attached(person, session)
    again = attach(Principal.of(person), session.pk, filename="meyer.md", file=ContentFile(CONTRACT.encode()))
    other = attach(Principal.of(person), session.pk, filename="meyer.md", file=ContentFile(b"# Other\n\nOther words."))
    assert (again.document.pk, again.outcome) == (first.pk, "unchanged")
    assert other.document.filename == "meyer (2).md"


def test_one_that_is_attached_again_is_asked_again_and_not_deleted_when_it_is_taken_out(
    person: User, session: Session
) -> None:
    document = attached(person, session)
    asked(person, NOTICE, session, options=with_files(document))
    mine = Principal.of(person)
    assert unsent_attachments(mine, session) == []
    assert [each.id for each in unsent_attachments(mine, session, also=[str(document.pk)])] == [document.pk]
    take_out(mine, session.pk, document.pk)
    assert Document.unscoped.filter(pk=document.pk).exists()
    fresh = attached(person, session, "fresh.md", "# New\n\nSomething else.\n")
    take_out(mine, session.pk, fresh.pk)
    assert not Document.unscoped.filter(pk=fresh.pk).exists()
    with pytest.raises(NotFound):
        take_out(mine, session.pk, fresh.pk)


def test_limits_are_said_in_a_sentence(
    person: User, session: Session, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(name: str, content: bytes) -> None:
        attach(Principal.of(person), session.pk, filename=name, file=ContentFile(content))

    with pytest.raises(InvalidInput, match="is of a type that is not read"):
        attempt("run.exe", b"MZ")
    with pytest.raises(InvalidInput, match="is empty"):
        attempt("empty.md", b"")
    assert not Folder.unscoped.filter(pk=session.pk).exists(), "nothing was made for what was refused"
    settings.UPLOAD_MAX_BYTES = 1_000_000
    with pytest.raises(InvalidInput, match="the limit is 1 MB"):
        attempt("large.txt", b"a" * 1_000_001)
    monkeypatch.setattr(files, "MOST_FILES", 1)
    attempt("one.txt", b"one")
    with pytest.raises(InvalidInput, match="at most 1 files"):
        attempt("two.txt", b"two")
    monkeypatch.setattr(files, "MOST_FILES", 9)
    monkeypatch.setattr(files, "MOST_LARGEST", 1)
    attempt("more.txt", b"b" * 999_000)
    with pytest.raises(InvalidInput, match="MB of files already"):
        attempt("most.txt", b"c" * 999_000)
    settings.ATTACHMENT_DAYS = 0
    with pytest.raises(PermissionDenied, match="switched off"):
        attempt("none.txt", b"none")


def test_a_file_that_is_being_read_or_failed_is_not_asked(person: User, session: Session) -> None:
    waiting = attach(Principal.of(person), session.pk, filename="slow.md", file=ContentFile(b"# Slow\n\nSlow words."))
    with pytest.raises(InvalidInput, match="is still being read"):
        asked(person, NOTICE, session, options=with_files(waiting.document))
    broken = attach(Principal.of(person), session.pk, filename="broken.pdf", file=ContentFile(b"%PDF-1.4 nothing"))
    ingest(broken.version.pk)
    with pytest.raises(InvalidInput, match="cannot be read"):
        asked(person, NOTICE, session, options=with_files(broken.document))
    assert not Message.objects.filter(session=session).exists()
    told = {each.name: each.reading for each in unsent_attachments(Principal.of(person), session)}
    assert told == {"slow.md": "reading", "broken.pdf": "failed"}


def test_a_question_has_files_or_chosen_places(person: User, session: Session) -> None:
    document = attached(person, session)
    scope = Scope(knowledge_base_ids=(make_base().pk,))
    with pytest.raises(InvalidInput, match="take one of them out"):
        asked(person, NOTICE, session, options=with_files(document), scope=scope)


def test_asked_again_a_question_keeps_its_files(person: User, session: Session) -> None:
    document = attached(person, session)
    asked(person, NOTICE, session, options=with_files(document))
    first = session.messages.get(role=Role.USER)
    events = asked(person, NOTICE, session, options=Options(instead_of=first.pk))
    assert sources(events) == [document.title]
    assert unsent_attachments(Principal.of(person), session) == []


def test_the_files_of_an_edited_question_come_before_the_places_chosen_since(person: User, session: Session) -> None:
    document = attached(person, session)
    asked(person, NOTICE, session, options=with_files(document))
    first = session.messages.get(role=Role.USER)
    elsewhere = Scope(knowledge_base_ids=(make_base().pk,))
    events = asked(person, NOTICE, session, options=Options(instead_of=first.pk), scope=elsewhere)
    assert sources(events) == [document.title]
    session.refresh_from_db()
    assert session.scope == {}


def test_filed_into_a_folder_it_is_a_document_like_others(person: User, session: Session) -> None:
    document, base = attached(person, session), make_base()
    folder = make_folder(base)
    allow(person, base)
    with pytest.raises(PermissionDenied):
        file_into(Principal.of(person), session.pk, document.pk, folder_id=folder.pk)
    allow(person, folder, Right.ADD)
    copy = file_into(Principal.of(person), session.pk, document.pk, folder_id=folder.pk)
    ingest(copy.version.pk)
    assert copy.document.pk != document.pk
    assert found_by(Principal.of(person)) == {"handbook.md", "meyer.md"}
    reader = make_user()
    allow(reader, base)
    assert found_by(Principal.of(reader)) == {"meyer.md"}
    remove(Principal.of(person), session.pk, document.pk)
    assert found_by(Principal.of(reader)) == {"meyer.md"}, "the copy is its own"


def test_an_answer_whose_file_is_gone_hides_what_stood_on_it(person: User, session: Session) -> None:
    document = attached(person, session)
    answer = asked(person, NOTICE, session, options=with_files(document))[-1].assistant_message_id
    remove(Principal.of(person), session.pk, document.pk)
    question, told = messages_of(Principal.of(person), session)
    assert (question.attachments, question.hidden_attachments) == ((), 1)
    assert told == get_message(Principal.of(person), session, UUID(str(answer)))
    assert told.masked_count == len(told.sentences) > 0


def test_a_model_is_told_of_the_files_and_reads_them_under_an_assistant_of_other_bases(
    person: User, session: Session
) -> None:
    document, elsewhere = attached(person, session), create_session(Principal.of(person))
    profile = AgentProfile.objects.create(name="HR", is_default=True)
    profile.knowledge_bases.set(KnowledgeBase.unscoped.filter(name="Handbook"))
    looks = calls(("knowledge_search", {"queries": ["notice period"], "knowledge_ids": [str(document.pk)]}))
    said = "The notice period of the contract with Meyer is seven months [1]."
    with modelled(looks, says(said)) as server:
        events = asked(person, NOTICE, session, options=with_files(document))
    assert sources(events)[-1] == document.title
    assert "seven months" in words(events)
    told = f"[*] {document.pk}: meyer.md"
    assert [told in sent(request) for request in server.requests] == [True, True]
    assert "attached.en" in Message.objects.get(pk=events[-1].assistant_message_id).prompts
    with modelled(says("NO_ANSWER")) as server:
        asked(person, NOTICE, elsewhere)
    assert not any("meyer" in sent(request).lower() for request in server.requests), (
        "it knows nothing of them elsewhere"
    )
