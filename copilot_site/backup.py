"""Back up everything the product keeps into two folders that only their owner can read, and restore a system from them.

The backup:
databases/NAME.dump   by pg_dump: the product's own database, and those that it made for embedded data sources
files/                uploaded files; those of an earlier backup in a folder beside this one are hard links to it
secrets.json          what signs sessions and seals stored passwords, where no setting names it
backup.json           written last: without it a backup is not whole

The keys, apart from it, so that whoever holds the backup cannot write an audit log of their own:
keys/, checkpoints/   of the audit log
"""

import hashlib
import hmac
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import ProgrammingError, connection
from django.utils import timezone
from packaging.version import Version
from psycopg import pq, sql
from psycopg.conninfo import make_conninfo

from audit.chain.checkpoints import sign_checkpoint
from audit.chain.db_owner import use_owner_role
from audit.chain.keys import list_trusted_keys
from audit.models import Checkpoint
from business.sources.checks import embedded_databases
from copilot_site.config import load_config
from copilot_site.consistency import are_all_files_lost
from copilot_site.embedded.postgres import find_binary
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.version import VERSION

MANIFEST = "backup.json"
SANDBOXES = "copilot_wall_*"  # schemas of roles that come and go: they are made again by the next question
KEY = "secret_key"
ROLES = """
SELECT DISTINCT rolname FROM pg_shdepend JOIN pg_roles ON pg_roles.oid = refobjid
WHERE refclassid = 'pg_authid'::regclass AND dbid IN (SELECT oid FROM pg_database WHERE datname = ANY(%s))
  AND rolname !~ '^(pg_|copilot_wall_)'
ORDER BY rolname
"""


@dataclass(frozen=True)
class BackupManifest:
    """The content of a backup.

    database: the product's own. roles: named by rights in the dumps. secret_key: its fingerprint. version: of the product.
    """

    made_at: str
    database: str
    sources: list[str]
    roles: list[str]
    secret_key: str
    is_signed: bool
    version: str = ""


def create_backup(folder: Path, keys: Path) -> Iterator[str]:
    """Make a backup in two new folders, while the system runs; yield the steps done. Raises InvalidInput.

    The order is what makes it whole: a checkpoint newer than the dump would say that entries are missing, and a row without its file
    is lost, but not a file without its row.
    """
    one, other = folder.resolve(), keys.resolve()
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise InvalidInput(f"{folder} and {keys} are one folder, or one holds the other: keep the keys apart.")
    for place in (folder, keys):
        require_unused_folder(place)
    with use_private_file_mode(), use_owner_role():
        try:
            for place in (folder, keys):
                make_folder_private(place)
            yield from _write_backup(folder, keys)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(keys, ignore_errors=True)
            raise


def _write_backup(folder: Path, keys: Path) -> Iterator[str]:
    _refuse_home_of_another_database()
    try:
        sign_checkpoint()
    except (CopilotError, ProgrammingError) as error:  # the latter of tables that an older version left
        if list_trusted_keys():
            yield f"The audit log was not signed before: {str(error).splitlines()[0]}"
    for name, place in _list_audit_folders():
        _copy_folder(place, keys / name)
    own = connection.settings_dict["NAME"]
    names = [own, *sorted(embedded_databases() - {own})]
    with connection.cursor() as cursor:
        cursor.execute(ROLES, [names])
        roles = [role for (role,) in cursor.fetchall()]
    (folder / "databases").mkdir()
    for name in names:
        dump = _build_dump_path(folder, name)
        _run_program("pg_dump", name, "--format=custom", f"--exclude-schema={SANDBOXES}", f"--file={dump}")
        yield f"{dump}: {dump.stat().st_size / 1e6:.1f} MB"
    if bucket := load_config().s3_bucket:
        yield f"Uploaded files are in the bucket {bucket}, and not in this backup: keep its versions."
    else:
        earlier = _find_earlier_backup(folder)
        copied, linked = _copy_folder(settings.HOME.files, folder / "files", earlier / "files" if earlier else None)
        shared = f", {linked} of them shared with {earlier}" if earlier else ""
        yield f"{folder / 'files'}: {copied + linked} files{shared}"
    if not load_config().secret_key:
        (folder / "secrets.json").write_text(json.dumps({KEY: settings.SECRET_KEY}))
    made = BackupManifest(
        timezone.now().isoformat(),
        own,
        names[1:],
        roles,
        _compute_fingerprint(settings.SECRET_KEY),
        bool(list_trusted_keys()),
        VERSION,
    )
    (folder / MANIFEST).write_text(json.dumps(asdict(made), indent=1))


def _refuse_home_of_another_database() -> None:
    """Raise InvalidInput where none of the audit keys or files of the database are in this home: its backup would be empty."""
    has_no_key = Checkpoint.objects.exists() and not list_trusted_keys()
    if has_no_key or (not load_config().s3_bucket and are_all_files_lost()):
        place = settings.AUDIT_KEYS if has_no_key else settings.HOME.files
        raise InvalidInput(
            f"{place} holds nothing of what this database names: set COPILOT_HOME (now {settings.HOME.root}) as the system has it; "
            "where its audit keys are lost, run `manage.py audit_key --new` first."
        )


def _find_earlier_backup(folder: Path) -> Path | None:
    """Return the newest whole backup of this system in a folder beside this one."""
    found = []
    for kept in folder.resolve().parent.glob(f"*/{MANIFEST}"):
        with suppress(InvalidInput, OSError):
            manifest = _read_manifest(kept.parent)
            if manifest.secret_key == _compute_fingerprint(settings.SECRET_KEY):
                found.append((manifest.made_at, kept.parent))
    return max(found)[1] if found else None


