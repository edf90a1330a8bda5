"""The two roles of the database: the owner of the audit tables, and the application, which can only add to them.

The trigger that refuses changes can be disabled by the tables' owner; the application's role is not their owner and has no
UPDATE, DELETE or TRUNCATE on them, so it can neither.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.utils.translation import gettext as _
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from audit.chain.guards import TABLES
from copilot_site.lib.errors import InvalidInput, PermissionDenied

# Make the application own every table except the audit tables, so that it can build indexes and analyse.
OTHERS = """
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relname NOT LIKE 'audit\\_%%'
  AND pg_get_userbyid(c.relowner) <> %s
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i', 'a') AND d.classid = 'pg_class'::regclass)
ORDER BY c.relname
"""
# First of all the lock that a vacuum takes: at its end it waits for whoever is changing the table's rights, and whoever changes
# them and then the table's triggers would wait for it. Nobody who reads or adds entries waits.
ALLOWED = """
LOCK TABLE audit_entry, audit_link, audit_head, audit_checkpoint, audit_hold IN SHARE UPDATE EXCLUSIVE MODE;
GRANT USAGE, CREATE ON SCHEMA public TO {role};
REVOKE ALL ON audit_entry, audit_link, audit_head, audit_checkpoint, audit_hold, audit_shown FROM {role};
GRANT SELECT ON audit_entry, audit_link, audit_head, audit_checkpoint, audit_hold, audit_shown TO {role};
GRANT INSERT ON audit_entry, audit_checkpoint, audit_hold, audit_shown TO {role};
GRANT UPDATE (released_at) ON audit_hold TO {role};
GRANT USAGE ON SEQUENCE audit_entry_id_seq, audit_checkpoint_id_seq, audit_hold_id_seq TO {role};
"""
# For the current role: is it a superuser, and which audit tables could it change, now or as a role it may become?
POWERS = """
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), current_user, array(
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY(%s)
      AND (pg_has_role(current_user, relowner, 'MEMBER') OR has_table_privilege(oid, 'UPDATE, DELETE, TRUNCATE'))
    ORDER BY relname)
"""


def find_role_powers() -> tuple[str, str]:
    """Return the role that this process works under, and why it could change the audit log; "" where it may only add to it."""
    with connection.cursor() as cursor:
        cursor.execute(POWERS, [list(TABLES)])
        is_superuser, role, tables = cursor.fetchone()
    if is_superuser:
        return role, "is a superuser of PostgreSQL"
    return role, f"may change {', '.join(tables)}" if tables else ""


def create_database_role() -> None:
    """Make the application's role a login with COPILOT_DB_ROLE_PASSWORD, before migrations; do nothing where that is not set.

    The server is sent a hash: a password in a statement would stand in its log. Raises InvalidInput for the owner's own name.
    """
    role, password = settings.DATABASE_ROLE, settings.DATABASE_ROLE_PASSWORD
    if not password:
        return
    if not role or role == connection.settings_dict["USER"]:
        raise InvalidInput(_("COPILOT_DB_ROLE must name another role than the one that DATABASE_URL signs in as."))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [role])
        if cursor.fetchone() is None:
            cursor.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))
        sealed = connection.connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        cursor.execute(
            sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(sealed.decode()))
        )


def grant_role_rights(**kwargs: Any) -> None:
    """Grant the application's role (COPILOT_DB_ROLE) its rights, after migrations; do nothing where it has no role of its own."""
    role = settings.DATABASE_ROLE
    if not role:
        return
    with connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute(sql.SQL(ALLOWED).format(role=sql.Identifier(role)))
        cursor.execute(OTHERS, [role])
        for (name,) in cursor.fetchall():
            cursor.execute(
                sql.SQL("ALTER TABLE {} OWNER TO {}").format(sql.Identifier("public", name), sql.Identifier(role))
            )


@contextmanager
def use_owner_role() -> Iterator[None]:
    """Work under the role that signed in to the database, not the application's: migrations, erasures, purges."""
    options = connection.settings_dict["OPTIONS"]
    given = options.get("options", "")
    taken_on = f"-c role={settings.DATABASE_ROLE}"
    if taken_on not in given:
        yield
        return
    connection.close()
    options["options"] = given.replace(taken_on, "").strip()
    try:
        yield
    finally:
        connection.close()
        options["options"] = given


@contextmanager
def require_owner_role() -> Iterator[None]:
    """Work as `use_owner_role` does; raise PermissionDenied where the role that signed in is not the owner."""
    try:
        with use_owner_role():
            yield
    except ProgrammingError as error:
        if not isinstance(error.__cause__, InsufficientPrivilege):
            raise
        raise PermissionDenied(
            _(
                "This database role may only add to the audit log. Run the command with the DATABASE_URL of the tables' owner."
            )
        ) from error
