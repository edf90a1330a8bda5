"""Files of a conversation: read by its person, in it, and by nobody and nowhere else."""

from datetime import timedelta
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from openpyxl import Workbook

from agent.conversations import attachments
from agent.conversations.attachments import attach, file_into, remove, take_out, unsent_attachments
from agent.conversations.sessions import create_session, delete_session, get_message, messages_of
from agent.conversations.sharing import read_share, share
from agent.models import AgentProfile, Message, Role, Session
from agent.palette.finding import find
from agent.palette.places import find_places
from agent.profiles import Options
from audit.actions import Action
from audit.models import Entry
from authz.grants import give
from authz.holders import Holder
from authz.permissions import Right
from authz.principal import Principal
from business.models import DataSource
from business.spreadsheets.sources import describe
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.governance.effective_rights import places_of
from knowledge.ingestion.pipeline import ingest
from knowledge.library import knowledge_bases_of
from knowledge.models import (
    ATTACHMENTS,
    Chunk,
    ChunkIndex,
    ChunkTokens,
    Document,
    DocumentVersion,
    Folder,
    FolderKind,
    KnowledgeBase,
    WebhookDelivery,
)
from knowledge.retrieval.search import Scope, search
from knowledge.services import access, uploads
from knowledge.services import attachments as files
from knowledge.services.access import break_inheritance
from tests.factories import allow, make_base, make_document, make_folder, make_user, prepare_embedder
from tests.integration.agent.conversations import asked, sources, words
from tests.integration.agent.modelled import DONE, modelled, routes, sent
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db

CONTRACT = "# Contract with Meyer\n\nThe notice period of the contract with Meyer is seven months.\n"
HANDBOOK = "# Handbook\n\nThe notice period of employees is four weeks.\n"
NOTICE = "How long is the notice period?"


def attached(person: User, session: Session, name: str = "meyer.md", content: str = CONTRACT) -> Document:
    """A file of a conversation, read."""
    prepare_embedder()
    upload = attach(Principal.of(person), session.pk, filename=name, file=ContentFile(content.encode()))
    ingest(upload.version.pk)
    return Document.unscoped.get(pk=upload.document.pk)


def with_files(*documents: Document) -> Options:
    return Options(attachments=tuple(document.pk for document in documents))


@pytest.fixture
def person() -> User:
    """Somebody who reads a handbook."""
    person, base = make_user(), make_base("Handbook")
    allow(person, base)
    make_document(base, "handbook.md", HANDBOOK, ingested=True)
    return person


@pytest.fixture
def session(person: User) -> Session:
    return create_session(Principal.of(person))


def found_by(principal: Principal) -> set[str]:
    """The file names that a search for the notice period brings this person."""
    return {hit.passage.filename for hit in search(principal, NOTICE).hits}


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


def test_a_file_is_found_in_its_conversation_and_nowhere_else(person: User, session: Session) -> None:
    attached(person, session)
    manager, administrator, other = make_user(), make_user(is_superuser=True), make_user()
    give(None, Right, KnowledgeBase.unscoped.get(pk=ATTACHMENTS), to=manager)
    elsewhere = create_session(Principal.of(person))
    mine = Principal.of(person)
    assert found_by(mine.in_conversation(session.pk)) == {"meyer.md", "handbook.md"}
    assert found_by(mine) == {"handbook.md"}
    assert found_by(mine.in_conversation(elsewhere.pk)) == {"handbook.md"}
    for somebody in (manager, administrator, other):
        for principal in (Principal.of(somebody), Principal.of(somebody).in_conversation(session.pk)):
            assert found_by(principal) == set(), somebody
            assert set(Document.objects.visible_to(principal)) == set()
            assert set(Chunk.objects.visible_to(principal)) == set()


def test_a_disabled_person_and_a_narrow_token_read_no_file(person: User, session: Session) -> None:
    attached(person, session)
    inside = Principal.of(person).in_conversation(session.pk)
    folder = make_folder(make_base())
    allow(person, folder)
    narrow = inside.narrowed(scopes=frozenset({"chat"}), folder_id=folder.pk)
    assert set(Document.objects.visible_to(narrow)) == set()
    with pytest.raises(PermissionDenied):
        files.attach_file(narrow, conversation_id=session.pk, filename="b.md", file=ContentFile(b"# b\n\nb"))
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert set(Document.objects.visible_to(inside)) == set()


