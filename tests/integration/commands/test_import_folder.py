"""`manage.py import_folder`: the tree is kept, a repetition changes nothing, and what cannot be read is named."""

import errno
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import FileSystemStorage
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from authz.permissions import Right
from knowledge.ingestion.lease import MAX_ATTEMPTS
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.services.access import deny_place_rights
from tests.factories import allow, make_base, make_folder, make_user, prepare_embedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def base() -> KnowledgeBase:
    return make_base("Handbook")


@pytest.fixture
def editor(base: KnowledgeBase) -> User:
    editor = make_user("editor")
    allow(editor, base, Right.VIEW, Right.ADD)
    return editor


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two pages in two folders, a hidden file, and one of a kind that is not read."""
    (tmp_path / "rules" / "deep").mkdir(parents=True)
    (tmp_path / "rules" / "leave.md").write_text("# Leave\n\nThirty days.\n")
    (tmp_path / "rules" / "deep" / "差旅.md").write_text("# 差旅\n\n每日上限 300 元。\n")
    (tmp_path / "rules" / ".hidden.md").write_text("# No\n")
    (tmp_path / "rules" / "song.mp3").write_bytes(b"la")
    return tmp_path


def run(tree: Path, *words: str, wait: bool = False) -> str:
    out = StringIO()
    call_command("import_folder", str(tree), "--kb", "Handbook", "--as", "editor", *words, no_wait=not wait, stdout=out)
    return out.getvalue()


def test_the_tree_is_kept_and_what_is_not_read_is_named(editor: User, tree: Path) -> None:
    said = run(tree, "--folder", "Imported/2026")
    assert "3 files: 2 new, 0 changed, 0 unchanged, 1 refused." in said
    assert "refused rules/song.mp3:" in said
    paths = {
        document.filename: [
            link.ancestor.name for link in document.folder.ancestor_links.order_by("-depth").select_related("ancestor")
        ]
        for document in Document.unscoped.select_related("folder")
    }
    assert paths == {
        "leave.md": ["Handbook", "Imported", "2026", "rules"],
        "差旅.md": ["Handbook", "Imported", "2026", "rules", "deep"],
    }
    assert set(DocumentVersion.unscoped.values_list("queue", flat=True)) == {"bulk"}


def test_a_repetition_changes_nothing_and_a_changed_file_is_a_new_version(editor: User, tree: Path) -> None:
    run(tree)
    for version in DocumentVersion.unscoped.all():
        run_ingestion(version.pk)
    assert "0 new, 0 changed, 2 unchanged" in run(tree, wait=True)
    (tree / "rules" / "leave.md").write_text("# Leave\n\nThirty-one days.\n")
    assert "0 new, 1 changed, 1 unchanged" in run(tree)
    assert sorted(DocumentVersion.unscoped.values_list("number", flat=True)) == [1, 1, 2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nowhere", "--kb", "Handbook", "--as", "editor"], "/nowhere is not a folder"),
        ([".", "--kb", "Handbook", "--as", "nobody"], "no active user 'nobody'"),
        (
            [".", "--kb", "Hidden", "--as", "editor"],
            "no knowledge base “Hidden” that editor may see; there are “Handbook”",
        ),
        (
            [".", "--kb", "Hidden", "--as", "editor", "--create"],
            "Only a superuser makes knowledge bases; editor is none.",
        ),
        ([".", "--kb", "Handbook", "--as", "reader"], "but not add documents and folders here"),
        ([".", "--kb", "Handbook", "--as", "editor", "--folder", "A/../B"], "“A/../B” is not a folder path"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_changes_nothing(
    base: KnowledgeBase, editor: User, tree: Path, words: list[str], said: str
) -> None:
    allow(make_user("reader"), base)
    make_base("Hidden")
    before = Folder.unscoped.count()
    with pytest.raises(CommandError, match=said) as caught:
        call_command("import_folder", *[str(tree) if word == "." else word for word in words])
    assert "\n" not in str(caught.value)
    assert (Folder.unscoped.count(), Document.unscoped.count()) == (before, 0)


def test_a_missing_base_is_made_on_demand_and_found_the_next_time(tree: Path) -> None:
    User.objects.create_superuser("root", "", "x")
    words = [str(tree), "--kb", "New", "--as", "root", "--create"]
    for said in ("2 new", "2 unchanged"):
        out = StringIO()
        call_command("import_folder", *words, no_wait=True, stdout=out)
        assert said in out.getvalue()
    assert KnowledgeBase.unscoped.filter(name="New").count() == 1


def test_where_no_worker_runs_the_command_reads_by_itself_and_says_how_far_it_is(
    editor: User, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_embedder()
    assert "2 completed, 0 failed." in run(tree, wait=True)
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["upload: 0 of 3 files", "upload: 3 of 3 files"]
    assert (said[2], said[-1]) == ("read and index: 0 of 2 documents", "read and index: 2 of 2 documents")
    assert set(DocumentVersion.unscoped.values_list("attempts", flat=True)) == {1}


def test_what_a_killed_reader_left_is_taken_up(editor: User, tree: Path) -> None:
    """Three times at most: what kills its readers fails, and the command ends."""
    prepare_embedder()
    run(tree)
    gone = timezone.now() - timedelta(seconds=1)
    left = {"parse_status": ParseStatus.PROCESSING, "lease": uuid4(), "lease_expires_at": gone}
    for name, attempts in (("leave.md", 1), ("差旅.md", MAX_ATTEMPTS)):
        DocumentVersion.unscoped.filter(document__filename=name).update(attempts=attempts, **left)
    assert "1 completed, 1 failed." in run(tree, wait=True)


class Interrupted(FileSystemStorage):
    """Somebody presses Ctrl-C while a file is read."""

    def _open(self, name: str, mode: str = "rb") -> Any:
        raise KeyboardInterrupt


def test_an_interrupted_import_gives_back_what_it_read_and_goes_on_the_next_time(editor: User, tree: Path) -> None:
    prepare_embedder()
    static = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    storages = {"staticfiles": static, "default": {"BACKEND": f"{__name__}.Interrupted"}}
    with override_settings(STORAGES=storages), pytest.raises(KeyboardInterrupt):
        run(tree, wait=True)
    states = DocumentVersion.unscoped.values_list("parse_status", "lease", "attempts")
    assert set(states) == {(ParseStatus.PENDING, None, 0)}, "it counts as no attempt"
    assert "2 completed, 0 failed." in run(tree, wait=True)


def test_who_may_add_to_one_folder_alone_imports_there(base: KnowledgeBase, tree: Path) -> None:
    runbooks = make_folder(make_folder(base, "Engineering"), "Run/books")
    allow(make_user("editor"), runbooks, Right.VIEW, Right.ADD)
    assert "2 new" in run(tree, "--folder", "Engineering/Run\\/books")
    assert {row.folder.parent for row in Document.unscoped.filter(filename="leave.md")} == {runbooks}
    with pytest.raises(CommandError, match="no folder “Engineering” in “Handbook” that you can see"):
        run(tree, "--folder", "Engineering")


def test_a_folder_that_refuses_keeps_its_tree_as_it_is(base: KnowledgeBase, editor: User, tree: Path) -> None:
    """A right to add above is none where it was denied: not even to an empty folder."""
    rules = make_folder(base, "rules")
    deny_place_rights(None, (Right.ADD,), rules, to=editor)
    said = run(tree)
    assert "0 new, 0 changed, 0 unchanged, 3 refused" in said
    assert not Folder.unscoped.filter(parent=rules).exists()


def test_a_file_or_folder_that_cannot_be_read_is_named_and_the_rest_goes_on(
    editor: User, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Callable[..., int] = os.open

    def forbidden(path: Any, *options: Any, **more: Any) -> int:
        if path == "leave.md":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *options, **more)

    listed = os.scandir

    def closed(path: str) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("/closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listed(path)

    (tree / "rules" / "closed").mkdir()
    monkeypatch.setattr(os, "open", forbidden)  # these tests run as root, too, who may read all
    monkeypatch.setattr(os, "scandir", closed)
    said = run(tree)
    assert "1 new" in said
    assert "refused rules/leave.md: The file cannot be read (Permission denied)." in said
    assert "  not entered rules/closed: Permission denied" in said


def test_a_document_that_failed_is_named_with_its_folder(editor: User, tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "old.pdf").write_bytes(b"no PDF")
    run(tmp_path)
    run_ingestion(DocumentVersion.unscoped.get().pk)
    assert "  failed scans/old.pdf: The name ends in .pdf" in run(tmp_path, wait=True)


def test_two_files_that_would_share_a_name_do_not_replace_each_other(editor: User, tmp_path: Path) -> None:
    (tmp_path / " notes.md").write_text("# One\n")
    (tmp_path / "notes.md").write_text("# Two\n")
    for outcome in ("1 new", "0 new, 0 changed, 1 unchanged"):
        said = run(tmp_path)
        assert f"{outcome}" in said
        assert "refused notes.md: It would be stored under the same name as  notes.md" in said
    assert DocumentVersion.unscoped.count() == 1


def test_names_of_chinese_archives_are_read_and_other_bytes_are_refused(editor: User, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode("人事".encode("gbk"))
    folder.mkdir()
    for name in ("请假制度.md".encode("gbk"), "加班制度.md".encode("gbk"), b"Stra\xdfe.md"):
        (folder / os.fsdecode(name)).write_text(f"# Rules\n\n{name.hex()}\n")
    said = run(tmp_path)
    assert "3 files: 2 new, 0 changed, 0 unchanged, 1 refused." in said
    assert "Stra\ufffde.md: Its name, or that of its folder, is not UTF-8. Rename it;" in said
    said.encode()  # every terminal can print it
    kept = Document.unscoped.values_list("folder__name", "filename")
    assert set(kept) == {("人事", "请假制度.md"), ("人事", "加班制度.md")}
    assert "0 new, 0 changed, 2 unchanged" in run(tmp_path)


def test_a_tree_that_is_too_deep_is_refused_before_it_makes_folders(editor: User, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*(f"level{number}" for number in range(60)))
    deep.mkdir(parents=True)
    (deep / "bottom.md").write_text("# Bottom\n")
    said = run(tmp_path)
    assert "0 new, 0 changed, 0 unchanged, 1 refused" in said
    assert "Folders can be 40 levels deep" in said
    assert not Folder.unscoped.filter(name="level0").exists()


def test_a_document_that_may_not_be_added_to_is_refused_and_the_others_are_brought(editor: User, tree: Path) -> None:
    run(tree)
    closed = Document.unscoped.get(filename="leave.md")
    deny_place_rights(None, (Right.ADD,), closed, to=editor)
    (tree / "rules" / "leave.md").write_text("# Leave\n\nNo days at all.\n")
    (tree / "rules" / "deep" / "差旅.md").write_text("# 差旅\n\n每日上限 400 元。\n")
    said = run(tree)
    assert "0 new, 1 changed, 0 unchanged, 2 refused." in said
    assert "refused rules/leave.md:" in said
    assert sorted(DocumentVersion.unscoped.values_list("document__filename", "number")) == [
        ("leave.md", 1),
        ("差旅.md", 1),
        ("差旅.md", 2),
    ]
