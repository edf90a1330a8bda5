"""The page about backup and restore, run as it is written: what comes back is whole, answers alike, and its audit log can show it."""

import json
import os
import re
import stat
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection

from audit.chain.checkpoints import sign_checkpoint
from audit.chain.keys import ensure_signing_key
from copilot_site import backup
from copilot_site.lib.errors import InvalidInput
from tests.embedders import home_with_model
from tests.factories import make_base, make_document
from tests.homes import ROOT, Checkout
from tests.integration.site.backed_up import LINE

PAGE = ROOT / "docs" / "how-to" / "backup-and-restore.md"
RELEASED = sorted((ROOT / "tests" / "released").glob("*.tar.gz"))  # by scripts/keep_state.py
FILLED = "from tests.integration.site.backed_up import {0}; {0}()"
FOLDER, KEYS = "/backup/2026-11-28", "/keys/2026-11-28"


def commands(heading: str) -> str:
    """The first shell commands under a heading of the page, without the last start."""
    found = re.search(rf"## {heading}\n.*?```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return "".join(line for line in found[1].splitlines(keepends=True) if not line.rstrip().endswith("manage.py up"))


def run(script: str, checkout: Checkout, folders: dict[str, Path]) -> subprocess.CompletedProcess[str]:
    """A script in a home, its folders moved to a test's own, as a user whose files others may read."""
    for name, folder in (folders | {".venv/bin/python": Path(sys.executable)}).items():
        script = script.replace(name, str(folder))
    return subprocess.run(
        ["bash", "-e", "-c", f"umask 022\n{script}"],
        cwd=ROOT, env=checkout.environment(), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def found_by(checkout: Checkout, function: str) -> dict[str, Any]:
    done = checkout.manage("shell", "-c", FILLED.format(function), timeout_s=600)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.split("FOUND ", 1)[1])
    return found


@dataclass(frozen=True)
class BackedUp:
    folder: Path
    keys: Path
    key: str
    found: dict[str, Any]


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> BackedUp:
    """A backup of a system whose log was signed, made while it ran."""
    folder = tmp_path_factory.mktemp("backup")
    source = home_with_model(folder / "home")
    with source.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
        assert source.manage("migrate", timeout_s=600).returncode == 0
        key = source.manage("audit_key").stdout.strip()
        found = found_by(source, "fill")
        done = run(commands("Back up"), source, {"/backup": folder / "backup", "/keys": folder / "keys"})
        assert done.returncode == 0, done.stderr
    return BackedUp(folder / "backup" / "2026-11-28", folder / "keys" / "2026-11-28", key, found)


def restored(taken: Path, keys: Path, root: Path) -> tuple[Checkout, subprocess.CompletedProcess[str]]:
    """A home made from a backup by the commands of the page."""
    checkout = home_with_model(root)
    folders = {FOLDER: taken, KEYS: keys, "/srv/copilot-restored": root}
    return checkout, run(commands("Restore into an empty home"), checkout, folders)


def test_the_backup_of_a_whole_system_is_readable_by_its_owner_only(backed_up: BackedUp) -> None:
    found = [backed_up.folder, *backed_up.folder.rglob("*"), backed_up.keys, *backed_up.keys.rglob("*")]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in found}
    assert modes == {(True, 0o700), (False, 0o600)}
    dumps = sorted(path.name for path in (backed_up.folder / "databases").iterdir())
    assert dumps == ["copilot.dump", "copilot_demo_data.dump"]
    private = {path.name for path in backed_up.keys.rglob("*.pem")}
    assert private
    assert not private & {path.name for path in backed_up.folder.rglob("*")}  # a backup alone forges no log


def test_a_restored_system_answers_as_before_and_its_log_verifies(backed_up: BackedUp, tmp_path: Path) -> None:
    assert re.match("[1-9]", backed_up.found["business"])  # of rows that it read
    assert LINE in backed_up.found["documents"]
    checkout, done = restored(backed_up.folder, backed_up.keys, tmp_path / "restored")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Every hash and every signature is right." in done.stdout
    with checkout.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
        assert found_by(checkout, "find") == backed_up.found
        assert checkout.manage("audit_key").stdout.strip() == backed_up.key
        again = checkout.manage("restore", str(backed_up.folder), "--keys", str(backed_up.keys))
    assert (again.returncode, "is not empty" in again.stderr) == (1, True), again.stderr
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in checkout.home.files.rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.parametrize("archive", RELEASED, ids=lambda path: path.name.removesuffix(".tar.gz"))
def test_a_system_of_each_released_version_is_upgraded_with_its_data(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    state = tmp_path / archive.name.removesuffix(".tar.gz")
    before = json.loads((state / "found.json").read_text())
    checkout, done = restored(state / "backup", state / "keys", tmp_path / "restored")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Every hash and every signature is right." in done.stdout
    with checkout.started("up", "--services-only", until="PostgreSQL and Valkey answer."):
        assert checkout.manage("check_consistency").returncode == 0
        after = found_by(checkout, "find")
    rights = [
        {name: titles for name, titles in found.items() if name.startswith("read by")} for found in (before, after)
    ]
    assert rights[0] == rights[1]
    assert any(rights[0].values())
    assert LINE in after["documents"]
    assert re.match("[1-9]", after["business"])


def test_a_restore_without_the_keys_of_the_log_is_refused_or_says_that_it_is_bad(
    backed_up: BackedUp, tmp_path: Path
) -> None:
    """The control: it is this folder that the log needs."""
    lost = tmp_path / "lost"
    checkout, done = restored(backed_up.folder, lost, tmp_path / "restored")
    assert (done.returncode, "name the folder of the backup's keys" in done.stderr) == (1, True), done.stderr
    (lost / "keys").mkdir(parents=True)
    done = checkout.manage("restore", str(backed_up.folder), "--keys", str(lost), timeout_s=600)
    assert (done.returncode, "First bad sequence number" in done.stderr) == (1, True), done.stderr


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Path:
    """A pg_dump that writes down what every user of the machine can read of it, and fails where it says so."""
    settings.AUDIT_KEYS, settings.AUDIT_CHECKPOINTS = tmp_path / "keys", tmp_path / "checkpoints"
    path = tmp_path / "pg_dump"
    path.write_text(
        '#!/bin/sh\necho "$@" > "$0.words"\necho "$PGPASSWORD" > "$0.password"\necho first >&2\necho no room >&2\nexit 1\n'
    )
    path.chmod(0o700)
    monkeypatch.setattr(backup, "find_binary", lambda _name: path)
    return path


@pytest.mark.django_db
def test_a_backup_is_readable_by_its_owner_only(tmp_path: Path, settings: LazySettings) -> None:
    settings.AUDIT_KEYS, settings.AUDIT_CHECKPOINTS = tmp_path / "keys", tmp_path / "checkpoints"
    settings.AUDIT_KEYS.mkdir(mode=0o755)
    (settings.AUDIT_KEYS / "kept.pem").touch(mode=0o644)
    before = os.umask(0o022)
    try:
        list(backup.create_backup(tmp_path / "backup", tmp_path / "apart"))
    finally:
        os.umask(before)
    places = [path for name in ("backup", "apart") for path in (tmp_path / name, *(tmp_path / name).rglob("*"))]
    found = {str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode) for path in places}
    assert set(found.values()) == {0o700, 0o600}, found
    dump = f"backup/databases/{connection.settings_dict['NAME']}.dump"
    assert {dump, "apart/keys/kept.pem", f"backup/{backup.MANIFEST}"} <= found.keys()