def test_no_list_of_the_library_or_the_administration_names_a_file(person: User, session: Session) -> None:
    document = attached(person, session)
    mine, administrator = Principal.of(person), Principal.of(make_user(is_superuser=True))
    assert [base.name for base in knowledge_bases_of(mine)] == ["Handbook"]
    assert find(mine, person, "meyer").documents == ()
    assert {place.name for place in find_places(mine, "")} == {"Handbook"}
    assert document.pk not in {place.document_id for place in places_of([ATTACHMENTS])}
    assert session.pk not in {place.id for place in places_of([ATTACHMENTS])}
    assert set(Folder.objects.visible_to(mine.in_conversation(session.pk))) == set(Folder.objects.visible_to(mine))
    named = Entry.objects.filter(target_name__icontains="meyer") | Entry.objects.filter(detail__icontains="meyer")
    assert not named.exists()
    assert {knowledge.pk for knowledge in knowledge_bases_of(administrator)} == set()


@pytest.mark.parametrize("by", ["owner", "administrator"])
def test_nobody_changes_the_rights_on_a_file(person: User, session: Session, by: str) -> None:
    document, reader = attached(person, session), make_user()
    who = make_user(is_superuser=True) if by == "administrator" else person
    principal = Principal.of(who).in_conversation(session.pk)
    changes: list[Any] = [
        lambda: access.give(principal, [Right.VIEW], document, to=_holder(reader)),
        lambda: break_inheritance(principal, document),
    ]
    for change in changes:
        with pytest.raises((NotFound, PermissionDenied)):
            change()
    assert set(Document.objects.visible_to(Principal.of(reader))) == set()


def _holder(user: User) -> Holder:
    return user


def test_readers_of_a_shared_conversation_see_neither_the_file_nor_what_stands_on_it(
    person: User, session: Session
) -> None:
    document = attached(person, session)
    answer = asked(person, NOTICE, session, options=with_files(document))[-1].assistant_message_id
    shared = share(Principal.of(person), session.pk, UUID(str(answer)))
    for reader in (make_user(), make_user(is_superuser=True)):
        _share, (question, told) = read_share(Principal.of(reader), shared.pk)
        assert (question.attachments, question.hidden_attachments) == ((), 1)
        assert told.masked_count == len(told.sentences) > 0
        assert "seven" not in str(told)
        assert "meyer" not in str(told).lower()
    _share, (question, told) = read_share(Principal.of(person), shared.pk)
    assert [each.name for each in question.attachments] == ["meyer.md"]
    assert told.masked_count == 0


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


