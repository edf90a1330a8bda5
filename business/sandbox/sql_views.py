"""The sandbox: for each set of rights a role of its own that can read views of its own, and nothing else.

A view has the allowed columns and the rows of the org units as literals (`security_barrier`: no condition from outside sees a
row that the filter has not let pass). Nothing in it depends on a setting, so there is nothing for `set_config` to change. The
role owns nothing, is a member of nothing, and may not even see the schemas of the base tables.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.utils.translation import gettext as _
from psycopg import sql

from business.connections.account_faults import build_setup_command, find_account_faults, find_forbidden_reach
from business.connections.address import Address, has_setting
from business.connections.identity import SourceRefused
from business.connections.postgres_session import connect_to_source
from business.guard.access_paths import Order
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.rewrite import row_filter
from business.sandbox.setup import LOCK, set_up_own_server
from business.table_faults import find_table_faults
from copilot_site.lib.errors import InvalidInput

PREFIX = "copilot_wall_"
NAMES = f"^{PREFIX}[0-9a-f]{{24}}$"
built: set[tuple[Address, str]] = set()  # seen by this process: sandboxes, and their ordered views as sandbox.view


class SandboxRefused(InvalidInput):
    """The sandbox cannot be built here; the text says what the database's owner has to change."""


def build_sandbox_name(admin: Address, policy: TablePolicy) -> str:
    """Return the name of role and schema for these rights in this database; a server's databases share roles."""
    return PREFIX + hashlib.sha256(f"{admin.database}/{policy.digest}".encode()).hexdigest()[:24]


def ensure_sandbox(admin: Address, policy: TablePolicy) -> str:
    """Make sure that the role and its views exist and are what the rights say; returns the schema's name.

    admin: an account as `setup` leaves it. Raises SourceRefused where it is not, or where a table is none of business data,
    SandboxRefused when a view cannot be made, or when the role could read anything besides its views.
    """
    name = build_sandbox_name(admin, policy)
    if (admin, name) in built:
        return name
    with connect_to_source(admin) as connection:
        _require_faultless_tables(connection, admin, policy)
        if not _is_built(connection, admin, name):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            set_up_own_server(connection)
            drop_sandbox(connection, name)
            _forget_by_name(admin, name)
            _build_sandbox(connection, admin, policy, name)
    built.add((admin, name))
    return name


def try_sandbox(admin: Address) -> None:
    """Build a sandbox of no tables, sign in behind it, and take it down. Raises what `ensure_sandbox` raises, and SourceUnavailable."""
    name = PREFIX + secrets.token_hex(12)
    with connect_to_source(admin) as connection:
        set_up_own_server(connection)
        _build_sandbox(connection, admin, TablePolicy(()), name)
    try:
        connect_to_source(admin.as_role(name)).close()
    finally:
        with connect_to_source(admin) as connection:
            drop_sandbox(connection, name)


def _require_faultless_tables(connection: psycopg.Connection, admin: Address, policy: TablePolicy) -> None:
    faults = [] if admin.is_own else find_account_faults(connection, {table.schema for table in policy.tables})
    faults += find_table_faults(connection, [(table.schema, table.name) for table in policy.tables])
    if faults:
        raise SourceRefused(str(faults[0]))


def is_sandbox_known(admin: Address, policy: TablePolicy) -> bool:
    """Return whether this process has seen the sandbox, which saves a question the look-up and a connection."""
    return (admin, build_sandbox_name(admin, policy)) in built


def forget_sandbox(admin: Address, policy: TablePolicy) -> None:
    """Forget that this process has seen a sandbox: another one may have removed it."""
    _forget_by_name(admin, build_sandbox_name(admin, policy))


def _forget_by_name(admin: Address, name: str) -> None:
    built.difference_update([one for one in built if one[0] == admin and one[1].partition(".")[0] == name])


def drop_all_sandboxes(admin: Address) -> int:
    """Remove every sandbox of this database, when its source is removed or its tables change. Returns how many there were."""
    with connect_to_source(admin) as connection:
        set_up_own_server(connection)
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ %s", [NAMES]).fetchall()
        for (name,) in rows:
            drop_sandbox(connection, name)
            _forget_by_name(admin, name)
    return len(rows)


def _compute_mark(admin: Address, name: str) -> str:
    """Return a mark that changes with the secret key, so that a role with an old password is recreated."""
    return admin.as_role(name).password[:16]


def _is_built(connection: psycopg.Connection, admin: Address, name: str) -> bool:
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s", [name]
    ).fetchone()
    return row is not None and row[0] == _compute_mark(admin, name)


def drop_sandbox(connection: psycopg.Connection, name: str) -> None:
    """Remove one sandbox, its role included."""
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))
    with _use_role_functions(connection):
        connection.execute("SELECT copilot_walls.drop_role(%s)", [name])


def _build_sandbox(connection: psycopg.Connection, admin: Address, policy: TablePolicy, name: str) -> None:
    """Build the sandbox. Raises SandboxRefused."""
    with _use_role_functions(connection):
        _create_role_and_views(connection, admin, policy, name)
    _require_isolated_role(connection, name)
    mark = sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(name), sql.Literal(_compute_mark(admin, name)))
    connection.execute(mark)


@contextmanager
def _use_role_functions(connection: psycopg.Connection) -> Iterator[None]:
    """Raise SandboxRefused where the account cannot make or drop a sandbox: the database was not set up, or not for this account."""
    try:
        yield
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.InvalidSchemaName,
        psycopg.errors.UndefinedFunction,
    ) as error:
        raise SandboxRefused(
            _("The account %(user)s cannot build a sandbox (%(why)s). Run: %(statement)s")
            % {
                "user": connection.info.user,
                "why": str(error.diag.message_primary),
                "statement": build_setup_command(connection.info.user, connection.info.dbname),
            }
        ) from error


