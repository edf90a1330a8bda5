"""Remove orphaned sandboxes: roles and schemas made for rights that no person has any more."""

from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress

import psycopg
import structlog
from django.contrib.auth.models import User

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from business.connections.address import Address
from business.connections.postgres_session import SourceUnavailable, connect_to_source
from business.execute import Access
from business.models import DataSource, SourceEngine
from business.sandbox.setup import LOCK, set_up_own_server
from business.sandbox.sql_views import NAMES, build_sandbox_name, drop_sandbox
from business.sources.services import open_sources
from copilot_site.lib.errors import InvalidInput

log = structlog.get_logger(__name__)

# Roles of dropped databases: no object depends on them. A sandbox being built is uncommitted, so not seen.
_ORPHANS = """
SELECT rolname FROM pg_roles r
WHERE rolname ~ %s
  AND NOT EXISTS (SELECT 1 FROM pg_shdepend d WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = r.oid)
  AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.usesysid = r.oid)
"""


def sweep_sandboxes() -> None:
    """Remove every sandbox, in every source's database that answers, that no active person's current rights use."""
    living, done = find_sandboxes_in_use(), set[Address]()
    for source in DataSource.unscoped.filter(document=None, engine=SourceEngine.POSTGRESQL):
        try:
            address = source.address
            if address in done:
                continue
            done.add(address)
            gone = _drop_unused_sandboxes(address, living[address])
        except (SourceUnavailable, InvalidInput) as error:
            log.warning("sandboxes.unreached", source=source.name, why=str(error))
            continue
        if gone:
            record_action(None, Action.SANDBOXES_REMOVED, source, detail={"walls": gone})


def find_sandboxes_in_use() -> defaultdict[Address, set[str]]:
    """Return the names of the sandboxes that somebody could use now, by database."""
    names: defaultdict[Address, set[str]] = defaultdict(set)
    for user in User.objects.filter(is_active=True).iterator():
        for opened in open_sources(Principal.of(user)):
            if isinstance(opened.access, Access):
                names[opened.access.admin].add(build_sandbox_name(opened.access.admin, opened.access.policy))
    return names


def _drop_unused_sandboxes(admin: Address, living: Collection[str]) -> int:
    """Remove this database's sandboxes that are not in use, and roles left over from dropped databases.

    A sandbox with a running query stays until the next time. Returns the number removed. Raises SourceUnavailable.
    """
    removed = 0
    with connect_to_source(admin) as connection:
        connection.autocommit = True
        connection.execute("SET lock_timeout = '2s'")
        set_up_own_server(connection)
        schemas = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ %s", [NAMES])
        dead = {name for (name,) in schemas} - set(living)
        for name in sorted(dead):
            removed += _drop_sandbox(connection, name)
        for (role,) in connection.execute(_ORPHANS, [NAMES]).fetchall():
            with suppress(psycopg.errors.InternalError_):  # another process is removing it
                connection.execute("SELECT copilot_walls.drop_role(%s)", [role])
                removed += 1
    return removed


def _drop_sandbox(connection: psycopg.Connection, name: str) -> int:
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            drop_sandbox(connection, name)
    except psycopg.errors.LockNotAvailable:
        return 0
    return 1
