"""A question with files: what it is answered from, which files it takes, and how they end."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from agent.conversations import attachments
from agent.conversations.attachments import (
    attach_to_conversation,
    copy_attachment_to_folder,
    delete_attachment,
    list_unsent_attachments,
    remove_from_draft_question,
)
from agent.conversations.sessions import create_session, delete_session, get_message, list_branch_messages
from agent.models import AgentProfile, Message, MessageRole
from agent.profiles.settings import Options
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import ATTACHMENTS, Chunk, ChunkIndex, ChunkTokens, Document, Folder, FolderKind, KnowledgeBase
from knowledge.retrieval.search import Scope
from knowledge.services import attachments as files
from tests.factories import allow, make_base, make_folder, make_user
from tests.integration.agent.attaching import CONTRACT, NOTICE, Case, attached, found_by, with_files
from tests.integration.agent.conversations import asked, sources, words
from tests.integration.agent.modelled import modelled, sent
from tests.modelserver import calls, says
from tests.sharing import Share

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_case(share: Share) -> Callable[[], Case]:
    return share(Case)


@pytest.fixture
def case(shared_case: Callable[[], Case], db: None) -> Case:
    return shared_case()


def test_a_question_with_a_file_is_answered_from_it_and_a_later_one_from_everything(case: Case) -> None:
    assert sources(case.events) == [case.document.title]
    assert "seven months" in words(case.events)
    question = list_branch_messages(case.me, case.session)[0]
    assert [attachment.name for attachment in question.attachments] == ["meyer.md"]
    events = case.ask(options=Options(follows=case.answer_id))
    assert set(sources(events)) == {case.document.title, "Handbook"}


def test_asked_again_a_question_keeps_its_files_whatever_places_were_chosen_since(case: Case) -> None:
    first = case.session.messages.get(role=MessageRole.USER)
    for scope in (Scope(), Scope(knowledge_base_ids=(make_base().pk,))):
        events = case.ask(options=Options(instead_of=first.pk), scope=scope)
        assert sources(events) == [case.document.title]
        assert list_unsent_attachments(case.me, case.session) == []
    case.session.refresh_from_db()
    assert case.session.scope == {}


def test_with_its_conversation_nothing_of_a_file_is_left(case: Case, django_capture_on_commit_callbacks: Any) -> None:
    session = create_session(case.me)
    document = attached(case.person, session, "gone.md")
    stored = document.versions.get().file
    assert ChunkIndex.unscoped.filter(document=document).exists()
    with django_capture_on_commit_callbacks(execute=True):
        delete_session(case.me, session.pk)
    assert not Chunk.unscoped.filter(document_id=document.pk).exists()
    assert not ChunkIndex.unscoped.filter(document_id=document.pk).exists()
    assert not ChunkTokens.unscoped.filter(version__document_id=document.pk).exists()
    assert not stored.storage.exists(stored.name or "")
    erased = Entry.objects.get(action=Action.DOCUMENT_ERASED)
    assert set(erased.detail["left"].values()) == {0}
    assert set(Document.unscoped.filter(knowledge_base=ATTACHMENTS)) == {case.document}
    assert set(Folder.unscoped.filter(kind=FolderKind.ATTACHED).values_list("pk", flat=True)) == {case.session.pk}


def test_what_is_old_or_without_its_conversation_is_thrown_away(case: Case, settings: Any) -> None:
    settings.ATTACHMENT_DAYS = 3
    fresh = attached(case.person, case.session, "fresh.md", "# New\n\nSomething else.\n")
    lost = create_session(case.me)
    attached(case.person, lost, "orphan.md")
    lost.delete()
    old = timezone.now() - timedelta(days=3, seconds=1)
    Document.unscoped.filter(pk=case.document.pk).update(created_at=old)
    assert attachments.delete_old_attachments() == 1
    assert set(Document.unscoped.filter(knowledge_base=ATTACHMENTS)) == {fresh}
    assert not Folder.unscoped.filter(pk=lost.pk).exists()


def test_a_file_attached_again_is_one_and_not_deleted_when_it_is_taken_out(case: Case) -> None:
    document, mine, session = case.document, case.me, case.session
    again = attach_to_conversation(mine, session.pk, filename="meyer.md", file=ContentFile(CONTRACT.encode()))
    assert (again.document.pk, again.outcome) == (document.pk, "unchanged")
    other = attach_to_conversation(mine, session.pk, filename="meyer.md", file=ContentFile(b"# Other\n\nOther words."))
    assert other.document.filename == "meyer (2).md"
    assert [attachment.id for attachment in list_unsent_attachments(mine, session)] == [other.document.pk]
    remove_from_draft_question(mine, session.pk, other.document.pk)
    assert not Document.unscoped.filter(pk=other.document.pk).exists()
    assert [attachment.id for attachment in list_unsent_attachments(mine, session, also=[str(document.pk)])] == [
        document.pk
    ]
    remove_from_draft_question(mine, session.pk, document.pk)
    assert Document.unscoped.filter(pk=document.pk).exists()
    with pytest.raises(NotFound):
        remove_from_draft_question(mine, session.pk, other.document.pk)


def test_limits_are_explained_in_a_sentence(case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = create_session(case.me)

    def attempt(name: str, content: bytes) -> None:
        attach_to_conversation(case.me, session.pk, filename=name, file=ContentFile(content))

    with pytest.raises(InvalidInput, match="is of a type that is not supported"):
        attempt("run.exe", b"MZ")
    with pytest.raises(InvalidInput, match="is empty"):
        attempt("empty.md", b"")
    assert not Folder.unscoped.filter(pk=session.pk).exists(), "nothing was made for what was refused"
    settings.UPLOAD_MAX_BYTES = 1_000_000
    with pytest.raises(InvalidInput, match="the limit is 1 MB"):
        attempt("large.txt", b"a" * 1_000_001)
    monkeypatch.setattr(files, "MAX_FILES", 1)
    attempt("one.txt", b"one")
    with pytest.raises(InvalidInput, match="at most 1 files"):
        attempt("two.txt", b"two")
    monkeypatch.setattr(files, "MAX_FILES", 9)
    monkeypatch.setattr(files, "MAX_LARGEST", 1)
    attempt("more.txt", b"b" * 999_000)
    with pytest.raises(InvalidInput, match="MB of files already"):
        attempt("most.txt", b"c" * 999_000)
    settings.ATTACHMENT_DAYS = 0
    with pytest.raises(PermissionDenied, match="switched off"):
        attempt("none.txt", b"none")


def test_a_file_that_is_being_read_or_failed_is_not_asked(case: Case) -> None:
    session, person = create_session(case.me), case.person
    waiting = attach_to_conversation(
        case.me, session.pk, filename="slow.md", file=ContentFile(b"# Slow\n\nSlow words.")
    )
    with pytest.raises(InvalidInput, match="is still being read"):
        asked(person, NOTICE, session, options=with_files(waiting.document))
    broken = attach_to_conversation(case.me, session.pk, filename="broken.pdf", file=ContentFile(b"%PDF-1.4 nothing"))
    run_ingestion(broken.version.pk)
    with pytest.raises(InvalidInput, match="cannot be read"):
        asked(person, NOTICE, session, options=with_files(broken.document))
    assert not Message.objects.filter(session=session).exists()
    told = {attachment.name: attachment.reading for attachment in list_unsent_attachments(case.me, session)}
    assert told == {"slow.md": "reading", "broken.pdf": "failed"}


def test_a_question_has_files_or_chosen_places(case: Case) -> None:
    with pytest.raises(InvalidInput, match="remove one of them"):
        case.ask(options=with_files(case.document), scope=Scope(knowledge_base_ids=(make_base().pk,)))


def test_filed_into_a_folder_it_is_a_document_like_others_and_removed_it_hides_what_stood_on_it(case: Case) -> None:
    base, reader = make_base(), make_user()
    folder = make_folder(base)
    for person in (case.person, reader):
        allow(person, base)
    with pytest.raises(PermissionDenied):
        copy_attachment_to_folder(case.me, case.session.pk, case.document.pk, folder_id=folder.pk)
    allow(case.person, folder, Right.ADD)
    copy = copy_attachment_to_folder(case.me, case.session.pk, case.document.pk, folder_id=folder.pk)
    run_ingestion(copy.version.pk)
    assert copy.document.pk != case.document.pk
    assert found_by(case.me) == {"handbook.md", "meyer.md"}
    delete_attachment(case.me, case.session.pk, case.document.pk)
    assert found_by(Principal.of(reader)) == {"meyer.md"}, "the copy is its own"
    question, told = list_branch_messages(case.me, case.session)
    assert (question.attachments, question.hidden_attachments) == ((), 1)
    assert told == get_message(case.me, case.session, case.answer_id)
    assert told.masked_count == len(told.sentences) > 0


def test_a_model_gets_the_files_and_reads_them_under_an_assistant_of_other_bases(case: Case) -> None:
    document, elsewhere = case.document, create_session(case.me)
    profile = AgentProfile.objects.create(name="HR", is_default=True)
    profile.knowledge_bases.set(KnowledgeBase.unscoped.filter(name="Handbook"))
    looks = calls(("knowledge_search", {"queries": ["notice period"], "knowledge_ids": [str(document.pk)]}))
    said = "The notice period of the contract with Meyer is seven months [1]."
    with modelled(looks, says(said)) as server:
        events = case.ask(options=with_files(document))
    assert sources(events)[-1] == document.title
    assert "seven months" in words(events)
    told = f"[*] {document.pk}: meyer.md"
    assert [told in sent(request) for request in server.requests] == [True, True]
    assert "attached.en" in Message.objects.get(pk=events[-1].assistant_message_id).prompts
    with modelled(says("NO_ANSWER")) as server:
        asked(case.person, NOTICE, elsewhere)
    assert not any("meyer" in sent(request).lower() for request in server.requests), (
        "it knows nothing of them elsewhere"
    )
