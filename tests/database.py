"""The database of the tests: migrated once, kept on disk under a hash of its migrations, cloned for each process.

A cluster that holds the migrated database `TEMPLATE` lies in `.copilot-tests/cluster-<hash>`. Each run copies the folder; each
worker clones `TEMPLATE` inside its run's server, which takes 0.2 s where the migrations take 9 to 12.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from copilot_site.embedded import services
from copilot_site.home import Home

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".copilot-tests"
TEMPLATE = "migrated"
BEGUN_WITH = {"django_migrations", "django_content_type", "auth_permission"}  # tables with rows in a migrated database
# What a migrated database is made of: its migrations, what runs after them, and the programs that run both.
SOURCES = (
    "*/migrations/*",
    "audit/chain/db_owner.py",
    "copilot_site/embedded/*.py",
    "copilot_site/database.py",
    "requirements/base.txt",
)


def copy_cluster(home: Home) -> None:
    """Put a cluster with the migrated template into an empty home; migrate first where none is kept for today's sources."""
    with _locked():
        kept = KEPT / f"cluster-{_hash_of_sources()}"
        if not kept.exists():
            for old in KEPT.glob("cluster-*"):
                shutil.rmtree(old)
            _migrate(kept)
        for name in ("postgres", "secrets.json"):
            subprocess.run(["cp", "-a", "--reflink=auto", str(kept / name), str(home.root)], check=True)


def clone_template() -> None:
    """Create the database of this process from the template, and have Django use it. Django is set up and connected to nothing."""
    from django.db import connection

    name = connection.creation._get_test_db_name()  # type: ignore[attr-defined]  # as pytest-django names it, by worker
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE {TEMPLATE}')
    connection.close()
    connection.settings_dict["NAME"] = name


def empty_tables() -> None:
    """Delete all rows but those a migrated database begins with. Replaces Django's flush, which truncates every table.

    Triggers are off meanwhile, those of foreign keys and those by which the audit log refuses changes alike.
    """
    from django.db import connection, transaction

    tables = [
        name for name in connection.introspection.django_table_names(only_existing=True) if name not in BEGUN_WITH
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        filled = " UNION ALL ".join(f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)" for name in tables)
        cursor.execute(filled)
        for (name,) in cursor.fetchall():
            cursor.execute(f'DELETE FROM "{name}"')


def _hash_of_sources() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(
        path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".pyc"
    ):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _migrate(kept: Path) -> None:
    root = Path(tempfile.mkdtemp(prefix="building-", dir=KEPT))
    try:
        with services.hold_services(Home(root), want_valkey=False, durable=False) as found:
            ours = services.build_service_urls(Home(root), found)["DATABASE_URL"]
            _run(ours, f"CREATE DATABASE {TEMPLATE}")
            address = ours.rsplit("/", 1)[0] + f"/{TEMPLATE}"
            nowhere = {"REDIS_URL": "redis://127.0.0.1:1/0", "COPILOT_HOME": str(root)}
            command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"]
            subprocess.run(command, env=os.environ | nowhere | {"DATABASE_URL": address}, check=True)
        root.rename(kept)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _run(address: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)


@contextmanager
def _locked() -> Iterator[None]:
    """Only one process builds or copies at a time."""
    KEPT.mkdir(exist_ok=True)
    with (KEPT / "cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
