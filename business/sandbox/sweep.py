"""Taking down sandboxes that nobody stands behind: roles and schemas made for rights that no person has any more."""

from collections.abc import Collection
from contextlib import suppress

import psycopg

from business.address import Address
from business.postgres_session import connected
from business.sandbox.hardening import LOCK
from business.sandbox.setup import set_up_own
from business.sandbox.sql_views import NAMES, drop

# Roles of databases that are gone: nothing in any database depends on them. A sandbox being built is not committed, so not seen.
_ORPHANS = """
SELECT rolname FROM pg_roles r
WHERE rolname ~ %s
  AND NOT EXISTS (SELECT 1 FROM pg_shdepend d WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = r.oid)
  AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.usesysid = r.oid)
"""


def sweep(admin: Address, living: Collection[str]) -> int:
    """Remove the sandboxes of this database that are not among the living, and roles that are left of databases that are gone.

    A sandbox that somebody is asking through right now stays until the next time. Returns how many went. Raises SourceUnavailable.
    """
    removed = 0
    with connected(admin) as connection:
        connection.autocommit = True
        connection.execute("SET lock_timeout = '2s'")
        set_up_own(connection)
        schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ %s", [NAMES])
        dead = {name for (name,) in schemas} - set(living)
        for name in sorted(dead):
            removed += _take_down(connection, name)
        for (role,) in connection.execute(_ORPHANS, [NAMES]).fetchall():
            with suppress(psycopg.errors.InternalError_):  # another process removes it at this moment
                connection.execute("SELECT copilot_walls.drop_role(%s)", [role])
                removed += 1
    return removed


def _take_down(connection: psycopg.Connection, name: str) -> int:
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            drop(connection, name)
    except psycopg.errors.LockNotAvailable:
        return 0
    return 1