def restore_backup(folder: Path, keys: Path) -> Iterator[str]:
    """Restore a backup to an empty home and empty databases; yield the steps done. Raises InvalidInput.

    The tables' owner and the application's rights are the work of `migrate`, which is to follow in a process of its own.
    """
    manifest = _read_manifest(folder)
    with use_private_file_mode(), use_owner_role():
        _refuse_existing_data(manifest)
        if manifest.is_signed and not (keys / "keys").is_dir():
            raise InvalidInput(
                f"{keys / 'keys'} is missing: name the folder of the backup's keys; the audit log cannot be verified without them."
            )
        secret = _read_secret_key(folder, manifest)
        with connection.cursor() as cursor:
            for role in manifest.roles:
                cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [role])
                if cursor.fetchone() is None:
                    cursor.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))
        how, own = ("--no-owner", "--exit-on-error"), connection.settings_dict["NAME"]
        for name in manifest.sources:
            _run_program("pg_restore", own, *how, "--create", str(_build_dump_path(folder, name)))
            yield f"Database {name}: restored"
        _run_program("pg_restore", own, *how, "--single-transaction", str(_build_dump_path(folder, manifest.database)))
        yield f"Database {own}: restored"
        yield f"Files: {_copy_folder(folder / 'files', settings.HOME.files)[0]} restored"
        for name, place in _list_audit_folders():
            _copy_folder(keys / name, place)
        if secret:
            settings.HOME.keep_secret(KEY, secret)


def _read_manifest(folder: Path) -> BackupManifest:
    try:
        manifest = BackupManifest(**json.loads((folder / MANIFEST).read_text()))
    except (FileNotFoundError, ValueError, TypeError) as error:
        raise InvalidInput(f"{folder} holds no whole backup: {MANIFEST} is missing or cannot be read.") from error
    if manifest.version and Version(manifest.version) > Version(VERSION):
        raise InvalidInput(
            f"{folder} was made by version {manifest.version}, and this is {VERSION}: restore it with that version."
        )
    return manifest


def _refuse_existing_data(manifest: BackupManifest) -> None:
    """Refuse to overwrite anything. Raises InvalidInput."""
    for place in (settings.HOME.files, *(place for _name, place in _list_audit_folders())):
        if place.is_dir() and any(place.iterdir()):
            raise InvalidInput(f"{place} is not empty: a backup is restored into an empty home.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'")
        if cursor.fetchone()[0]:
            raise InvalidInput("The database has tables: a backup is restored into an empty one.")
        cursor.execute("SELECT datname FROM pg_database WHERE datname = ANY(%s)", [manifest.sources])
        if found := cursor.fetchone():
            raise InvalidInput(f"The database {found[0]} is there: drop it, or choose another server.")


def _read_secret_key(folder: Path, manifest: BackupManifest) -> str | None:
    """Return the key to keep in the home; None where a setting names it. Raises InvalidInput unless it is the backup's."""
    kept = folder / "secrets.json"
    given = load_config().secret_key
    key = given.get_secret_value() if given else json.loads(kept.read_text())[KEY] if kept.exists() else ""
    if not hmac.compare_digest(_compute_fingerprint(key), manifest.secret_key):
        raise InvalidInput("Set COPILOT_SECRET_KEY to that of the system of this backup: it seals stored passwords.")
    return None if given else key


def _compute_fingerprint(key: str) -> str:
    return hmac.new(key.encode(), b"copilot backup", hashlib.sha256).hexdigest()[:16]


def _list_audit_folders() -> tuple[tuple[str, Path], ...]:
    return ("keys", settings.AUDIT_KEYS), ("checkpoints", settings.AUDIT_CHECKPOINTS)


def _build_dump_path(folder: Path, name: str) -> Path:
    return folder / "databases" / f"{name.replace('/', '_')}.dump"


def _copy_folder(source: Path, target: Path, earlier: Path | None = None) -> tuple[int, int]:
    """Copy the files of a folder, which may be missing, with modes of our own; return how many were copied, and how many linked.

    A file that `earlier` has with the same size and time is linked instead: stored files are never changed, only deleted.
    """
    copied = linked = 0
    for path in sorted(source.rglob("*")) if source.is_dir() else ():
        if not path.is_file() or path.is_symlink():
            continue
        name, was = path.relative_to(source), path.stat()
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if earlier and _is_same_file(earlier / name, was):
            os.link(earlier / name, place)
            linked += 1
        else:
            shutil.copyfile(path, place)
            place.chmod(0o600)
            os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
            copied += 1
    return copied, linked


def _is_same_file(path: Path, was: os.stat_result) -> bool:
    try:
        kept = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(kept.st_mode) and (kept.st_size, kept.st_mtime_ns) == (was.st_size, was.st_mtime_ns)


def _run_program(name: str, database: str, *words: str) -> None:
    """Run pg_dump or pg_restore on a database of our server. The password is in its environment: every user reads arguments.

    Raises InvalidInput with its last line.
    """
    known = {default.keyword.decode() for default in pq.Conninfo.get_defaults()}
    params: dict[str, Any] = {key: value for key, value in connection.get_connection_params().items() if key in known}
    password = str(params.pop("password", ""))
    where = make_conninfo(**params | {"dbname": database})
    done = subprocess.run(
        [str(find_binary(name)), *words, f"--dbname={where}"],
        env=os.environ | {"PGPASSWORD": password},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InvalidInput(f"{name} of {database} failed: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}")


def require_unused_folder(folder: Path) -> None:
    """Raise InvalidInput unless the folder is new or empty."""
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} is not empty: name a new folder.")


def make_folder_private(folder: Path) -> None:
    """Create the folder, where it is missing, and let this user alone read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


@contextmanager
def use_private_file_mode() -> Iterator[None]:
    """Make new files readable by this user only while the block runs."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
