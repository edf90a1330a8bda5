"""Uploading, following, reading, downloading and deleting a document."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from knowledge.models import Document, Folder
from tests.factories import allow, make_base, make_document, make_folder
from tests.integration.rest.world import Answer, World


def upload(
    world: World, *, role: str = "all", name: str = "new.md", data: bytes = b"# New\n\nText.", **more: Any
) -> Answer:
    body = {"file": SimpleUploadedFile(name, data), **more}
    return world.client(role).post(f"/api/v1/folders/{world.folder.pk}/documents", body, format="multipart")


def problem(answer: Answer, status: int) -> str:
    """The sentence of a problem document."""
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert (answer.status_code, body["status"]) == (status, status), body
    return str(body["detail"])


def test_an_upload_is_stored_and_waits_for_ingestion(world: World) -> None:
    answer = upload(world, title="Travel", language="zh")
    body = answer.json()
    assert (answer.status_code, body["outcome"]) == (201, "created")
    assert body["document"] == body["document"] | {
        "filename": "new.md",
        "title": "Travel",
        "language": "zh",
        "folder": str(world.folder.pk),
        "knowledge_base": str(world.base.pk),
        "parse_status": "pending",
        "newest_version": 1,
        "current_version": None,
    }
    assert [stage["name"] for stage in body["version"]["stages"]] == ["parse", "chunk", "embed", "publish"]
    assert {stage["status"] for stage in body["version"]["stages"]} == {"pending"}


def test_the_same_bytes_change_nothing_and_other_bytes_are_a_new_version(world: World) -> None:
    first = upload(world, name="../../etc/new.md").json()
    assert (first["document"]["filename"], first["version"]["number"]) == ("new.md", 1), "a name is never a path"
    again = upload(world)
    assert (again.status_code, again.json()["outcome"], again.json()["version"]["number"]) == (200, "unchanged", 1)
    changed = upload(world, data=b"# New\n\nOther text.")
    assert (changed.status_code, changed.json()["outcome"]) == (201, "new_version")
    assert changed.json()["version"]["number"] == 2


def test_who_may_only_add_replaces_no_document_of_somebody_else(world: World) -> None:
    document = upload(world).json()["document"]
    refused = upload(world, role="add", data=b"# Mine")
    assert problem(refused, 403) == (
        "“new.md” already exists here and is not only yours: a new version needs the right “change”. Ask for "
        "it, or use another file name."
    )
    assert Document.unscoped.get(pk=document["id"]).versions.count() == 1
    assert upload(world, role="add").json()["outcome"] == "unchanged", "nothing is replaced"
    allow(world.people["add"], world.folder, Right.CHANGE)
    assert upload(world, role="add", data=b"# Mine").json()["outcome"] == "new_version"


def test_who_may_only_add_makes_new_versions_of_what_is_theirs_alone(world: World) -> None:
    assert upload(world, role="add").json()["outcome"] == "created"
    assert upload(world, role="add", data=b"# Better").json()["outcome"] == "new_version"
    assert upload(world, data=b"# Checked").json()["outcome"] == "new_version"
    assert "needs the right “change”" in problem(upload(world, role="add", data=b"# Mine again"), 403)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("empty.md", b"", "“empty.md” is empty."),
        ("tool.exe", b"MZ", "“tool.exe” is of a type that is not supported."),
        ("large.md", b"x" * 1_000_001, "“large.md” has 2 MB; the limit is 1 MB."),
        (f"{'長' * 80}.md", b"text", "The file name is longer than 200 bytes."),
    ],
    ids=["empty", "unknown type", "over the limit", "long name"],
)
def test_a_file_that_cannot_be_taken_is_refused_and_leaves_nothing(
    world: World, settings: Settings, name: str, data: bytes, says: str
) -> None:
    settings.UPLOAD_MAX_BYTES = 1_000_000
    uploads = Entry.objects.filter(action=Action.DOCUMENT_UPLOADED)
    before = (Document.unscoped.count(), uploads.count(), stored_files(settings))
    assert problem(upload(world, name=name, data=data), 400).startswith(says)
    assert (Document.unscoped.count(), uploads.count(), stored_files(settings)) == before


@pytest.fixture(autouse=True)
def own_files(settings: Settings, tmp_path: Path) -> None:
    """A storage of its own: what other tests write at the same time is not counted."""
    settings.MEDIA_ROOT = tmp_path / "files"


def stored_files(settings: Settings) -> int:
    return sum(path.is_file() for path in Path(settings.MEDIA_ROOT).rglob("*"))


def test_a_wrong_form_is_refused_naming_the_field(world: World) -> None:
    client, path = world.client("all"), f"/api/v1/folders/{world.folder.pk}/documents"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"file": "text"}, "file"),
        ({"file": SimpleUploadedFile("a.md", b"text"), "language": "klingon"}, "language"),
        ({"file": SimpleUploadedFile("a.md", b"text"), "folder": "x"}, "folder"),
    ]
    for body, field in wrong:
        assert problem(client.post(path, body, format="multipart"), 400).startswith(f"{field}: ")
    assert "application/json" in problem(client.post(path, {"file": "x"}, format="json"), 415)


def test_an_upload_without_the_right_stores_nothing(world: World) -> None:
    before = Document.unscoped.count()
    assert "add documents and folders" in problem(upload(world, role="view"), 403)
    assert problem(upload(world, role="nobody"), 404) == "There is no such folder, or you cannot see it."
    assert Document.unscoped.count() == before


def test_status_tells_the_stages_and_the_reason_of_a_failure(world: World) -> None:
    body = world.client("view").get(f"/api/v1/documents/{world.document.pk}/status").json()
    assert (body["parse_status"], body["failure_code"], body["is_current"]) == ("failed", "gave_up", False)
    assert body["failure_reason"]
    ready = make_document(world.folder, "ready.md", ingested=True)
    body = world.client("view").get(f"/api/v1/documents/{ready.pk}/status").json()
    assert (body["parse_status"], body["failure_code"], body["failure_reason"]) == ("completed", "", "")
    assert body["is_current"]
    assert [(stage["name"], stage["status"]) for stage in body["stages"]] == [
        ("parse", "done"), ("chunk", "done"), ("embed", "done"), ("publish", "done"),
    ]  # fmt: skip


def test_passages_of_a_version_are_asked_for_by_its_number(world: World) -> None:
    document = make_document(world.folder, "plan.md", "# Plan\n\nOld.", ingested=True)
    make_document(world.folder, "plan.md", "# Plan\n\nNew.", ingested=True)
    client = world.client("view")

    def texts(query: str) -> str:
        rows = client.get(f"/api/v1/documents/{document.pk}/chunks{query}").json()["results"]
        return " ".join(row["text"] for row in rows)

    assert "New." in texts("")
    assert "New." in texts("?version=2")
    assert "Old." in texts("?version=1")
    rows = client.get(f"/api/v1/documents/{document.pk}/versions").json()["results"]
    assert [(row["number"], row["is_current"]) for row in rows] == [(2, True), (1, False)]
    missing = client.get(f"/api/v1/documents/{document.pk}/chunks?version=3")
    assert problem(missing, 404).startswith("There is no such")
    make_document(world.folder, "plan.md", "# Plan\n\nNot read yet.")
    assert texts("?version=3") == ""
    detail = client.get(f"/api/v1/documents/{document.pk}").json()
    assert (detail["newest_version"], detail["current_version"], detail["parse_status"]) == (3, 2, "pending")


def test_a_download_is_the_original_under_its_own_name_and_recorded(world: World) -> None:
    path = f"/api/v1/documents/{world.document.pk}/download"
    assert "download the original" in problem(world.client("view").get(path), 403)
    name, data = '报销; "v2" \u202e制度.md', "# 报销\n\n每日上限 300 元。".encode()
    document = make_document(world.folder, name, data)
    answer: Answer = world.client("download").get(
        f"/api/v1/documents/{document.pk}/download", headers={"Accept": "application/pdf"}
    )
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == data
    assert answer["Content-Disposition"] == f"attachment; filename*=utf-8''{quote(document.filename)}"
    assert answer["X-Content-Type-Options"] == "nosniff"
    entry = Entry.objects.get(action=Action.DOCUMENT_DOWNLOADED)
    assert (entry.actor_name, entry.target_id) == ("download", str(document.pk))


def test_a_retry_queues_a_failed_document_once(world: World) -> None:
    path = f"/api/v1/documents/{world.document.pk}/retry"
    answer = world.client("change").post(path)
    assert (answer.status_code, answer.json()["parse_status"], answer.json()["attempts"]) == (202, "pending", 0)
    assert "Only failed documents can be tried again" in problem(world.client("change").post(path), 400)


def move(world: World, role: str, folder: Folder) -> Answer:
    return world.client(role).post(f"/api/v1/documents/{world.document.pk}/move", {"folder": str(folder.pk)})


def test_a_document_is_moved_where_it_may_be_and_it_is_recorded(world: World) -> None:
    problem(move(world, "change", world.empty), 403)  # may not add there
    problem(move(world, "add", world.empty), 403)  # may not change it
    unseen = make_folder(world.base, "Unseen")
    problem(move(world, "all", unseen), 404)
    elsewhere = make_folder(make_base("Other"), "Rules")
    allow(world.people["all"], elsewhere, *Right)
    assert "is in another one" in problem(move(world, "all", elsewhere), 400)
    other = make_document(world.empty, world.document.filename)
    assert "already" in problem(move(world, "all", world.empty), 409)
    assert Document.unscoped.get(pk=world.document.pk).folder_id == world.folder.pk
    assert not Entry.objects.filter(action=Action.DOCUMENT_MOVED).exists()
    other.delete()
    answer = move(world, "all", world.empty)
    assert (answer.status_code, answer.json()["folder"]) == (200, str(world.empty.pk))
    entry = Entry.objects.get(action=Action.DOCUMENT_MOVED)
    assert (entry.target_id, entry.detail) == (str(world.document.pk), {"folder": str(world.empty.pk)})
