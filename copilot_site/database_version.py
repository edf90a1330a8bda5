"""The migrations of a database, and the check for one made by another version."""

from functools import cache

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from packaging.version import Version

from copilot_site.lib.version import VERSION

OURS = {"agent", "audit", "authz", "business", "knowledge"}  # apps whose tables are made here
LAST_OF_OLDER = "14b9081a"  # the commit before the migrations became one for each app


def find_version_conflict(using: BaseDatabaseWrapper | None = None) -> str:
    """Return why this version must not touch the database, in one sentence; "" if it is as old as this one or older."""
    last = read_last_version(using)
    if last and Version(last) > Version(VERSION):
        return (
            f"The database was opened by version {last}, and this is {VERSION}: install {last} or newer, or restore the backup "
            "from before that upgrade."
        )
    unknown = sorted(key for key in read_applied_migrations(using) - list_known_migrations() if key[0] in OURS)
    if not unknown:
        return ""
    return (
        f"The database was made by another version (this one does not know {'.'.join(unknown[0])}): the last commit that opens "
        f"databases with the older migrations is {LAST_OF_OLDER}."
    )


def read_last_version(using: BaseDatabaseWrapper | None = None) -> str:
    """Return the version whose migrations ran last; "" where none has left its name. It is in every dump of the database."""
    with (using or connection).cursor() as cursor:
        cursor.execute("SELECT obj_description(to_regclass('django_migrations'))")
        return cursor.fetchone()[0] or ""


def write_version() -> None:
    """Write this version into the database. Needs the owner of its tables."""
    if read_last_version() != VERSION:
        with connection.cursor() as cursor:
            cursor.execute("COMMENT ON TABLE django_migrations IS %s", [VERSION])


def is_upgraded() -> bool:
    """Tell whether the database has tables that another version left."""
    return read_last_version() != VERSION and any(app in OURS for app, _name in read_applied_migrations(None))


def read_applied_migrations(using: BaseDatabaseWrapper | None) -> set[tuple[str, str]]:
    return set(MigrationRecorder(using or connection).applied_migrations())


@cache
def list_known_migrations() -> frozenset[tuple[str, str]]:
    """Return app and name of each migration; read once, since `/readyz` asks every few seconds."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)
