"""Folders: what is listed, how files come in with their folders, and how far ingestion is."""

from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import translation

from audit.actions import Action
from audit.models import Entry
from copilot_site.config import BASE_DIR
from copilot_site.lib.errors import InvalidInput
from knowledge.documents.places import find_document_places
from knowledge.library import PAGE_SIZE
from knowledge.models import Document, DocumentVersion, Folder
from knowledge.services.folders import DEEPEST
from tests.factories import allow, make_document, make_folder
from tests.integration.pages.house import House, client_of, plain, principal_of, stored_files

JSON = {"Accept": "application/json"}


def upload(house: House, name: str = "a.md", content: bytes = b"# A", path: str = "") -> Any:
    file = SimpleUploadedFile(name, content)
    url = reverse("folder-upload", args=[house.folder.pk])
    return client_of(house.keeper).post(url, {"file": file, "path": path}, headers=JSON)


def test_a_file_is_stored_queued_and_recorded(house: House) -> None:
    before = stored_files(house.base)  # the tests of this file share a base, and what a test stored stays
    answer = upload(house)
    assert answer.status_code == 201
    document = Document.unscoped.get(pk=answer.json()["document_id"])
    assert (answer.json()["outcome"], document.folder, document.filename) == ("created", house.folder, "a.md")
    assert answer.json()["url"] == reverse("document", args=[document.pk])
    assert answer.json()["folder_url"] == reverse("folder", args=[house.folder.pk])
    assert Entry.objects.filter(action=Action.DOCUMENT_UPLOADED, target_id=str(document.pk)).exists()
    assert len(stored_files(house.base) - before) == 1


def test_a_dragged_folder_keeps_its_tree(house: House) -> None:
    upload(house, path="2026/十月")
    upload(house, "b.md", path="2026/十月")
    upload(house, "c.md", path="2026")
    year = Folder.unscoped.get(parent=house.folder, name="2026")
    month = Folder.unscoped.get(parent=year)
    assert set(Document.unscoped.values_list("filename", "folder__name")) == {
        ("a.md", "十月"),
        ("b.md", "十月"),
        ("c.md", "2026"),
    }
    body = plain(client_of(house.reader).get(reverse("folder", args=[month.pk])).content)
    assert 'aria-current="page">十月<' in body


@pytest.mark.parametrize("path", ["../../etc", "..\\..", "a/../.."])
def test_a_path_never_leads_out_of_the_folder(house: House, path: str) -> None:
    assert upload(house, path=path).status_code == 201
    document = Document.unscoped.get()
    assert house.folder.pk in document.folder.ancestor_links.values_list("ancestor_id", flat=True)
    assert "/" not in document.folder.name


@pytest.mark.parametrize(
    ("name", "content", "path", "words"),
    [
        ("tool.exe", b"MZ", "new", "type"),
        ("b.XLS", b"\xd0\xcf", "new", ".xlsx"),
        ("a.md", b"", "new", "empty"),
        ("a.md", b"x", "/".join("abcdefghijklmnopqrstuvw"), "at most 20 folders"),
    ],
)
def test_a_refused_file_leaves_nothing_behind(house: House, name: str, content: bytes, path: str, words: str) -> None:
    before = stored_files(house.base)
    answer = upload(house, name, content, path)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
    assert not Document.unscoped.exists()
    assert set(Folder.unscoped.filter(parent=house.folder)) == {house.below}
    assert stored_files(house.base) == before


