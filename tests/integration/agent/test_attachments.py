"""Files of a conversation: read by its person, in it, and by nobody and nowhere else."""

from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from openpyxl import Workbook

from agent.conversations.attachments import attach, file_into, remove
from agent.conversations.sessions import create_session
from agent.conversations.sharing import read_share, share
from agent.models import Session
from agent.palette.finding import find
from agent.palette.places import find_places
from audit.models import Entry
from authz.governing import get_governed, governed, reviewed
from authz.grants import give
from authz.holders import Holder
from authz.permissions import Right
from authz.principal import Principal
from business.models import DataSource
from business.spreadsheets.sources import describe
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge import places
from knowledge.governance.effective_rights import places_of
from knowledge.ingestion.pipeline import ingest
from knowledge.library import knowledge_bases_of
from knowledge.models import (
    ATTACHMENTS,
    Chunk,
    ChunkIndex,
    Document,
    DocumentVersion,
    Folder,
    KnowledgeBase,
    WebhookDelivery,
)
from knowledge.services import access, uploads
from knowledge.services import attachments as files
from knowledge.services.access import break_inheritance
from tests.factories import allow, make_base, make_folder, make_user, prepare_embedder
from tests.integration.agent.attaching import CONTRACT, NOTICE, attached, found_by, make_person, with_files
from tests.integration.agent.conversations import asked

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_person()


@pytest.fixture
def session(person: User) -> Session:
    return create_session(Principal.of(person))


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


@pytest.mark.parametrize(("language", "said"), [("en", "A file of this conversation"), ("zh-hans", "本对话中的文件")])
def test_a_file_lies_in_its_conversation_in_the_language_of_the_reader(
    person: User, session: Session, language: str, said: str
) -> None:
    document = attached(person, session)
    with override(language):
        place = places.places_of(Principal.of(person).in_conversation(session.pk), [document.pk])[document.pk]
    assert place.path == (said,)


def test_nobody_governs_the_base_of_all_files(person: User, session: Session) -> None:
    """Not even a superuser: a source could fill it, and who deleted it would delete the files of everybody."""
    attached(person, session)
    manager = make_user()
    give(None, [Right.MANAGE], KnowledgeBase.unscoped.get(pk=ATTACHMENTS), to=manager)
    for somebody in (manager, make_user(is_superuser=True)):
        principal = Principal.of(somebody)
        assert ATTACHMENTS not in set(governed(KnowledgeBase, principal).values_list("pk", flat=True))
        assert ATTACHMENTS not in set(reviewed(KnowledgeBase, principal).values_list("pk", flat=True))
        assert not governed(Folder, principal).filter(knowledge_base=ATTACHMENTS).exists()
        with pytest.raises(NotFound):
            get_governed(KnowledgeBase, principal, pk=ATTACHMENTS)


def test_in_front_of_others_nobody_reads_a_file() -> None:
    """Of people with the same groups one stands for all: what is this one's alone must not be lent to the others."""
    one, other = make_user(), make_user()
    session = create_session(Principal.of(one))
    attached(one, session)
    alone = Principal.of(one).in_conversation(session.pk)
    assert found_by(alone) == {"meyer.md"}
    assert found_by(alone.before([other.pk])) == set()


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
        reverse("admin:index"),
    ]
    for address in seen:
        answer = client.get(address)
        assert (answer.status_code, "meyer" in answer.content.decode().lower()) == (200, False), address
    hidden = [
        reverse("rights-place", args=["base", ATTACHMENTS]),
        reverse("rights-place", args=["document", document.pk]),
        reverse("document", args=[document.pk]),
        reverse("document-download", args=[document.pk]),
        reverse("source", args=[ATTACHMENTS, Chunk.unscoped.filter(document=document).values_list("id", flat=True)[0]]),
    ]
    for address in hidden:
        assert client.get(address).status_code == 404, address
    client.force_login(person)
    for address in hidden[2:]:
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
