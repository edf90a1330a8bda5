"""A folder of this machine: what becomes of its files here as they change, move, go and come back."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from agent.skills.packages import read_package_folder
from copilot_site.lib.errors import Conflict, InvalidInput
from copilot_site.lib.process_names import find_process_name
from knowledge.models import Document, Every, Folder, Source, SourceRun, SourceRunState, Trigger
from knowledge.sources import runs
from knowledge.sources.base import ItemContent, ListedItem, Unreadable
from knowledge.sources.reading import preview_source, read_source
from knowledge.sources.runs import SourceLeaseLost, build_leased_pace, start_source_run, store_run_progress
from knowledge.sources.services import save_source
from knowledge.sources.tasks import run_due_sources
from tests.factories import make_document
from tests.integration.sources.shelf import counts, item_of, paths, read

Make = Callable[..., Source]

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(opened: Path, make_source: Make) -> Source:
    (opened / "guide").mkdir()
    (opened / "guide" / "start.md").write_text("# Start\n\nBegin here.")
    (opened / "rules.md").write_text("# Rules\n\nOne rule.")
    return make_source("folder", path=str(opened))


def test_a_first_run_brings_the_tree_and_a_second_one_reads_nothing(source: Source, folder: Folder) -> None:
    first = read(source)
    assert first.state == SourceRunState.DONE
    assert counts(first) == {"added": 2}
    assert paths(folder) == {"guide/start.md": "# Start\n\nBegin here.", "rules.md": "# Rules\n\nOne rule."}
    before = item_of(source, "rules.md").read_at
    second = read(source)
    assert counts(second) == {"unchanged": 2}
    assert item_of(source, "rules.md").read_at == before
    assert (item_of(source, "rules.md").checked_at or before) > before  # type: ignore[operator]


def test_what_changed_is_a_new_version_of_the_same_document(source: Source, opened: Path, folder: Folder) -> None:
    read(source)
    before = item_of(source, "rules.md").document
    (opened / "rules.md").write_text("# Rules\n\nTwo rules.")
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    after = item_of(source, "rules.md").document
    assert after == before
    assert after is not None
    assert after.versions.count() == 2
    assert paths(folder)["rules.md"] == "# Rules\n\nTwo rules."
    os.utime(opened / "rules.md", (1, 1))
    assert counts(read(source)) == {"unchanged": 2}, "touched, and the same text"


def test_what_is_moved_keeps_its_document(source: Source, opened: Path, folder: Folder) -> None:
    read(source)
    before = item_of(source, "rules.md").document
    (opened / "deep" / "er").mkdir(parents=True)
    (opened / "rules.md").rename(opened / "deep" / "er" / "house-rules.md")
    assert counts(read(source)) == {"moved": 1, "unchanged": 1}
    assert item_of(source, "deep/er/house-rules.md").document == before
    assert set(paths(folder)) == {"guide/start.md", "deep/er/house-rules.md"}
    assert Document.unscoped.count() == 2


def test_two_that_swap_their_names_keep_their_texts_apart(opened: Path, make_source: Make, folder: Folder) -> None:
    (opened / "a").mkdir()
    (opened / "b").mkdir()
    (opened / "a" / "page.md").write_text("first")
    (opened / "b" / "page.md").write_text("second")
    source = make_source("folder", path=str(opened))
    read(source)
    (opened / "a").rename(opened / "c")
    (opened / "b").rename(opened / "a")
    (opened / "c").rename(opened / "b")
    read(source)
    assert paths(folder) == {"a/page.md": "second", "b/page.md": "first"}


def test_what_is_gone_answers_until_its_grace_is_over(source: Source, opened: Path, folder: Folder) -> None:
    source.grace_hours = 24
    save_source(None, source)
    read(source)
    before = item_of(source, "rules.md").document
    (opened / "rules.md").unlink()
    assert counts(read(source)) == {"unchanged": 1}
    assert set(paths(folder)) == {"guide/start.md", "rules.md"}
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        assert counts(read(source)) == {"unchanged": 1, "withdrawn": 1}
        assert set(paths(folder)) == {"guide/start.md"}
        (opened / "rules.md").write_text("# Rules\n\nOne rule.")
        assert counts(read(source)) == {"added": 1, "unchanged": 1}
    assert item_of(source, "rules.md").document == before, "the same document answers again"


def test_an_empty_folder_withdraws_nothing(source: Source, opened: Path, folder: Folder) -> None:
    read(source)
    (opened / "rules.md").unlink()
    (opened / "guide" / "start.md").unlink()
    run = read(source)
    assert run.state == SourceRunState.FAILED
    assert "Nothing is left of" in run.problem
    assert len(paths(folder)) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root enters every folder")
def test_a_folder_that_cannot_be_entered_takes_nothing_away(source: Source, opened: Path, folder: Folder) -> None:
    read(source)
    (opened / "guide").chmod(0)
    try:
        run = read(source)
    finally:
        (opened / "guide").chmod(0o755)
    assert run.state == SourceRunState.PARTIAL
    assert set(paths(folder)) == {"guide/start.md", "rules.md"}


def test_what_cannot_be_read_is_told_and_tried_again_while_the_rest_is_kept(
    source: Source, opened: Path, folder: Folder
) -> None:
    (opened / "empty.md").write_text("")
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.PARTIAL, {"added": 2, "failed": 1})
    assert run.problems == [{"what": "empty.md", "why": "“empty.md” is empty."}]
    assert set(paths(folder)) == {"guide/start.md", "rules.md"}
    (opened / "empty.md").write_text("no more")
    assert counts(read(source)) == {"added": 1, "unchanged": 2}


def test_only_documents_come_and_what_is_left_out_does_not(opened: Path, make_source: Make, folder: Folder) -> None:
    for name in ("read.md", "program.exe", ".hidden.md", "drafts/later.md", "~$lock.docx"):
        (opened / name).parent.mkdir(exist_ok=True)
        (opened / name).write_text("text")
    read(make_source("folder", path=str(opened), leave_out=["drafts"]))
    assert set(paths(folder)) == {"read.md"}


def test_a_link_that_leads_out_is_not_followed(opened: Path, tmp_path: Path, make_source: Make, folder: Folder) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (opened / "linked.md").symlink_to(tmp_path / "secret.md")
    (opened / "inside.md").write_text("text")
    run = read(make_source("folder", path=str(opened)))
    assert set(paths(folder)) == {"inside.md"}
    assert run.problems == [{"what": "linked.md", "why": "linked.md cannot be read: it leads out of the folder."}]


@pytest.mark.parametrize("way", ["/etc", "{opened}/..", "{opened}/../other", "relative"])
def test_folders_that_the_operator_did_not_open_are_refused(opened: Path, make_source: Make, way: str) -> None:
    (opened.parent / "other").mkdir()
    source = make_source("folder", path=way.format(opened=opened))
    with pytest.raises(Unreadable, match="COPILOT_SOURCE_FOLDERS"):
        preview_source(source, secret="")


def test_a_document_of_somebody_with_the_same_name_is_left_alone(source: Source, folder: Folder) -> None:
    mine = make_document(folder, "rules.md", "mine")
    read(source)
    assert paths(folder) == {
        "guide/start.md": "# Start\n\nBegin here.",
        "rules.md": "mine",
        "rules (2).md": "# Rules\n\nOne rule.",
    }
    assert item_of(source, "rules.md").document != mine


def test_a_document_that_was_moved_here_stays_where_it_lies(
    source: Source, opened: Path, base: object, folder: Folder
) -> None:
    from knowledge.services.originals import place_document
    from tests.factories import make_folder

    read(source)
    elsewhere = make_folder(folder, "Elsewhere")
    document = item_of(source, "rules.md").document
    assert document is not None
    place_document(None, document, elsewhere, "rules.md")
    (opened / "rules.md").write_text("new")
    assert counts(read(source)) == {"changed": 1, "unchanged": 1}
    assert paths(folder)["Elsewhere/rules.md"] == "new"


def test_two_runs_never_overlap(source: Source) -> None:
    held = start_source_run(source, Trigger.HAND)
    assert held is not None
    assert read_source(source.pk, Trigger.SCHEDULE) is None
    with time_machine.travel(timezone.now() + timedelta(hours=1)):  # its worker is dead
        assert counts(read(source)) == {"added": 2}
    held.refresh_from_db()
    assert held.state == SourceRunState.FAILED
    with pytest.raises(SourceLeaseLost):
        store_run_progress(held)


def test_a_run_whose_process_was_killed_is_begun_again_at_once_and_after_the_second_time_later(
    source: Source, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        ended = find_process_name(process.pid)

    def queued() -> int:
        with django_capture_on_commit_callbacks() as callbacks:
            run_due_sources()
        return len(callbacks)

    assert start_source_run(source, Trigger.HAND) is not None
    assert (start_source_run(source, Trigger.HAND), queued()) == (None, 0), "its process lives"
    SourceRun.objects.update(lease_holder=ended)
    assert queued() == 1
    assert start_source_run(source, Trigger.SCHEDULE) is not None
    SourceRun.objects.update(lease_holder=ended)
    Source.unscoped.update(every_minutes=Every.HOUR)
    assert queued() == 0, "what kills its worker every time waits"
    assert [run.state for run in SourceRun.objects.all()] == [SourceRunState.FAILED] * 2
    assert Source.unscoped.filter(next_at__gt=timezone.now() + timedelta(minutes=5)).exists()


def test_a_run_that_was_overtaken_writes_nothing_more(
    source: Source, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knowledge.sources.connectors.folder import FolderConnector

    real = FolderConnector.fetch

    def overtaken(self: FolderConnector, item: object) -> object:
        SourceRun.objects.filter(source=source, state=SourceRunState.RUNNING).update(state=SourceRunState.FAILED)
        return real(self, item)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderConnector, "fetch", overtaken)
    read_source(source.pk, Trigger.HAND)
    assert paths(folder) == {}


def test_a_run_keeps_its_lease_while_it_asks(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start_source_run(source, Trigger.HAND)
    assert run is not None
    asked: list[int] = []
    pace = build_leased_pace(run, lambda: asked.append(1))
    at = timezone.now()
    SourceRun.objects.update(lease_expires_at=at)
    pace()
    assert SourceRun.objects.get().lease_expires_at == at
    monkeypatch.setattr(runs, "KEEP_S", -1)
    pace()
    assert SourceRun.objects.filter(lease_expires_at__gt=at + timedelta(minutes=10)).exists()
    SourceRun.objects.update(state=SourceRunState.FAILED)
    with pytest.raises(SourceLeaseLost):
        pace()
    assert len(asked) == 3


def test_one_folder_is_filled_by_one_source(source: Source, folder: Folder) -> None:
    with pytest.raises(Conflict, match="Another source"):
        save_source(None, Source(name="second", folder=folder, kind="folder", settings=source.settings))


@pytest.mark.parametrize("settings", [{}, {"path": 3}, {"path": "/a", "unknown": 1}])
def test_settings_that_no_form_would_send_are_refused(folder: Folder, settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        save_source(None, Source(name="new", folder=folder, kind="folder", settings=settings))


def test_a_name_that_cannot_be_stored_costs_itself_alone(source: Source, opened: Path, folder: Folder) -> None:
    (Path(os.fsdecode(os.fsencode(opened) + b"/caf\xe9.md"))).write_text("text")
    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.PARTIAL, {"added": 2, "failed": 1})
    assert run.problems == [
        {"what": "caf?.md", "why": "Its name has characters that cannot be stored: rename it there."}
    ]
    assert set(paths(folder)) == {"guide/start.md", "rules.md"}


def test_what_is_not_stored_after_all_leaves_no_file_and_costs_itself_alone(
    source: Source, folder: Folder, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    from knowledge.sources.connectors.folder import FolderConnector

    settings.MEDIA_ROOT = tmp_path / "files"  # other workers store theirs in the usual one

    real = FolderConnector.fetch

    def fetch(self: FolderConnector, item: ListedItem) -> ItemContent:
        found = real(self, item)
        return (
            replace(found, sections=(("a\x00b", "anchor"),)) if item.id == "rules.md" else found
        )  # the database keeps no NUL

    monkeypatch.setattr(FolderConnector, "fetch", fetch)

    def stored() -> set[Path]:
        return {entry for entry in Path(settings.MEDIA_ROOT).rglob("*") if entry.is_file()}

    run = read(source)
    assert (run.state, counts(run)) == (SourceRunState.PARTIAL, {"added": 1, "failed": 1})
    assert set(paths(folder)) == {"guide/start.md"}
    assert len(stored()) == 1


# --- Sources of this machine do not leave the folders that the operator opened, and a file that is none does not
# hold them ---


def test_a_named_pipe_in_a_folder_costs_itself_alone(opened: Path, make_source: Make, folder: Folder) -> None:
    os.mkfifo(opened / "pipe.md")
    (opened / "page.md").write_text("text")
    run = read(make_source("folder", path=str(opened)))
    assert (run.state, counts(run)) == (SourceRunState.PARTIAL, {"added": 1, "failed": 1})
    assert run.problems == [{"what": "pipe.md", "why": "pipe.md cannot be read: it is not a regular file."}]


def test_a_pipe_in_place_of_the_rules_brings_nothing(opened: Path, make_source: Make, folder: Folder) -> None:
    (opened / "page.md").write_text("text")
    os.mkfifo(opened / ".rights.yaml")
    source = make_source("folder", path=str(opened))
    Source.unscoped.update(takes_rights=True)
    run = read(source)
    assert (run.state, paths(folder)) == (SourceRunState.FAILED, {})
    assert "it is not a regular file" in run.problem


def test_a_skill_takes_nothing_from_outside_its_folder(tmp_path: Path) -> None:
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: report\ndescription: Writes reports.\n---\nDo it.")
    assert read_package_folder(skill).name == "report"
    (tmp_path / "secret").write_text("secret")
    (skill / "secret.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidInput, match="leads out of the folder"):
        read_package_folder(skill)
    (skill / "secret.txt").unlink()
    os.mkfifo(skill / "pipe.txt")
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_package_folder(skill)
