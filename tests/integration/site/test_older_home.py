"""A database whose migrations this version does not know is left as it is."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from copilot_site import backup, doctor
from copilot_site.database_version import find_version_conflict, is_upgraded, read_last_version
from copilot_site.home import Home
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.version import VERSION
from copilot_site.management.commands.up import Command

OLDER = ("agent", "0027_profiles_are_called_assistants")


@pytest.mark.django_db
def test_migrate_refuses_a_database_of_another_version_and_names_the_commit_that_opens_it() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied(*OLDER)
    recorder.record_unapplied("authz", "0002_rights_on_folders")  # what Django would try, and fail at
    with pytest.raises(CommandError, match=r"agent\.0027_profiles_are_called_assistants.*14b9081a"):
        call_command("migrate", verbosity=0, interactive=False)
    assert ("authz", "0002_rights_on_folders") not in recorder.applied_migrations()
    found = doctor.check_migrations()
    assert (found.ok, "14b9081a" in found.detail, "migrate" in found.mend) == (False, True, False)


@pytest.mark.django_db
def test_migrations_of_libraries_that_are_not_known_any_more_are_no_reason() -> None:
    MigrationRecorder(connection).record_applied("account", "0099_of_a_newer_library")
    call_command("migrate", verbosity=0, interactive=False)
    assert doctor.check_migrations().ok


NEWER = "99.0.0"


def last_opened_by(version: str | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("COMMENT ON TABLE django_migrations IS %s", [version])


def upgrade(*, no_backup: bool) -> str:
    said = StringIO()
    Command(stdout=said).upgrade(no_backup=no_backup)
    return said.getvalue()


@pytest.fixture
def backups(tmp_path: Path, settings: LazySettings) -> Path:
    """The folder of backups of a home of its own."""
    settings.HOME = Home(tmp_path)
    settings.AUDIT_KEYS, settings.AUDIT_CHECKPOINTS = tmp_path / "keys", tmp_path / "checkpoints"
    return tmp_path / "backups"


@pytest.mark.django_db
def test_migrate_leaves_the_version_in_the_database() -> None:
    last_opened_by(None)
    call_command("migrate", "authz", verbosity=0, interactive=False)
    assert read_last_version() == "", "one app is not all"
    call_command("migrate", verbosity=0, interactive=False)
    assert read_last_version() == VERSION


@pytest.mark.django_db
@pytest.mark.parametrize("older", [None, "1.0.0b2", VERSION])
def test_what_an_older_version_left_is_opened(older: str | None) -> None:
    last_opened_by(older)
    assert find_version_conflict() == ""


@pytest.mark.django_db
def test_a_newer_home_is_refused_in_one_sentence_and_left_as_it_is(backups: Path) -> None:
    last_opened_by(NEWER)
    with pytest.raises(CommandError, match=f"opened by version {NEWER}, and this is {VERSION}: ") as refused:
        call_command("migrate", verbosity=0, interactive=False)
    assert "\n" not in str(refused.value)
    with pytest.raises(CommandError, match=NEWER):
        upgrade(no_backup=False)
    assert not doctor.check_migrations().ok
    assert (read_last_version(), backups.exists()) == (NEWER, False)


@pytest.mark.django_db
def test_up_backs_an_older_home_up_once_before_its_upgrade(backups: Path) -> None:
    last_opened_by("1.0.0b2")
    assert "Backup" not in upgrade(no_backup=True), "it is told to leave it out"
    assert not backups.exists()
    last_opened_by("1.0.0b2")
    assert "Backup before the upgrade" in upgrade(no_backup=False)
    folder, keys = sorted(backups.iterdir())
    assert keys.name == f"{folder.name}-keys"
    assert json.loads((folder / backup.MANIFEST).read_text())["version"] == VERSION
    assert read_last_version() == VERSION
    assert not is_upgraded(), "there is nothing to back up any more"
    last_opened_by(None)
    assert "Backup" not in upgrade(no_backup=False), "a start that failed after its backup makes no second one"
    assert sorted(backups.iterdir()) == [folder, keys]


def test_a_backup_of_a_newer_version_is_not_restored(tmp_path: Path) -> None:
    made = backup.BackupManifest("", "copilot", [], [], "", is_signed=False, version=NEWER)
    (tmp_path / backup.MANIFEST).write_text(json.dumps(vars(made)))
    with pytest.raises(InvalidInput, match=f"was made by version {NEWER}, and this is {VERSION}"):
        next(backup.restore_backup(tmp_path, tmp_path))
