"""Files of a conversation: read by its person, in it, and by nobody and nowhere else."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from openpyxl import Workbook

from agent.conversations.attachments import attach_to_conversation, copy_attachment_to_folder, delete_attachment
from agent.conversations.sessions import create_session
from agent.conversations.sharing import read_share, share_conversation
from agent.palette.finding import search_palette
from agent.palette.places import find_places
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows, filter_reviewed_rows, get_governed
from authz.rights.grants import grant_rights
from business.models import DataSource
from business.spreadsheets.sources import describe_published_version
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.documents import places
from knowledge.governance.effective_rights import iterate_base_places
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.library import list_knowledge_bases
from knowledge.models import (
    ATTACHMENTS,
    Chunk,
    ChunkIndex,
    Document,
    DocumentVersion,
    Folder,
    KnowledgeBase,
    Webhook,
    WebhookDelivery,
)
from knowledge.services import access
from knowledge.services import attachments as files
from knowledge.services.access import break_inheritance
from tests.factories import allow, make_base, make_folder, make_user
from tests.integration.agent.attaching import NOTICE, Case, found_by, with_files
from tests.integration.agent.conversations import asked
from tests.sharing import Share

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_case(share: Share) -> Callable[[], Case]:
    return share(Case)


@pytest.fixture
def case(shared_case: Callable[[], Case], db: None) -> Case:
    return shared_case()


def test_a_file_is_found_in_its_conversation_and_nowhere_else(case: Case) -> None:
    manager, administrator, other = make_user(), make_user(is_superuser=True), make_user()
    grant_rights(None, Right, KnowledgeBase.unscoped.get(pk=ATTACHMENTS), to=manager)
    elsewhere = create_session(case.me)
    inside = case.me.in_conversation(case.session.pk)
    assert found_by(inside) == {"meyer.md", "handbook.md"}
    assert found_by(case.me) == {"handbook.md"}
    assert found_by(case.me.in_conversation(elsewhere.pk)) == {"handbook.md"}
    assert found_by(inside.before([other.pk])) == set(), (
        "of people with the same groups one stands for all: what is this one's alone must not be lent to the others"
    )
    for somebody in (manager, administrator, other):
        for principal in (Principal.of(somebody), Principal.of(somebody).in_conversation(case.session.pk)):
            assert found_by(principal) == set(), somebody
            assert set(Document.objects.visible_to(principal)) == set()
            assert set(Chunk.objects.visible_to(principal)) == set()


def test_nobody_governs_the_base_of_all_files(case: Case) -> None:
    """Not even a superuser: a source could fill it, and who deleted it would delete the files of everybody."""
    manager = make_user()
    grant_rights(None, [Right.MANAGE], KnowledgeBase.unscoped.get(pk=ATTACHMENTS), to=manager)
    for somebody in (manager, make_user(is_superuser=True)):
        principal = Principal.of(somebody)
        assert ATTACHMENTS not in set(filter_governed_rows(KnowledgeBase, principal).values_list("pk", flat=True))
        assert ATTACHMENTS not in set(filter_reviewed_rows(KnowledgeBase, principal).values_list("pk", flat=True))
        assert not filter_governed_rows(Folder, principal).filter(knowledge_base=ATTACHMENTS).exists()
        with pytest.raises(NotFound):
            get_governed(KnowledgeBase, principal, pk=ATTACHMENTS)


def test_a_disabled_person_and_a_narrow_token_read_no_file(case: Case) -> None:
    inside = case.me.in_conversation(case.session.pk)
    folder = make_folder(make_base())
    allow(case.person, folder)
    narrow = inside.narrowed(scopes=frozenset({"chat"}), folder_id=folder.pk)
    assert set(Document.objects.visible_to(narrow)) == set()
    with pytest.raises(PermissionDenied):
        files.attach_file(narrow, conversation_id=case.session.pk, filename="b.md", file=ContentFile(b"# b\n\nb"))
    User.objects.filter(pk=case.person.pk).update(is_active=False)
    assert set(Document.objects.visible_to(inside)) == set()


def test_no_list_of_the_library_or_the_administration_names_a_file(case: Case) -> None:
    administrator = Principal.of(make_user(is_superuser=True))
    assert [base.name for base in list_knowledge_bases(case.me)] == ["Handbook"]
    assert search_palette(case.me, case.person, "meyer").documents == ()
    assert {place.name for place in find_places(case.me, "")} == {"Handbook"}
    governed_places = iterate_base_places([ATTACHMENTS])
    assert case.document.pk not in {place.document_id for place in governed_places}
    assert case.session.pk not in {place.id for place in governed_places}
    inside = case.me.in_conversation(case.session.pk)
    assert set(Folder.objects.visible_to(inside)) == set(Folder.objects.visible_to(case.me))
    named = Entry.objects.filter(target_name__icontains="meyer") | Entry.objects.filter(detail__icontains="meyer")
    assert not named.exists()
    assert {knowledge.pk for knowledge in list_knowledge_bases(administrator)} == set()


@pytest.mark.parametrize("by", ["owner", "administrator"])
def test_nobody_changes_the_rights_on_a_file(case: Case, by: str) -> None:
    reader = make_user()
    who = make_user(is_superuser=True) if by == "administrator" else case.person
    principal = Principal.of(who).in_conversation(case.session.pk)
    changes: list[Any] = [
        lambda: access.grant_place_rights(principal, [Right.VIEW], case.document, to=reader),
        lambda: break_inheritance(principal, case.document),
    ]
    for change in changes:
        with pytest.raises((NotFound, PermissionDenied)):
            change()
    assert set(Document.objects.visible_to(Principal.of(reader))) == set()


def test_readers_of_a_shared_conversation_see_neither_the_file_nor_what_stands_on_it(case: Case) -> None:
    shared = share_conversation(case.me, case.session.pk, case.answer_id)
    for reader in (make_user(), make_user(is_superuser=True)):
        _share, (question, told) = read_share(Principal.of(reader), shared.pk)
        assert (question.attachments, question.hidden_attachments) == ((), 1)
        assert told.masked_count == len(told.sentences) > 0
        assert "seven" not in str(told)
        assert "meyer" not in str(told).lower()
    _share, (question, told) = read_share(case.me, shared.pk)
    assert [attachment.name for attachment in question.attachments] == ["meyer.md"]
    assert told.masked_count == 0


def test_one_of_somebody_else_is_neither_filled_nor_emptied(case: Case) -> None:
    document, person, session, other = case.document, case.person, case.session, make_user(is_superuser=True)
    theirs = create_session(Principal.of(other))
    calls: list[Any] = [
        lambda: attach_to_conversation(Principal.of(other), session.pk, filename="a.md", file=ContentFile(b"# a\n\na")),
        lambda: delete_attachment(Principal.of(other), session.pk, document.pk),
        lambda: delete_attachment(Principal.of(other), theirs.pk, document.pk),
        lambda: copy_attachment_to_folder(
            Principal.of(other), theirs.pk, document.pk, folder_id=make_folder(make_base()).pk
        ),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    handbook = Document.unscoped.get(filename="handbook.md")
    with pytest.raises(NotFound):  # no file of the conversation, though they may read it
        copy_attachment_to_folder(Principal.of(person), session.pk, handbook.pk, folder_id=handbook.folder_id)
    with pytest.raises(InvalidInput):
        asked(other, NOTICE, theirs, options=with_files(document))
    assert Document.unscoped.filter(pk=document.pk).exists()


def test_a_file_is_stored_in_its_conversation_and_announced_to_no_webhook(case: Case) -> None:
    """What is published lies where its rights are read from, as everywhere."""
    document, inside = case.document, case.me.in_conversation(case.session.pk)
    rows = ChunkIndex.unscoped.filter(document=document)
    assert {row.folder_id for row in rows} == {case.session.pk} == {document.access_id, document.folder_id}
    assert DocumentVersion.unscoped.get(document=document).uploaded_by_id == case.person.pk
    for language, said in (("en", "A file of this conversation"), ("zh-hans", "本对话中的文件")):
        with override(language):
            assert places.find_document_places(inside, [document.pk])[document.pk].path == (said,)
    Webhook.objects.create(name="w", url="https://hooks.example/in", site="https://here", events=["document.ready"])
    again = attach_to_conversation(
        case.me, case.session.pk, filename="other.md", file=ContentFile(b"# Other\n\nOther words.")
    )
    run_ingestion(again.version.pk)
    assert not WebhookDelivery.objects.exists()


def test_no_page_of_the_administration_names_a_file(case: Case, client: Client) -> None:
    document = case.document
    broken = attach_to_conversation(
        case.me, case.session.pk, filename="meyer.pdf", file=ContentFile(b"%PDF-1.4 nothing")
    )
    run_ingestion(broken.version.pk)
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
    client.force_login(case.person)
    for address in hidden[2:]:
        answer = client.get(address)
        assert (answer.status_code, bool(b"".join(answer))) == (200, True), (
            address
        )  # reading to the end closes the file


def test_a_spreadsheet_is_a_source_of_its_conversation_alone_and_named_nowhere(case: Case) -> None:
    book = Workbook()
    assert book.active is not None
    for row in (("customer", "months"), ("Meyer", 7), ("Schulz", 3)):
        book.active.append(row)
    file = BytesIO()
    book.save(file)
    upload = attach_to_conversation(case.me, case.session.pk, filename="meyer.xlsx", file=ContentFile(file.getvalue()))
    run_ingestion(upload.version.pk)
    describe_published_version(upload.document.pk)
    source = DataSource.unscoped.get(document=upload.document)
    assert source.is_active
    mine, session = case.me, case.session
    elsewhere = mine.in_conversation(create_session(mine).pk)
    assert set(DataSource.objects.visible_to(mine.in_conversation(session.pk))) == {source}
    for other in (mine, elsewhere, Principal.of(make_user(is_superuser=True)).in_conversation(session.pk)):
        assert set(DataSource.objects.visible_to(other)) == set()
    assert not Entry.objects.filter(target_name__icontains="meyer").exists()
    assert Entry.objects.filter(target_name=source.name).exists()