@pytest.mark.django_db
@pytest.mark.parametrize("missing", ["files", "keys"])
def test_a_backup_in_the_home_of_another_database_is_refused_in_one_sentence(
    tmp_path: Path, settings: LazySettings, missing: str
) -> None:
    """A shell without the system's COPILOT_HOME: nothing would be in it but the database."""
    settings.AUDIT_KEYS, settings.AUDIT_CHECKPOINTS = tmp_path / "keys", tmp_path / "checkpoints"
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # links audit entries, as a commit does
    ensure_signing_key()
    make_document(make_base())
    sign_checkpoint()
    if missing == "files":
        settings.MEDIA_ROOT = tmp_path / "elsewhere"
    else:
        settings.AUDIT_KEYS = tmp_path / "elsewhere"
    with pytest.raises(InvalidInput, match=r"set COPILOT_HOME \(now .*\)") as refused:
        list(backup.create_backup(tmp_path / "backup", tmp_path / "apart"))
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "backup").exists()


def test_files_of_an_earlier_backup_are_shared_and_changed_ones_are_not(tmp_path: Path) -> None:
    source, first, second = (tmp_path / name for name in ("files", "first", "second"))
    source.mkdir()
    for name in ("kept", "other", "deleted"):
        (source / name).write_text(name)
    assert backup._copy_folder(source, first) == (3, 0)
    (source / "other").write_text("OTHER")  # as long as before
    (source / "deleted").unlink()
    (source / "added").write_text("added")
    assert backup._copy_folder(source, second, first) == (2, 1)
    assert {path.name: path.read_text() for path in second.iterdir()} == {
        "kept": "kept",
        "other": "OTHER",
        "added": "added",
    }
    assert (second / "kept").samefile(first / "kept")
    assert (first / "other").read_text() == "other"


@pytest.mark.django_db
def test_the_password_is_in_no_argument_and_a_failed_backup_leaves_nothing(program: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    with pytest.raises(InvalidInput, match=r"pg_dump of .* failed: no room"):
        list(backup.create_backup(tmp_path / "backup", tmp_path / "apart"))
    password = str(connection.settings_dict["PASSWORD"])
    assert program.with_name("pg_dump.password").read_text().strip() == password
    assert password not in program.with_name("pg_dump.words").read_text()
    assert not (tmp_path / "backup").exists()
    assert not (tmp_path / "apart").exists()
    assert os.umask(before) == before


@pytest.mark.django_db
def test_a_folder_that_is_no_backup_or_of_another_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no whole backup"):
        list(backup.restore_backup(tmp_path, tmp_path))
    (tmp_path / "x").touch()
    for folders in ((tmp_path, tmp_path.parent / "keys"), (tmp_path.with_name("new"), tmp_path)):
        with pytest.raises(InvalidInput, match="is not empty"):
            list(backup.create_backup(*folders))
    made = backup.BackupManifest("", "copilot", [], [], backup._compute_fingerprint("another"), is_signed=False)
    with pytest.raises(InvalidInput, match="Set COPILOT_SECRET_KEY to that of the system"):
        backup._read_secret_key(tmp_path, made)


@pytest.mark.parametrize(
    ("folder", "keys"),
    [("new", "new/keys"), ("keys/new", "keys"), ("new", "new"), ("linked/new", "keys"), ("new", "new/../new/keys")],
)
def test_a_backup_and_its_keys_lie_apart(tmp_path: Path, folder: str, keys: str) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "keys")
    with pytest.raises(InvalidInput, match=r"^.* keep the keys apart\.$"):
        list(backup.create_backup(tmp_path / folder, tmp_path / keys))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys", "linked"]
    assert not any((tmp_path / "keys").iterdir())