def test_one_of_somebody_else_is_neither_filled_nor_emptied(person: User, session: Session) -> None:
    document, other = attached(person, session), make_user(is_superuser=True)
    theirs = create_session(Principal.of(other))
    calls: list[Any] = [
        lambda: attach(Principal.of(other), session.pk, filename="a.md", file=ContentFile(b"# a\n\na")),
        lambda: remove(Principal.of(other), session.pk, document.pk),
        lambda: remove(Principal.of(other), theirs.pk, document.pk),
        lambda: file_into(Principal.of(other), theirs.pk, document.pk, folder_id=make_folder(make_base()).pk),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    handbook = Document.unscoped.get(filename="handbook.md")
    with pytest.raises(NotFound):  # no file of the conversation, though they may read it
        file_into(Principal.of(person), session.pk, handbook.pk, folder_id=handbook.folder_id)
    with pytest.raises(InvalidInput):
        asked(other, NOTICE, theirs, options=with_files(document))
    assert Document.unscoped.filter(pk=document.pk).exists()


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


def test_other_systems_are_told_nothing_of_a_file(person: User, session: Session) -> None:
    from knowledge.models import Webhook

    Webhook.objects.create(name="w", url="https://hooks.example/in", site="https://here", events=["document.ready"])
    attached(person, session)
    assert not WebhookDelivery.objects.filter(payload__data__knowledge_base_id=str(ATTACHMENTS)).exists()


def test_the_index_knows_a_file_by_the_place_of_its_conversation(person: User, session: Session) -> None:
    """What is published lies where its rights are read from, as everywhere."""
    document = attached(person, session)
    rows = ChunkIndex.unscoped.filter(document=document)
    assert {row.folder_id for row in rows} == {session.pk} == {document.access_id, document.folder_id}
    assert DocumentVersion.unscoped.get(document=document).uploaded_by_id == person.pk
    assert uploads.sha256_of(ContentFile(CONTRACT.encode())) == document.versions.get().sha256


def test_a_model_is_told_of_the_files_and_reads_them_under_an_assistant_of_other_bases(
    person: User, session: Session
) -> None:
    document, elsewhere = attached(person, session), create_session(Principal.of(person))
    profile = AgentProfile.objects.create(name="HR", is_default=True)
    profile.knowledge_bases.set(KnowledgeBase.unscoped.filter(name="Handbook"))
    looks = calls(("knowledge_search", {"queries": ["notice period"], "knowledge_ids": [str(document.pk)]}))
    said = "The notice period of the contract with Meyer is seven months [1]."
    with modelled(routes(), looks, DONE, says(said)) as server:
        events = asked(person, NOTICE, session, options=with_files(document))
    assert sources(events)[-1] == document.title
    assert "seven months" in words(events)
    told = f"[*] {document.pk}: meyer.md"
    assert [told in sent(request) for request in server.requests] == [True, True, True, False]
    assert "attached.en" in Message.objects.get(pk=events[-1].assistant_message_id).prompts
    with modelled(routes(), DONE, says("NO_ANSWER")) as server:
        asked(person, NOTICE, elsewhere)
    assert not any("meyer" in sent(request).lower() for request in server.requests), (
        "it knows nothing of them elsewhere"
    )


def test_no_page_of_the_administration_names_a_file(person: User, session: Session, client: Client) -> None:
    document = attached(person, session)
    broken = attach(Principal.of(person), session.pk, filename="meyer.pdf", file=ContentFile(b"%PDF-1.4 nothing"))
    ingest(broken.version.pk)
    client.force_login(make_user(is_superuser=True))
    seen = [
        reverse("admin:knowledge_document_changelist"),
        reverse("admin:knowledge_documentversion_changelist"),
        reverse("admin:audit_entry_changelist"),
        reverse("ingestion"),
        reverse("rights-place", args=["base", ATTACHMENTS]),
        reverse("admin:index"),
    ]
    for address in seen:
        answer = client.get(address)
        assert (answer.status_code, "meyer" in answer.content.decode().lower()) == (200, False), address
    hidden = [
        reverse("rights-place", args=["document", document.pk]),
        reverse("document", args=[document.pk]),
        reverse("document-download", args=[document.pk]),
        reverse("source", args=[ATTACHMENTS, Chunk.unscoped.filter(document=document).values_list("id", flat=True)[0]]),
    ]
    for address in hidden:
        assert client.get(address).status_code == 404, address
    client.force_login(person)
    for address in hidden[1:]:
        answer = client.get(address)
        assert (answer.status_code, bool(b"".join(answer))) == (200, True), (
            address
        )  # reading to the end closes the file


def test_a_spreadsheet_is_a_source_of_its_conversation_alone_and_named_nowhere(person: User, session: Session) -> None:
    book = Workbook()
    assert book.active is not None
    for row in (("customer", "months"), ("Meyer", 7), ("Schulz", 3)):
        book.active.append(row)
    file = BytesIO()
    book.save(file)
    prepare_embedder()
    upload = attach(Principal.of(person), session.pk, filename="meyer.xlsx", file=ContentFile(file.getvalue()))
    ingest(upload.version.pk)
    describe(upload.document.pk)
    source = DataSource.unscoped.get(document=upload.document)
    assert source.is_active
    mine = Principal.of(person)
    elsewhere = mine.in_conversation(create_session(mine).pk)
    assert set(DataSource.objects.visible_to(mine.in_conversation(session.pk))) == {source}
    for other in (mine, elsewhere, Principal.of(make_user(is_superuser=True)).in_conversation(session.pk)):
        assert set(DataSource.objects.visible_to(other)) == set()
    assert not Entry.objects.filter(target_name__icontains="meyer").exists()
    assert Entry.objects.filter(target_name=source.name).exists()
