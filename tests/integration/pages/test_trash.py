"""The trash while others work: what is moved, put back, asked for twice or given rights on meanwhile, and its end."""

import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.models import Document, Folder
from knowledge.services import access
from knowledge.services.access_nodes import drop_node_if_empty, ensure_access_node
from knowledge.services.documents import move_document
from knowledge.services.grant_files import export_grants, import_grants
from knowledge.services.originals import place_document
from knowledge.services.trash import (
    KEPT,
    empty_trash,
    erase_document,
    list_trashed_documents,
    restore_document,
    trash_document,
)
from tests.factories import allow, make_document, make_user
from tests.integration.authz.steps import somebody_waits
from tests.integration.pages.house import House, client_of, plain
from tests.waiting import PATIENT_S, wait_for


def seers(document: Document) -> set[str]:
    """Who sees it, but for the keeper of the base, who made it."""
    seen = Document.objects.visible_to
    people = User.objects.exclude(username="keeper")
    return {item.username for item in people if seen(Principal.of(item)).filter(pk=document.pk).exists()}


def too_late(first: Callable[[], object], second: Callable[[], object]) -> list[BaseException | object]:
    """What became of `second`, which began while `first` was not committed yet and had to wait for it."""
    ended: list[BaseException | object] = []

    def run() -> None:
        try:
            ended.append(second())
        except Exception as error:  # noqa: BLE001 - the test looks at it
            ended.append(error)
        finally:
            connection.close()

    late = threading.Thread(target=run)
    with transaction.atomic():
        first()
        late.start()
        wait_for("the second change waits for a lock or ends", lambda: somebody_waits() or not late.is_alive())
    late.join(PATIENT_S)
    return ended


def test_what_was_moved_in_the_trash_comes_back_with_its_exceptions(house: House) -> None:
    writer, document, friend = Principal.of(house.keeper), make_document(house.folder, "a.md"), make_user("friend")
    access.grant_place_rights(writer, [Right.VIEW], document, to=friend)
    allow(house.keeper, house.sibling, *Right)
    trash_document(writer, document_id=document.pk)
    place_document(None, document, house.sibling, "a.md")
    assert seers(document) == set()
    restore_document(writer, document_id=document.pk)
    document.refresh_from_db()
    assert document.access.parent == house.sibling
    assert seers(document) == {"writer", "friend"}  # not the reader of the folder where it was


@pytest.mark.django_db(transaction=True)
def test_what_went_to_the_trash_meanwhile_is_not_moved() -> None:
    house = House()
    writer, document = Principal.of(house.keeper), make_document(house.folder, "a.md")
    ended = too_late(
        lambda: trash_document(writer, document_id=document.pk),
        lambda: move_document(writer, document_id=document.pk, folder_id=house.below.pk),
    )
    assert [type(item) for item in ended] == [NotFound]
    document.refresh_from_db()
    assert (document.folder, document.trashed_from) == (house.folder, house.folder)


def test_a_folder_is_never_taken_for_the_node_of_a_document(house: House) -> None:
    """Rights on a document that reads them from a strange folder are not given on that folder, nor is it deleted."""
    document = make_document(house.folder, "a.md")
    Document.unscoped.filter(pk=document.pk).update(access=house.below)
    drop_node_if_empty(document)
    assert Folder.unscoped.filter(pk=house.below.pk).exists()
    place_document(None, document, house.sibling, "a.md")
    assert Folder.unscoped.get(pk=house.below.pk).parent == house.folder
    Document.unscoped.filter(pk=document.pk).update(access=house.below)
    assert ensure_access_node(document).parent == house.sibling


@pytest.mark.django_db(transaction=True)
def test_of_two_who_put_it_into_the_trash_the_second_is_told_that_it_is_gone() -> None:
    house = House()
    writer, document = Principal.of(house.keeper), make_document(house.folder, "a.md")

    def put() -> object:
        return trash_document(writer, document_id=document.pk)

    assert [type(item) for item in too_late(put, put)] == [NotFound]
    assert set(list_trashed_documents(writer)) == {document}
    restore_document(writer, document_id=document.pk)
    assert seers(document) == {"writer", "reader"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_by_hand", [True, False])
def test_the_end_of_the_trash_spares_what_is_put_back_meanwhile(is_by_hand: bool) -> None:
    house = House()
    writer, document = Principal.of(house.keeper), make_document(house.folder, "a.md")
    trash_document(writer, document_id=document.pk)
    Document.unscoped.filter(pk=document.pk).update(trashed_at=timezone.now() - KEPT - timedelta(minutes=1))
    ended = too_late(
        lambda: restore_document(writer, document_id=document.pk),
        (lambda: erase_document(writer, document_id=document.pk)) if is_by_hand else empty_trash,
    )
    assert [type(item) if is_by_hand else item for item in ended] == [NotFound if is_by_hand else 0]
    assert seers(document) == {"writer", "reader"}


@pytest.mark.django_db(transaction=True)
def test_one_fault_keeps_one_in_the_trash_and_one_file_in_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    writer, documents = Principal.of(house.keeper), [make_document(house.folder, f"{n}.md") for n in range(3)]
    for document in documents:
        trash_document(writer, document_id=document.pk)
    Document.unscoped.update(trashed_at=timezone.now() - KEPT - timedelta(minutes=1))
    broken = documents[0].versions.get().file.name
    with connection.cursor() as cursor:  # one whose row the database will not give up
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;"
            "CREATE TRIGGER refuse BEFORE DELETE ON knowledge_document FOR EACH ROW "
            f"WHEN (OLD.id = '{documents[1].pk}') EXECUTE FUNCTION refuse()"
        )
    delete = type(default_storage._wrapped).delete  # type: ignore[attr-defined]

    def refuse_one(self: Any, name: str) -> None:
        if name == broken:
            raise PermissionError(name)
        delete(self, name)

    monkeypatch.setattr(type(default_storage._wrapped), "delete", refuse_one)  # type: ignore[attr-defined]
    try:
        assert empty_trash() == 2
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")
    assert set(Document.unscoped.all()) == {documents[1]}
    left = {
        entry.target_id: entry.detail["left"]["files"] for entry in Entry.objects.filter(action=Action.DOCUMENT_ERASED)
    }
    assert left == {str(documents[0].pk): 1, str(documents[2].pk): 0}


