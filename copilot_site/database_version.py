"""The migrations of a database, and the check for one made by another version."""

from functools import cache

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OURS = {"agent", "audit", "authz", "business", "knowledge"}  # apps whose tables are made here
LAST_OF_OLDER = "14b9081a"  # the commit before the migrations became one for each app


def of_another_version(using: BaseDatabaseWrapper | None = None) -> str:
    """Return why this version must not touch the database, in one sentence; "" if its migrations are known."""
    unknown = sorted(key for key in applied(using) - known_migrations() if key[0] in OURS)
    if not unknown:
        return ""
    return (
        f"The database was made by another version (this one does not know {'.'.join(unknown[0])}): the last commit that opens "
        f"databases with the older migrations is {LAST_OF_OLDER}."
    )


def applied(using: BaseDatabaseWrapper | None) -> set[tuple[str, str]]:
    return set(MigrationRecorder(using or connection).applied_migrations())


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return app and name of each migration; read once, since `/readyz` asks every few seconds."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)