def _create_role_and_views(connection: psycopg.Connection, admin: Address, policy: TablePolicy, name: str) -> None:
    schema = sql.Identifier(name)
    if has_setting(connection, "scram_iterations"):  # 256 random bits need no stretching, and each question connects
        connection.execute("SET LOCAL scram_iterations = 1")
    connection.execute("SELECT copilot_walls.create_role(%s, %s)", [name, admin.as_role(name).password])
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
    for table in policy.tables:
        try:
            connection.execute(view_of(table, sql.Identifier(name, table.view)))
        except (
            psycopg.errors.UndefinedColumn,
            psycopg.errors.UndefinedTable,
            psycopg.errors.InvalidSchemaName,
        ) as error:
            raise SandboxRefused(
                _("The table %(table)s is not in the database as described: %(why)s. Correct the data source.")
                % {"table": f"{table.schema}.{table.name}", "why": str(error.diag.message_primary)}
            ) from error
    connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {0} TO {0}").format(schema))
    connection.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {0} TO {0}").format(schema))


def view_of(table: AllowedTable, view: sql.Identifier) -> sql.Composed:
    """Return the SQL of a view of the allowed columns and rows."""
    return sql.SQL("CREATE OR REPLACE VIEW {} WITH (security_barrier) AS SELECT {} FROM {} WHERE {}").format(
        view,
        sql.SQL(", ").join(map(sql.Identifier, table.columns)),
        sql.Identifier(table.schema, table.name),
        sql.SQL(row_filter(table)),
    )


_OTHER_RELATIONS = """
SELECT format('%%I.%%I', n.nspname, c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', %(name)s)
  AND has_schema_privilege(%(name)s, n.oid, 'USAGE')
  AND (has_table_privilege(%(name)s, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
       OR has_any_column_privilege(%(name)s, c.oid, 'SELECT, INSERT, UPDATE'))
ORDER BY 1 LIMIT 1
"""
_DEFINER_FUNCTIONS = """
SELECT p.oid::regprocedure::text
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prosecdef AND n.nspname <> 'pg_catalog' AND has_schema_privilege(%(name)s, n.oid, 'USAGE')
  AND has_function_privilege(%(name)s, p.oid, 'EXECUTE')
ORDER BY 1 LIMIT 1
"""


def _require_isolated_role(connection: psycopg.Connection, name: str) -> None:
    """Ask PostgreSQL what the new role reaches, since rights of PUBLIC would bypass the views."""
    found = connection.execute(_OTHER_RELATIONS, {"name": name}).fetchone()
    if found:
        raise SandboxRefused(
            _("Everyone in this database can use %(table)s: run REVOKE ALL ON %(table)s FROM PUBLIC first.")
            % {"table": found[0]}
        )
    further = next(find_forbidden_reach(connection, name), None)
    if further:
        raise SandboxRefused(str(further))
    found = connection.execute(_DEFINER_FUNCTIONS, {"name": name}).fetchone()
    if found:
        raise SandboxRefused(
            _(
                "Everyone can run %(function)s with its owner's rights: run REVOKE EXECUTE ON FUNCTION %(function)s "
                "FROM PUBLIC first."
            )
            % {"function": found[0]}
        )


# Ordered views: `ORDER BY day DESC LIMIT 10` reads ten rows through one, by an index of the table. They are made when a
# statement first asks for an order, with the columns, rows and fence of the table's view.
_HAS_INDEX = """
SELECT EXISTS (
    SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
    WHERE i.indrelid = to_regclass(%s) AND a.attname = %s AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'btree')
"""


def create_ordered_views(admin: Address, policy: TablePolicy, orders: tuple[Order, ...]) -> bool:
    """Create missing views; return whether each order has an index. The sandbox exists. Raises SourceUnavailable."""
    name, missing = build_sandbox_name(admin, policy), _find_missing_views(admin, policy, orders)
    if not missing:
        return True
    with connect_to_source(admin) as connection:
        for order in missing:
            table = sql.Identifier(order.table.schema, order.table.name).as_string(connection)
            found = connection.execute(_HAS_INDEX, [table, order.columns[0][0]]).fetchone()
            if not found or not found[0]:
                return False
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            _create_ordered_view(connection, name, order)
    built.update((admin, f"{name}.{order.view}") for order in missing)
    return True


def are_views_known(admin: Address, policy: TablePolicy, orders: tuple[Order, ...]) -> bool:
    """Return whether this process has seen a view of each order, without a look-up."""
    return not _find_missing_views(admin, policy, orders)


def _find_missing_views(admin: Address, policy: TablePolicy, orders: tuple[Order, ...]) -> list[Order]:
    name = build_sandbox_name(admin, policy)
    return [order for order in orders if (admin, f"{name}.{order.view}") not in built]


def _create_ordered_view(connection: psycopg.Connection, sandbox: str, order: Order) -> None:
    view, role = sql.Identifier(sandbox, order.view), sql.Identifier(sandbox)
    by = [sql.SQL("{} DESC" if descends else "{}").format(sql.Identifier(name)) for name, descends in order.columns]
    connection.execute(sql.SQL("{} ORDER BY {}").format(view_of(order.table, view), sql.SQL(", ").join(by)))
    connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(view, role))
