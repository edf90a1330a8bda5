"""Sources at the pages of the administration, by API, webhook and command."""

import hashlib
import hmac
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks as OnCommit

from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, KnowledgeBase, Source
from knowledge.services import access
from knowledge.services.folders import delete_folder, find_root_folder
from knowledge.sources.base import connectors, load_connectors
from knowledge.sources.services import create_webhook_secret, delete_source
from knowledge.sources.tasks import run_source
from tests.factories import allow, make_document, make_user
from tests.integration.sources.shelf import item_of, paths, read

Make = Callable[..., Source]
Sent = list[tuple[Any, ...]]

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


@pytest.fixture
def handbook(opened: Path) -> Path:
    (opened / "rules.md").write_text("# Rules\n\nOne rule.")
    (opened / "guide.md").write_text("# Guide\n\nBegin here.")
    return opened


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What is handed to the queue, with how."""
    found: Sent = []
    monkeypatch.setattr(run_source, "apply_async", lambda args, queue: found.append((*args, queue)))
    return found


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def filled(handbook: Path, base: KnowledgeBase) -> dict[str, str]:
    return {
        "name": "Handbook", "base": str(base.pk), "path": "From outside/Handbook", "set_path": str(handbook),
        "set_leave_out": "", "every_minutes": "60", "most_per_minute": "0", "grace_hours": "24", "is_active": "on",
    }  # fmt: skip


def test_a_try_shows_titles_and_saves_nothing(root: User, handbook: Path, base: KnowledgeBase, sent: Sent) -> None:
    answer = client_of(root).post("/admin/sources/new/folder/", filled(handbook, base) | {"try": ""})
    assert answer.status_code == 200
    assert "2 pages would come" in answer.content.decode()
    assert "rules.md" in answer.content.decode()
    assert not Source.unscoped.exists()
    assert list(Folder.unscoped.filter(knowledge_base=base)) == [find_root_folder(base)]
    assert sent == []


def test_every_kind_has_a_form_with_words_for_each_of_its_settings(root: User, base: KnowledgeBase) -> None:
    load_connectors()
    client = client_of(root)
    listed = client.get("/admin/sources/").content.decode()
    for kind in connectors.names():
        assert f"/admin/sources/new/{kind}/" in listed
        answer = client.get(f"/admin/sources/new/{kind}/")
        fields = answer.context["form"].fields
        assert {name for name in fields if name.startswith("set_")} == {
            f"set_{name}" for name in connectors.get(kind).wants.model_fields
        }
        assert all(fields[name].label.strip() for name in fields)


def test_a_source_is_made_with_its_folder_and_its_first_run(
    root: User,
    handbook: Path,
    base: KnowledgeBase,
    sent: Sent,
    django_capture_on_commit_callbacks: OnCommit,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = client_of(root).post("/admin/sources/new/folder/", filled(handbook, base) | {"save": ""})
    source = Source.unscoped.get()
    assert answer.headers["Location"] == f"/admin/sources/{source.pk}/"
    assert (source.folder.name, source.every_minutes, source.settings["path"]) == ("Handbook", 60, str(handbook))
    assert sent == [(str(source.pk), "hand", root.pk, "bulk")]
    entry = Entry.objects.get(action="document_source.changed")
    assert entry.actor_id == root.pk


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"set_path": "/etc"}, "COPILOT_SOURCE_FOLDERS"),
        ({"quiet_from": "22:00"}, "Quiet hours have a beginning and an end"),
        ({"base": "00000000-0000-0000-0000-000000000000"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(
    root: User, handbook: Path, base: KnowledgeBase, wrong: dict[str, str], says: str
) -> None:
    answer = client_of(root).post("/admin/sources/new/folder/", filled(handbook, base) | wrong | {"try": ""})
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert not Source.unscoped.exists()


def test_who_sees_a_source_who_reads_it_and_who_changes_it(
    handbook: Path, make_source: Make, sent: Sent, django_capture_on_commit_callbacks: OnCommit
) -> None:
    root = make_user("root", is_superuser=True)
    source = make_source("folder", path=str(handbook))
    folder = source.folder
    manager, viewer, connector = make_user("manager"), make_user("viewer"), make_user("connector")
    User.objects.filter(pk__in=[manager.pk, viewer.pk, connector.pk]).update(is_staff=True)
    allow(manager, folder, Right.VIEW, Right.MANAGE)
    allow(viewer, folder, Right.VIEW)
    connector.user_permissions.add(Permission.objects.get(codename="connect_source"))
    page, run = f"/admin/sources/{source.pk}/", f"/admin/sources/{source.pk}/run/"
    people = {"root": root, "manager": manager, "viewer": viewer, "connector": connector}
    assert {n: client_of(User.objects.get(pk=u.pk)).get(page).status_code for n, u in people.items()} == {
        "root": 200, "manager": 200, "viewer": 404, "connector": 200,
    }  # fmt: skip
    with django_capture_on_commit_callbacks(execute=True):
        assert {n: client_of(User.objects.get(pk=u.pk)).post(run).status_code for n, u in people.items()} == {
            "root": 302, "manager": 302, "viewer": 404, "connector": 302,
        }  # fmt: skip
    assert len(sent) == 3
    changed = {
        "name": "Other",
        "set_path": str(handbook),
        "every_minutes": "0",
        "most_per_minute": "0",
        "grace_hours": "0",
    }
    assert client_of(User.objects.get(pk=manager.pk)).post(page, changed).status_code == 403
    assert client_of(User.objects.get(pk=manager.pk)).post(f"{page}delete/").status_code == 403
    assert client_of(User.objects.get(pk=manager.pk)).post(f"{page}webhook/").status_code == 403
    source.refresh_from_db()
    assert source.name == "folder source"
    assert "/opened" not in client_of(User.objects.get(pk=manager.pk)).get(page).content.decode()


def test_who_looks_after_the_folder_is_not_told_names_of_documents_that_are_closed_to_them(
    root: User, handbook: Path, make_source: Make, folder: Folder
) -> None:
    source = make_source("folder", path=str(handbook))
    read(source)
    manager = make_user("manager")
    User.objects.filter(pk=manager.pk).update(is_staff=True)
    allow(manager, folder, Right.VIEW, Right.MANAGE)
    allow(root, folder, Right.MANAGE)
    rules = item_of(source, "rules.md").document
    assert rules is not None
    access.deny_place_rights(None, [Right.VIEW, Right.MANAGE], rules, to=manager)
    (handbook / "kept.md").write_text("# Kept\n\nIt stays.")
    for name in ("rules.md", "guide.md"):
        (handbook / name).unlink()
    (handbook / "secret.md").write_bytes(b"")  # which cannot be read
    read(source)
    page, runs = f"/admin/sources/{source.pk}/", f"/api/v1/sources/{source.pk}/runs"

    def told(user: User) -> tuple[set[str], list[str]]:
        client = client_of(User.objects.get(pk=user.pk))
        shown = client.get(page).content.decode()
        names = {name for name in ("rules.md", "guide.md", "secret.md") if name in shown}
        return names, [item["what"] for item in client.get(runs).json()["results"][0]["problems"]]

    assert told(root) == ({"rules.md", "guide.md", "secret.md"}, ["secret.md"])
    assert told(manager) == ({"guide.md"}, [""])


def test_whoever_does_not_manage_the_folder_withdraws_nothing_and_makes_no_webhook(
    handbook: Path, make_source: Make, folder: Folder
) -> None:
    source = make_source("folder", path=str(handbook))
    read(source)
    connector = make_user("connector")
    User.objects.filter(pk=connector.pk).update(is_staff=True)
    connector.user_permissions.add(Permission.objects.get(codename="connect_source"))

    def call(way: str) -> int:
        client = client_of(User.objects.get(pk=connector.pk))
        return client.post(f"/admin/sources/{source.pk}/{way}/", {"withdraw": "on"}).status_code

    assert [call("webhook"), call("delete")] == [404, 404]
    assert len(paths(folder)) == 2
    assert not Source.unscoped.get().encrypted_hook_secret
    offered = client_of(User.objects.get(pk=connector.pk)).get(f"/admin/sources/{source.pk}/").content.decode()
    assert "/webhook/" not in offered
    assert "/delete/" not in offered
    allow(connector, folder, Right.MANAGE)
    assert [call("webhook"), call("delete")] == [302, 302]
    assert paths(folder) == {}


def test_a_folder_that_a_source_fills_is_not_deleted(
    root: User, handbook: Path, make_source: Make, folder: Folder
) -> None:
    source = make_source("folder", path=str(handbook))
    allow(root, folder, *Right)
    with pytest.raises(InvalidInput, match="A source of documents fills"):
        delete_folder(Principal.of(root), folder_id=folder.pk)
    delete_source(root, source, withdraw=False)
    delete_folder(Principal.of(root), folder_id=folder.pk)
    assert list(Entry.objects.filter(action="document_source.deleted").values_list("actor_id", flat=True)) == [root.pk]


def test_a_webhook_of_another_secret_key_is_not_there(
    root: User, handbook: Path, make_source: Make, settings: Any
) -> None:
    source = make_source("folder", path=str(handbook))
    secret = create_webhook_secret(root, source)
    settings.SECRET_KEY = "another" * 10
    for token in (secret, "", "guess"):
        answer = Client().post(f"/hooks/sources/{source.pk}", headers={"X-Gitlab-Token": token})
        assert answer.status_code == 404


def test_a_webhook_reads_only_with_the_right_signature(
    root: User,
    handbook: Path,
    make_source: Make,
    sent: Sent,
    django_capture_on_commit_callbacks: OnCommit,
) -> None:
    source = make_source("folder", path=str(handbook))
    body, url = b'{"ref": "refs/heads/main"}', f"/hooks/sources/{source.pk}"

    def call(**headers: str) -> int:
        with django_capture_on_commit_callbacks(execute=True):
            return Client().post(url, body, content_type="application/json", headers=headers).status_code

    empty = hmac.new(b"", body, hashlib.sha256).hexdigest()
    assert call(**{"X-Gitea-Signature": empty}) == 404  # no secret yet, and none is not an empty one
    assert call(**{"X-Gitlab-Token": ""}) == 404
    secret = create_webhook_secret(root, source)
    right = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    other = hmac.new(secret.encode(), b"other", hashlib.sha256).hexdigest()
    assert [call(), call(**{"X-Hub-Signature-256": f"sha256={other}"}), call(**{"X-Gitlab-Token": "guess"})] == [
        404
    ] * 3
    assert sent == []
    assert call(**{"X-Hub-Signature-256": f"sha256={right}"}) == 202
    assert call(**{"X-Gitea-Signature": right}) == 202
    assert call(**{"X-Gitlab-Token": secret}) == 202
    assert sent == [(str(source.pk), "webhook", 0, "bulk")] * 3
    create_webhook_secret(root, source)
    assert call(**{"X-Gitea-Signature": right}) == 404


def test_by_api_a_source_is_tried_made_read_and_deleted(
    root: User,
    handbook: Path,
    folder: Folder,
    sent: Sent,
    django_capture_on_commit_callbacks: OnCommit,
) -> None:
    client = client_of(root)
    tried = {"kind": "folder", "settings": {"path": str(handbook)}}
    post: dict[str, Any] = {"content_type": "application/json"}
    assert client.post("/api/v1/sources/try", tried, **post).json() == {
        "count": 2, "is_more": False, "titles": ["guide.md", "rules.md"], "problems": [],
    }  # fmt: skip
    with django_capture_on_commit_callbacks(execute=True):
        made = client.post(
            "/api/v1/sources", {**tried, "name": "Handbook", "folder": str(folder.pk), "secret": "x"}, **post
        )
    assert made.status_code == 201
    assert made.json()["has_secret"] is True
    assert "secret" not in made.json()
    assert [line[1] for line in sent] == ["hand"]
    source = Source.unscoped.get()
    read(source)
    runs = client.get(f"/api/v1/sources/{source.pk}/runs").json()["results"]
    assert [(run["state"], run["added"]) for run in runs] == [("done", 2)]
    assert client.delete(f"/api/v1/sources/{source.pk}").status_code == 204
    assert len(paths(folder)) == 2


def test_by_api_a_token_for_one_folder_makes_no_source(root: User, handbook: Path, folder: Folder) -> None:
    allow(root, folder, *Right)
    _token, secret = issue_token(Principal.of(root), name="t", scopes=["ingest"], folder_id=folder.pk)
    given = {"kind": "folder", "settings": {"path": str(handbook)}, "name": "n", "folder": str(folder.pk)}
    bearer = {"Authorization": f"Bearer {secret}"}
    answer = Client().post("/api/v1/sources", given, content_type="application/json", headers=bearer)
    assert answer.status_code == 403
    assert not Source.unscoped.exists()


def test_where_a_document_comes_from_stands_with_it_and_its_passages(
    handbook: Path, make_source: Make, folder: Folder
) -> None:
    source = make_source("folder", path=str(handbook))
    read(source)
    reader, stranger = make_user("reader"), make_user("stranger")
    allow(reader, folder)
    row = item_of(source, "rules.md")
    assert row.document is not None
    said = client_of(reader).get(f"/api/v1/documents/{row.document.pk}/origin").json()
    assert (said["source"], said["noun"], said["path"], said["gone_at"]) == ("folder source", "file", "rules.md", None)
    assert client_of(stranger).get(f"/api/v1/documents/{row.document.pk}/origin").status_code == 404
    page = client_of(reader).get(f"/documents/{row.document.pk}/").content.decode()
    assert "read 0\xa0minutes ago" in page
    mine = make_document(folder, "mine.md")
    assert client_of(reader).get(f"/api/v1/documents/{mine.pk}/origin").status_code == 404


def test_from_the_command_line(handbook: Path, base: KnowledgeBase) -> None:
    def run(*args: str) -> str:
        out = io.StringIO()
        call_command("source", *args, stdout=out)
        return out.getvalue()

    assert "folder: path, [leave_out]" in run("kinds")
    assert "2 pages would come\n  guide.md\n  rules.md" in run("try", "folder", "--set", f"path={handbook}")
    place = ("--name", "Handbook", "--kb", base.name, "--folder", "A/B", "--every", "0")
    run("add", "folder", *place, "--set", f"path={handbook}")
    assert "2 pages: 2 new" in run("run", "Handbook")
    assert "Handbook: folder" in run("list")
    (handbook / "empty.md").write_text("")
    with pytest.raises(CommandError, match="Not everything could be read"):
        run("run", "Handbook")
    with pytest.raises(CommandError, match="did you mean 'folder'"):
        run("try", "folders")
    with pytest.raises(CommandError, match="has no setting “pth”"):
        run("try", "folder", "--set", "pth=1")
