"""A database of orders, and forty statements as analysts ask them of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.guard.policy import AllowedTable
from business.sandbox import sql_views

DATABASE = "copilot_test_orders"
HERE = Path(__file__).parent
UNITS = ("Hangzhou", "Suzhou", "Ningbo")  # of eight, and their people's orders
TABLES = (
    AllowedTable("public", "customers", ("id", "org_unit", "name", "email", "region", "since"), "org_unit", UNITS, ("id",)),
    AllowedTable("public", "products", ("id", "name", "category", "price"), None, (), ("id",)),
    AllowedTable(
        "public",
        "orders",
        ("id", "org_unit", "customer_id", "product_id", "status", "ordered_at", "quantity", "amount", "note"),
        "org_unit",
        UNITS,
        ("id",),
    ),
)  # fmt: skip
_FILL_SMALL = """
INSERT INTO products SELECT i, 'Product ' || i, 'Category ' || i %% 24, 5 + i %% 200 FROM generate_series(1, 1000) i
ON CONFLICT DO NOTHING;
INSERT INTO customers
SELECT i, (ARRAY['Hangzhou', 'Suzhou', 'Ningbo', 'Wuxi', 'Shanghai', 'Nanjing', 'Hefei', 'Xiamen'])[1 + i %% 8],
       'Customer ' || i, 'c' || i || '@example.com', (ARRAY['East', 'North', 'South', 'West'])[1 + i / 8 %% 4],
       date '2022-01-01' + i %% 1700
FROM generate_series(1, %(customers)s::int) i ON CONFLICT DO NOTHING;
"""
# Orders come in the order of their time, customers and amounts do not; a twentieth of the customers has none.
_FILL = """
INSERT INTO orders
SELECT i, (ARRAY['Hangzhou', 'Suzhou', 'Ningbo', 'Wuxi', 'Shanghai', 'Nanjing', 'Hefei', 'Xiamen'])[1 + c %% 8], c,
       1 + (hashint4(i + 7) & 2147483647) %% 1000,
       (ARRAY['paid', 'paid', 'paid', 'open', 'cancelled', 'returned'])[1 + (hashint4(i + 3) & 2147483647) %% 6],
       timestamptz '2023-01-01' + i * (interval '1300 days' / %(rows)s), 1 + i %% 9, ((hashint4(i + 1) & 2147483647) %% 200000) / 100.0,
       CASE WHEN i %% 5 = 0 THEN 'fragile ' || i END
FROM (SELECT i, 1 + (hashint4(i) & 2147483647) %% (%(customers)s::int * 19 / 20) AS c
      FROM generate_series(1, %(rows)s::int) i) numbered
"""


def statements() -> Iterator[tuple[str, str]]:
    """Return name and text of each statement."""
    for found in re.finditer(r"^-- (.+)\n([^;]+);", (HERE / "statements.sql").read_text(), re.MULTILINE):
        yield found[1], found[2]


def build(address: Address, rows: int) -> None:
    """Make and fill the database, where it is not there yet."""
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as server:
        if server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(DATABASE)))
    with psycopg.connect(**address.keywords(), autocommit=True) as connection:
        connection.execute((HERE / "orders.sql").read_text())
        if connection.execute("SELECT 1 FROM orders LIMIT 1").fetchone():
            return
        given = {"rows": rows, "customers": max(100, rows // 25)}
        for statement in (*filter(str.strip, _FILL_SMALL.split(";")), _FILL):
            connection.execute(statement, given)
        connection.execute("VACUUM ANALYZE")


def remove(address: Address) -> None:
    """Remove the database with its sandbox."""
    sql_views.drop_all_sandboxes(address)
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(DATABASE)))