def in_the_trash_with_an_exception(house: House) -> Document:
    document = make_document(house.folder, "a.md")
    access.grant_place_rights(None, [Right.VIEW], document, to=make_user("friend"))
    trash_document(Principal.of(house.keeper), document_id=document.pk)
    document.refresh_from_db()
    return document


def test_rights_in_the_trash_are_nobodys_to_change(house: House) -> None:
    document, guest = in_the_trash_with_an_exception(house), house.reader
    changes: list[Callable[[], object]] = [
        lambda: access.grant_place_rights(None, [Right.VIEW], document, to=guest),
        lambda: access.deny_place_rights(None, [Right.VIEW], document, to=guest),
        lambda: access.revoke_place_rights(None, [Right.VIEW], document, of=guest),
        lambda: access.revoke_place_denials(None, [Right.VIEW], document, of=guest),
        lambda: access.break_inheritance(None, document),
        lambda: access.restore_inheritance(None, document),
    ]
    for change in changes:
        with pytest.raises(NotFound):
            change()
    assert seers(document) == set()
    restore_document(Principal.of(house.keeper), document_id=document.pk)
    assert seers(document) == {"writer", "reader", "friend"}


def test_a_file_of_rights_neither_names_nor_changes_what_is_in_the_trash(house: House, tmp_path: Path) -> None:
    document = in_the_trash_with_an_exception(house)
    out = StringIO()
    export_grants(None, out)
    assert "a.md" not in out.getvalue()
    file = tmp_path / "rights.csv"
    file.write_text(f"knowledge_base,folder,document,user,rights\n{house.base.name},Updates,a.md,reader,view\n")
    with pytest.raises(InvalidInput, match="There is no document “a"):
        import_grants(None, file)
    make_document(house.folder, "a.md")
    assert import_grants(None, file) == 1
    assert seers(document) == set()


def test_no_page_of_rights_or_administration_shows_what_is_in_the_trash(house: House) -> None:
    document = in_the_trash_with_an_exception(house)
    there = make_document(house.folder, "b.md")
    Document.unscoped.filter(pk=document.pk).update(title="Thrown away")
    admin = client_of(make_user(is_superuser=True))
    change, rights = "admin:knowledge_document_change", "rights-place"
    told = {}
    for item in (document, there):
        pages = (reverse(change, args=[item.pk]), reverse(rights, args=["document", item.pk]))
        told[item.filename] = [admin.get(page).status_code for page in pages]
    assert told == {"a.md": [302, 404], "b.md": [200, 200]}
    asked = {"what": "break", "copy": ""}
    assert admin.post(reverse("rights-change", args=["document", document.pk]), asked).status_code == 404
    for page in (reverse("admin:knowledge_document_changelist"), reverse("rights-tree")):
        assert "Thrown away" not in plain(
            admin.get(page, {"base": str(house.base.pk)} if "rights" in page else {}).content
        )


def test_the_trash_names_a_folder_only_to_whom_it_shows_itself(house: House) -> None:
    document, friend = make_document(house.folder, "a.md"), make_user("friend")
    access.grant_place_rights(None, [Right.VIEW, Right.CHANGE], document, to=friend)
    trash_document(Principal.of(friend), document_id=document.pk)
    pages = {
        person.username: plain(client_of(person).get(reverse("trash")).content) for person in (friend, house.keeper)
    }
    assert {name: ("a.md" in page, "Updates" in page) for name, page in pages.items()} == {
        "friend": (True, False), "writer": (True, True),
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_what_is_moved_out_of_reach_meanwhile_is_not_put_back() -> None:
    house = House()
    writer, document = Principal.of(house.keeper), make_document(house.folder, "a.md")
    trash_document(writer, document_id=document.pk)
    ended = too_late(
        lambda: place_document(None, document, house.sibling, "a.md"),
        lambda: restore_document(writer, document_id=document.pk),
    )
    assert [type(item) for item in ended] == [NotFound]
    assert seers(document) == set()
