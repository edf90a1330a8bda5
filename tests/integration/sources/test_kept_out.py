"""What people did here with a document that a source brought: into the trash, deleted for good, replaced after it was withdrawn."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile

from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document, Folder, Source
from knowledge.services import access
from knowledge.services.trash import erase_document, restore_document, trash_document
from knowledge.services.uploads import IncomingFile, UploadOutcome, add_document, upload_document
from knowledge.sources.origin import find_document_origin
from tests.factories import allow, make_document, make_user
from tests.integration.sources.shelf import counts, item_of, paths, read

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(opened: Path, make_source: Callable[..., Source]) -> Source:
    (opened / "plan.md").write_text("# Plan\n\nIt is secret.")
    (opened / "rules.md").write_text("# Rules\n\nOne rule.")
    return make_source("folder", path=str(opened))


@pytest.fixture
def keeper(folder: Folder) -> Principal:
    person = make_user()
    allow(person, folder, *Right)
    return Principal.of(person)


def brought(source: Source, path: str) -> Document:
    document = item_of(source, path).document
    assert document is not None
    document.refresh_from_db()
    return document


def erase(keeper: Principal, document: Document) -> None:
    trash_document(keeper, document_id=document.pk)
    erase_document(keeper, document_id=document.pk)


def test_what_was_deleted_for_good_is_not_brought_again(
    source: Source, opened: Path, folder: Folder, keeper: Principal
) -> None:
    read(source)
    erase(keeper, brought(source, "plan.md"))
    assert counts(read(source)) == {"unchanged": 2}
    (opened / "plan.md").write_text("# Plan\n\nIt is changed.")
    assert counts(read(source)) == {"unchanged": 2}
    (opened / "plan.md").unlink()
    read(source)
    (opened / "plan.md").write_text("# Plan\n\nIt is back.")
    read(source)
    assert paths(folder) == {"rules.md": "# Rules\n\nOne rule."}


def test_what_was_deleted_for_good_is_not_brought_under_another_name(
    source: Source, opened: Path, folder: Folder, keeper: Principal
) -> None:
    read(source)
    erase(keeper, brought(source, "plan.md"))
    (opened / "plan.md").rename(opened / "plan-2.md")
    assert counts(read(source)) == {"unchanged": 2}
    (opened / "plan-2.md").write_text("# Plan\n\nIt is changed.")
    assert counts(read(source)) == {"unchanged": 2}
    (opened / "plan-2.md").rename(opened / "plan-3.md")
    assert counts(read(source)) == {"unchanged": 2}, "its text has changed since it was deleted"
    assert paths(folder) == {"rules.md": "# Rules\n\nOne rule."}


def test_what_is_in_the_trash_gets_no_version_until_it_is_put_back(
    source: Source, opened: Path, folder: Folder, keeper: Principal
) -> None:
    read(source)
    document = brought(source, "plan.md")
    trash_document(keeper, document_id=document.pk)
    (opened / "plan.md").write_text("# Plan\n\nIt is changed.")
    assert counts(read(source)) == {"unchanged": 2}
    assert document.versions.count() == 1
    restore_document(keeper, document_id=document.pk)
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert paths(folder)["plan.md"] == "# Plan\n\nIt is changed."


def test_an_import_of_the_system_writes_beside_what_is_in_the_trash(folder: Folder, keeper: Principal) -> None:
    document = make_document(folder, "a.md", "# One")
    trash_document(keeper, document_id=document.pk)
    other = add_document(None, folder, IncomingFile("a.md", ContentFile(b"# Two"))).document
    assert other != document
    assert document.versions.count() == 1


def test_the_bytes_of_a_withdrawn_document_answer_again_once_a_person_adds_them(
    source: Source, opened: Path, folder: Folder, keeper: Principal
) -> None:
    read(source)
    document = brought(source, "plan.md")
    data = (opened / "plan.md").read_bytes()
    (opened / "plan.md").unlink()
    assert counts(read(source)) == {"withdrawn": 1, "unchanged": 1}
    file = SimpleUploadedFile("plan.md", data)
    added = upload_document(keeper, folder_id=folder.pk, filename="plan.md", file=file)
    assert (added.document, added.outcome) == (document, UploadOutcome.NEW_VERSION)
    document.refresh_from_db()
    assert document.withdrawn_at is None
    for _run in range(2):  # it is a person's now
        assert counts(read(source)) == {"unchanged": 1}
    document.refresh_from_db()
    assert document.withdrawn_at is None


def test_what_a_person_wrote_over_a_source_is_not_withdrawn_with_it(
    source: Source, opened: Path, folder: Folder, keeper: Principal
) -> None:
    read(source)
    document = brought(source, "plan.md")
    upload_document(
        keeper, folder_id=folder.pk, filename="plan.md", file=SimpleUploadedFile("plan.md", b"# Plan\n\nMine.")
    )
    (opened / "plan.md").unlink()
    assert counts(read(source)) == {"unchanged": 1}
    document.refresh_from_db()
    assert document.withdrawn_at is None


def test_where_a_document_comes_from_names_folders_only_to_whom_its_folder_shows_itself(
    opened: Path, make_source: Callable[..., Source], keeper: Principal
) -> None:
    (opened / "merger").mkdir()
    (opened / "merger" / "plan.md").write_text("# Plan\n\nIt is secret.")
    source = make_source("folder", path=str(opened))
    read(source)
    document, guest = brought(source, "merger/plan.md"), make_user()
    access.grant_place_rights(None, [Right.VIEW], document, to=guest)
    shown = []
    for item in (keeper, Principal.of(guest)):
        origin = find_document_origin(item, document)
        assert origin is not None
        shown.append(origin.path)
    assert shown == ["merger/plan.md", "plan.md"]