def test_a_file_over_the_limit_is_refused(house: House, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    answer = upload(house, content=b"# " + b"x" * 20)
    assert answer.status_code == 400
    assert "limit" in answer.json()["detail"]
    assert not Document.unscoped.exists()


def test_the_page_asks_for_as_many_rows_as_one_answer_tells() -> None:
    """Where it asked for more, the rows of a large upload would never be told, and never be finished on the page."""
    script = (BASE_DIR / "static" / "js" / "folder.js").read_text()
    assert f"const AT_MOST = {PAGE_SIZE};" in script


def test_progress_names_what_is_unfinished_here_and_below(house: House) -> None:
    here, below = make_document(house.folder), make_document(house.below)
    beside = make_document(house.sibling)
    url = reverse("folder-progress", args=[house.folder.pk])
    query = f"?id={here.pk}&id={below.pk}&id={beside.pk}&id={house.base.pk}&id=nonsense"
    progress = client_of(house.reader).get(url + query, headers=JSON).json()
    assert progress["unfinished"] == 2
    told = {row["id"]: (row["is_here"], "data-unfinished" in row["html"]) for row in progress["rows"]}
    assert told == {str(here.pk): (True, True), str(below.pk): (False, True)}


def test_a_failed_document_shows_its_reason_and_a_retry_to_those_who_may(house: House) -> None:
    document = make_document(house.folder, "scan.pdf", b"%PDF-1.4\nnothing", ingested=True)
    version = DocumentVersion.unscoped.get(document=document)
    assert version.parse_status == "failed"
    url, retry = reverse("document", args=[document.pk]), reverse("document-retry", args=[document.pk])
    for person, may in ((house.reader, False), (house.keeper, True)):
        body = plain(client_of(person).get(url).content)
        assert version.failure_reason in body
        assert (retry in body) is may
    client_of(house.keeper).post(retry)
    version.refresh_from_db()
    assert (version.parse_status, version.failure) == ("pending", None)


def test_only_rights_that_are_held_are_offered(house: House) -> None:
    url = reverse("folder", args=[house.folder.pk])
    offered = [reverse(name, args=[house.folder.pk]) for name in ("folder-upload", "folder-new")]
    reader, keeper = (plain(client_of(person).get(url).content) for person in (house.reader, house.keeper))
    assert [path for path in offered if path in reader] == []
    assert [path for path in offered if path not in keeper] == []


def test_a_new_folder_opens_and_a_taken_name_is_said(house: House) -> None:
    client, url = client_of(house.keeper), reverse("folder-new", args=[house.folder.pk])
    made = client.post(url, {"name": "Plans"}, follow=True)
    assert "<h1" in plain(made.content)
    assert Folder.unscoped.get(name="Plans").parent == house.folder
    again = client.post(url, {"name": "Plans"}, follow=True)
    assert "already contains a folder called “Plans”" in plain(again.content)
    assert "at least one visible character" in plain(client.post(url, {"name": " \n"}, follow=True).content)


def test_a_folder_is_renamed_and_moved_by_who_may_change_it(house: House) -> None:
    client, page = client_of(house.keeper), reverse("folder", args=[house.below.pk])
    target = make_folder(house.folder, "Archive")
    make_folder(house.folder, "Taken")
    rename, move = (reverse(name, args=[house.below.pk]) for name in ("folder-rename", "folder-move"))
    body = plain(client.get(page).content)
    assert rename in body
    assert f'<option value="{target.pk}">' in body
    assert [f'<option value="{row.pk}">' in body for row in (house.folder, house.below, house.sibling)] == [False] * 3
    assert rename not in plain(client_of(house.reader).get(page).content)

    assert ">Minutes</h1>" in plain(client.post(rename, {"name": "Minutes"}, follow=True).content)
    assert "There is already a folder called “Taken”" in plain(
        client.post(rename, {"name": "Taken"}, follow=True).content
    )
    assert "is moved" in plain(client.post(move, {"parent": target.pk}, follow=True).content)
    assert "below itself" in plain(client.post(move, {"parent": "nonsense"}, follow=True).content)
    house.below.refresh_from_db()
    assert (house.below.name, house.below.parent) == ("Minutes", target)
    made = [Action.FOLDER_RENAMED, Action.FOLDER_MOVED]
    assert [Entry.objects.filter(action=action, target_id=str(house.below.pk)).count() for action in made] == [1, 1]


def test_a_name_in_two_languages_is_shown_in_the_reader_s(house: House) -> None:
    """A page of the folder, the tree beside it, and the places of its documents; the form that renames it has the whole name."""
    folder = make_folder(house.folder, "部署规范 | Deployment")
    document = make_document(folder, "rules.md", ingested=True)
    for language, shown, other in (("en", "Deployment", "部署规范"), ("zh-hans", "部署规范", "Deployment")):
        with translation.override(language):
            assert find_document_places(principal_of(house.keeper), [document.pk])[document.pk].path[-1] == shown
        client = client_of(house.keeper)
        client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        body = plain(client.get(reverse("folder", args=[folder.pk])).content)
        assert f">{shown}</h1>" in body
        assert f"<span>{shown}</span>" in body, "in the tree"
        assert 'value="部署规范 | Deployment"' in body
        assert other not in body.replace('value="部署规范 | Deployment"', "")


def test_folders_end_where_a_page_can_still_draw_them(house: House) -> None:
    way = [house.folder]  # itself below the top folder
    while len(way) < DEEPEST:
        way.append(make_folder(way[-1], f"level {len(way)}"))
    with pytest.raises(InvalidInput, match="Folders can be 40 levels deep; this would be 41"):
        make_folder(way[-1])
    assert f">level {len(way) - 1}</h1>" in plain(
        client_of(house.keeper).get(reverse("folder", args=[way[-1].pk])).content
    )
    move = reverse("folder-move", args=[way[2].pk])
    said = plain(client_of(house.keeper).post(move, {"parent": make_folder(house.below).pk}, follow=True).content)
    assert "Folders can be 40 levels deep" in said  # each of its folders would lie one deeper
    assert Folder.unscoped.get(pk=way[2].pk).parent_id == way[1].pk


def test_an_empty_folder_can_be_deleted_and_a_full_one_says_why_not(house: House) -> None:
    client, url = client_of(house.keeper), reverse("folder-delete", args=[house.below.pk])
    document = make_document(house.below)
    assert "is not empty" in plain(client.post(url, follow=True).content)
    document.delete()
    client.post(url)
    assert not Folder.unscoped.filter(pk=house.below.pk).exists()


def test_without_the_folder_above_a_base_opens_at_what_is_visible(house: House) -> None:
    first = client_of(house.reader).get(reverse("base", args=[house.base.pk]))
    assert first["Location"] == reverse("folder", args=[house.folder.pk])
    other = make_folder(house.sibling, "Public")
    allow(house.reader, other)
    body = plain(client_of(house.reader).get(reverse("base", args=[house.base.pk])).content)
    assert house.folder.name in body
    assert other.name in body
    assert house.sibling.name not in body
