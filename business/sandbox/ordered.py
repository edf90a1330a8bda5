"""Views of a sandbox whose rows have an order that an index of the table has: `ORDER BY day DESC LIMIT 10` reads ten rows through one.

They are made when a statement first asks for an order, and go with the sandbox. Columns, rows and fence are those of the table's view.
"""

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.connections.postgres_session import connected
from business.guard.access_paths import Order
from business.guard.policy import Policy
from business.sandbox.hardening import LOCK
from business.sandbox.sql_views import built, name_of, view_of

_HAS_INDEX = """
SELECT EXISTS (
    SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
    WHERE i.indrelid = to_regclass(%s) AND a.attname = %s AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'btree')
"""


def has_views(admin: Address, policy: Policy, orders: tuple[Order, ...]) -> bool:
    """Create missing views; return whether each order has an index. The sandbox exists. Raises SourceUnavailable."""
    name, missing = name_of(admin, policy), _missing(admin, policy, orders)
    if not missing:
        return True
    with connected(admin) as connection:
        for order in missing:
            table = sql.Identifier(order.table.schema, order.table.name).as_string(connection)
            found = connection.execute(_HAS_INDEX, [table, order.columns[0][0]]).fetchone()
            if not found or not found[0]:
                return False
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            _make(connection, name, order)
    built.update((admin, f"{name}.{order.view}") for order in missing)
    return True


def are_known(admin: Address, policy: Policy, orders: tuple[Order, ...]) -> bool:
    """Return whether this process has seen a view of each order, without a look-up."""
    return not _missing(admin, policy, orders)


def _missing(admin: Address, policy: Policy, orders: tuple[Order, ...]) -> list[Order]:
    name = name_of(admin, policy)
    return [order for order in orders if (admin, f"{name}.{order.view}") not in built]


def _make(connection: psycopg.Connection, sandbox: str, order: Order) -> None:
    view, role = sql.Identifier(sandbox, order.view), sql.Identifier(sandbox)
    by = [sql.SQL("{} DESC" if descends else "{}").format(sql.Identifier(name)) for name, descends in order.columns]
    connection.execute(sql.SQL("{} ORDER BY {}").format(view_of(order.table, view), sql.SQL(", ").join(by)))
    connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(view, role))
