"""Looking after documents: the trash and its end, versions, what is known of a document, its place."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import NotFound
from knowledge.documents import version_diff
from knowledge.documents.version_diff import iterate_changed_blocks
from knowledge.models import Chunk, ChunkIndex, Document, Folder
from knowledge.retrieval.search import search
from knowledge.services import access, trash
from knowledge.services.trash import KEPT, empty_trash, list_trashed_documents, restore_document, trash_document
from knowledge.tasks import empty_old_trash
from tests.factories import allow, make_document, make_user
from tests.integration.pages.house import House, client_of, plain, stored_files


def found(user: User) -> set[Any]:
    return {hit.passage.document_id for hit in search(Principal.of(user), "unavailable pods rolling update").hits}


def seen(user: User) -> set[Any]:
    return set(Document.objects.visible_to(Principal.of(user)).values_list("pk", flat=True))


def trashed(house: House, document: Document) -> None:
    answer = client_of(house.keeper).post(reverse("document-delete", args=[document.pk]))
    assert answer.status_code == 302


def test_what_is_in_the_trash_is_in_no_list_search_or_answer_and_comes_back_as_it_was(house: House) -> None:
    document, guest = house.document, make_user("guest")
    allow(guest, house.folder)
    access.grant_place_rights(
        Principal.of(house.keeper), [Right.VIEW], document, to=make_user("friend")
    )  # an exception of its own
    before = {person.username: seen(person) for person in (house.reader, guest, house.keeper)}
    trashed(house, document)
    for person in (house.reader, guest, house.keeper, User.objects.get(username="friend")):
        assert document.pk not in seen(person), person
        assert found(person) == set(), person
        assert client_of(person).get(reverse("document", args=[document.pk])).status_code == 404
    assert set(list_trashed_documents(Principal.of(house.keeper))) == {document}
    client_of(house.keeper).post(reverse("trash-restore", args=[document.pk]))
    assert {person.username: seen(person) for person in (house.reader, guest, house.keeper)} == before
    assert seen(User.objects.get(username="friend")) == {document.pk}
    assert found(house.reader) == {document.pk}
    assert not list_trashed_documents(Principal.of(house.keeper)).exists()
    entries = Entry.objects.filter(target_id=str(document.pk), actor_name="writer").values_list("action", flat=True)
    assert {Action.DOCUMENT_TRASHED, Action.DOCUMENT_RESTORED} <= set(entries)


def test_only_whoever_could_change_it_finds_it_in_the_trash(house: House) -> None:
    trashed(house, house.document)
    whole = make_user("whole")
    allow(whole, house.base, *Right)
    shown = {}
    for person in (house.reader, house.stranger, house.elsewhere, house.keeper, whole):
        body = plain(client_of(person).get(reverse("trash")).content)
        may = client_of(person).post(reverse("trash-erase", args=[house.hidden.pk])).status_code
        shown[person.username] = (house.document.title in body, may)
    assert shown == {
        "reader": (False, 404), "stranger": (False, 404), "elsewhere": (False, 404), "writer": (True, 404), "whole": (True, 404),
    }  # fmt: skip
    for person in (house.reader, house.stranger):
        with pytest.raises(NotFound):
            restore_document(Principal.of(person), document_id=house.document.pk)


def test_with_its_guard_off_everybody_finds_everything_in_the_trash(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    trashed(house, house.document)
    assert not list_trashed_documents(Principal.of(house.stranger)).exists()
    monkeypatch.setattr(trash, "select_folder_ids", lambda _principal, _right: Folder.unscoped.values("pk"))
    assert set(list_trashed_documents(Principal.of(house.stranger))) == {house.document}


def test_the_trash_hides_by_its_node_alone(house: House) -> None:
    """The negative control: once the node takes over rights from above, everybody finds the document again."""
    trashed(house, house.document)
    assert found(house.reader) == set()
    node = Document.unscoped.get(pk=house.document.pk).access
    access._set_inheritance(node, inherits=True)
    assert found(house.reader) == {house.document.pk}


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_document_is_proven_in_the_audit_log() -> None:
    house = House()
    document = house.pdf
    client_of(house.reader).get(reverse("page-image", args=[document.pk, 1, 1]))
    assert Chunk.unscoped.filter(document=document).exists()
    assert ChunkIndex.unscoped.filter(document=document).exists()
    trash_document(Principal.of(house.keeper), document_id=document.pk)
    assert client_of(house.keeper).post(reverse("trash-erase", args=[document.pk])).status_code == 302
    entry = Entry.objects.get(action=Action.DOCUMENT_ERASED)
    assert entry.target_id == str(document.pk)
    assert entry.detail["left"] == {
        "passages": 0,
        "vectors": 0,
        "token_vectors": 0,
        "files": 0,
        "page_images": 0,
        "graph_mentions": 0,
    }
    assert not Chunk.unscoped.filter(document_id=document.pk).exists()
    assert stored_files(house.base) == set()
    assert not Folder.unscoped.filter(parent=house.folder, kind="document").exists()


def test_a_name_that_was_taken_meanwhile_keeps_it_in_the_trash(house: House) -> None:
    document = make_document(house.folder, "a.md", "# One")
    trashed(house, document)
    make_document(house.folder, "a.md", "# Two")
    client_of(house.keeper).post(reverse("trash-restore", args=[document.pk]), follow=True)
    assert set(list_trashed_documents(Principal.of(house.keeper))) == {document}


def test_the_trash_empties_itself_after_its_days(house: House) -> None:
    old, new = make_document(house.folder), make_document(house.folder)
    for document in (old, new):
        trashed(house, document)
    Document.unscoped.filter(pk=old.pk).update(trashed_at=timezone.now() - KEPT - timedelta(minutes=1))
    empty_old_trash()
    assert set(Document.unscoped.all()) == {new}
    assert empty_trash() == 0


def test_a_folder_with_something_in_its_trash_is_not_deleted(house: House) -> None:
    trashed(house, make_document(house.below))
    page = client_of(house.keeper).post(reverse("folder-delete", args=[house.below.pk]), follow=True)
    assert "are in the trash" in plain(page.content)
    assert Folder.unscoped.filter(pk=house.below.pk).exists()


def change(house: House, document: Document, **said: Any) -> str:
    given = {"title": document.title, "owner": "", "review_on": "", "superseded_by": ""} | said
    return plain(
        client_of(house.keeper).post(reverse("document-facts", args=[document.pk]), given, follow=True).content
    )


def test_title_owner_review_and_successor_are_stored_and_shown(house: House) -> None:
    document, newer = house.document, make_document(house.folder, "newer.md", title="The newer rules")
    said = change(
        house, document, title="Updates, step by step", owner="reader", review_on="2020-01-31", superseded_by="newer.md"
    )
    document.refresh_from_db()
    assert (document.title, document.owner, document.superseded_by) == ("Updates, step by step", house.reader, newer)
    for words in ("Updates, step by step", "reader", "The newer rules", "Review overdue since"):
        assert words in said
    detail = Entry.objects.get(action=Action.DOCUMENT_CHANGED).detail
    assert detail == {"fields": ["title", "owner", "review_on", "superseded_by"]}
    assert document.current_version is None  # its passages are indexed again, under the new title
    change(house, document, title=document.title, owner="nobody-of-that-name")
    document.refresh_from_db()
    assert document.owner == house.reader


def test_a_successor_that_is_not_seen_is_told_to_nobody_and_is_not_lost(house: House) -> None:
    document, secret = (
        make_document(house.folder, "old.md"),
        make_document(house.sibling, "secret.md", title="Secret successor"),
    )
    assert "There is no document" in change(house, document, superseded_by="secret.md")
    Document.unscoped.filter(pk=document.pk).update(superseded_by=secret)
    assert "ecret" not in change(house, document, title="Another title").replace("Secret plans", "")
    assert Document.unscoped.get(pk=document.pk).superseded_by == secret


def offered(page: str, field: str) -> set[str]:
    """The values that a field of the page offers, by the list that it names."""
    named = re.search(rf'name="{field}"[^>]* list="([^"]+)"', page)
    assert named, page
    listed = page.partition(f'<datalist id="{named[1]}">')[2].partition("</datalist>")[0]
    return set(re.findall(r'<option value="([^"]*)"', listed))


def test_owner_and_successor_are_offered_out_of_what_one_may_know(house: House) -> None:
    """Whoever manages a place sees who may read it; others are told of those who keep something there already."""
    assert house.hidden
    document = make_document(house.folder, "old.md")
    Document.unscoped.filter(pk=document.pk).update(owner=house.reader)
    make_document(house.folder, "newer.md", title="The newer rules")
    editor = make_user("editor")
    allow(editor, house.folder, Right.VIEW, Right.CHANGE)
    third = make_user("third")
    allow(third, house.folder)
    pages = {
        person.username: plain(client_of(person).get(reverse("document", args=[document.pk])).content)
        for person in (house.keeper, editor)
    }
    assert {name: offered(page, "superseded_by") for name, page in pages.items()} == {
        "writer": {"newer.md"}, "editor": {"newer.md"},
    }  # fmt: skip
    assert offered(pages["writer"], "owner") == {"keeper", "writer", "reader", "editor", "third"}
    assert offered(pages["editor"], "owner") == {"editor", "reader", "keeper"}  # the keeper of the base put it there


def test_nothing_supersedes_itself(house: House) -> None:
    one, two = make_document(house.folder, "one.md"), make_document(house.folder, "two.md")
    change(house, one, superseded_by="two.md")
    for name in ("one.md", "two.md"):
        assert "cannot replace itself" in change(house, two, superseded_by=name)
    assert Document.unscoped.get(pk=two.pk).superseded_by is None


def test_versions_are_read_compared_and_brought_back(house: House) -> None:
    make_document(house.folder, "a.md", "# Rules\n\nOld sentence.\n\nSame sentence.", ingested=True)
    document = make_document(house.folder, "a.md", "# Rules\n\nNew sentence.\n\nSame sentence.", ingested=True)
    url = reverse("document", args=[document.pk])
    reader = client_of(house.reader)
    assert "New sentence." in plain(reader.get(url).content)
    older = plain(reader.get(url, {"version": "1"}).content)
    assert "Old sentence." in older
    assert "You see version 1." in older
    compared = reader.get(reverse("versions-compare", args=[document.pk, 1, 2]))
    kinds = [(piece.kind, piece.text) for piece in compared.context["comparison"].pieces]
    assert ("removed", "Old sentence.") in kinds
    assert ("added", "New sentence.") in kinds
    again = reverse("version-restore", args=[document.pk, 1])
    assert reader.post(again).status_code == 403
    client_of(house.keeper).post(again)
    versions = document.versions.order_by("number")
    assert [version.number for version in versions] == [1, 2, 3]
    assert versions[0].sha256 == versions[2].sha256
    assert Entry.objects.get(action=Action.VERSION_RESTORED).detail == {"from": 1, "version": 3}
    assert reader.get(reverse("versions-compare", args=[document.pk, 1, 9])).status_code == 404


def test_versions_that_are_long_or_wholly_different_are_compared_as_far_as_a_page_goes(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_document(house.folder, "a.md", "\n\n".join(f"Old sentence {n}." for n in range(6)), ingested=True)
    document = make_document(house.folder, "a.md", "\n\n".join(f"New sentence {n}." for n in range(6)), ingested=True)
    url = reverse("versions-compare", args=[document.pk, 1, 2])
    reader = client_of(house.reader)
    monkeypatch.setattr(version_diff, "MAX_PIECES", 7)
    page = reader.get(url)
    assert len(page.context["comparison"].pieces) == 7
    monkeypatch.setattr(version_diff, "MAX_CHARACTERS", 100)
    assert reader.get(url).status_code == 400


def test_a_file_replaces_the_newest_version_under_the_same_name(house: House) -> None:
    document = make_document(house.folder, "a.md", "# One")
    url = reverse("document-replace", args=[document.pk])
    keeper = client_of(house.keeper)
    keeper.post(url, {"file": SimpleUploadedFile("Downloaded (2).md", b"# Two")})
    assert list(document.versions.order_by("number").values_list("number", flat=True)) == [1, 2]
    other = keeper.post(url, {"file": SimpleUploadedFile("a.pdf", b"%PDF")}, follow=True)
    assert "is a .md file, too" in plain(other.content)
    assert client_of(house.reader).post(url, {"file": ContentFile(b"# Three", "x.md")}).status_code == 403
    assert document.versions.count() == 2


def test_a_document_moves_where_its_mover_may_add(house: House) -> None:
    document = make_document(house.folder, "a.md")
    url = reverse("document-move", args=[document.pk])
    page = client_of(house.keeper).get(reverse("document", args=[document.pk]))
    assert [pk for pk, _path in page.context["places"]] == [house.below.pk]
    client_of(house.keeper).post(url, {"folder": str(house.below.pk)})
    assert Document.unscoped.get(pk=document.pk).folder == house.below
    assert client_of(house.keeper).post(url, {"folder": str(house.sibling.pk)}).status_code == 404
    assert client_of(house.reader).post(url, {"folder": str(house.folder.pk)}).status_code == 403


def test_differences_keep_a_little_around_them_and_count_the_rest() -> None:
    before = [f"line {n}" for n in range(20)]
    pieces = list(iterate_changed_blocks(before, [*before[:10], "new", *before[10:]]))
    assert [(piece.kind, piece.text or piece.count) for piece in pieces] == [
        ("gap", 8), ("same", "line 8"), ("same", "line 9"), ("added", "new"), ("same", "line 10"), ("same", "line 11"), ("gap", 8),
    ]  # fmt: skip
