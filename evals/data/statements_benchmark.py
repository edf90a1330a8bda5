"""`manage.py benchmark statements`: what analysts ask of millions of rows, behind guard and sandbox and by the owner; same rows and run."""

import asyncio
import re
import sys
import time
from argparse import ArgumentParser
from collections.abc import Awaitable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from psycopg import sql

from business.address import Address
from business.execute import Access, run_sql
from business.guard.policy import AllowedTable, Policy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import row_filter
from business.limits import Limits
from business.sandbox import sql_views
from evals.data.guard_cases import as_owner
from evals.report import Report, Row

DATABASE = "copilot_benchmark_statements"
HERE = Path(__file__).parent
STEP = 250_000  # rows of a transaction: what an interrupted build loses
UNITS = ("Hangzhou", "Suzhou", "Ningbo")  # of eight, and their people's orders
LIMITS = Limits(seconds=120)  # what is measured is how long it takes
NEVER_S = 1000.0
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
      FROM generate_series(%(first)s::int, %(last)s::int) i) numbered
"""


class StatementsBenchmark:
    help = (
        "Run forty statements over a table of --rows rows as a person of three of eight org units, by turns with the owner's own run "
        "over the same rows. The database is built once, goes on where it was interrupted, and stays for the next run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=5_000_000)
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument("--only", default="", help="statements whose name has this part")
        parser.add_argument("--remove", action="store_true", help="remove the database, and measure nothing")

    def run(self, options: Mapping[str, Any]) -> Report:
        address = Address.of_django().at(DATABASE)
        if options["remove"]:
            remove(address)
            return Report(peer="none: the database is removed", rows=[])
        build(address, options["rows"])
        sql_views.drop_all(address)
        asked = [(name, text) for name, text in statements() if options["only"] in name]
        rows = asyncio.run(
            _measured(Access(address, Policy.of(TABLES), is_dedicated=True, limits=LIMITS), asked, options["rounds"])
        )
        times = sorted(row.ours / row.peer for row in rows if row.peer)
        return Report(
            peer="the owner's own run over the same rows, through plain views, on a connection of its own",
            rows=rows,
            facts={
                "table rows": options["rows"],
                "statements": len(rows),
                "within twice": sum(one <= 2 for one in times),
                "median": round(median(times), 2) if times else 0,
            },
        )


def statements() -> Iterator[tuple[str, str]]:
    """Name and text of each."""
    for found in re.finditer(r"^-- (.+)\n([^;]+);", (HERE / "statements.sql").read_text(), re.MULTILINE):
        yield found[1], found[2]


async def _measured(access: Access, asked: list[tuple[str, str]], rounds: int) -> list[Row]:
    """The median of each; the first run of both, which fills caches and builds views, does not count."""
    rows = []
    for name, text in asked:
        pairs = [
            (
                await _ms(run_sql(access, text)),
                await _ms(as_owner(access.admin, text, schema="same_rows", limits=LIMITS)),
            )
            for _round in range(rounds + 1)
        ][1:]
        rows.append(Row(name, "ms", *(median(times) for times in zip(*pairs, strict=True))))
        sys.stderr.write(f"{len(rows)}/{len(asked)} {name}: {rows[-1].ours:.0f} {rows[-1].peer:.0f}\n")
    return rows


async def _ms(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    try:
        await work
    except SqlRefused:
        return NEVER_S * 1000
    return (time.perf_counter() - began) * 1000


def build(address: Address, rows: int) -> None:
    """Make or complete the database; plain views of the same rows are what the owner reads."""
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as server:
        if server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(DATABASE)))
    with psycopg.connect(**address.keywords(), autocommit=True) as connection:
        connection.execute((HERE / "orders.sql").read_text())
        found = connection.execute("SELECT coalesce(max(id), 0) FROM orders").fetchone()
        have, given = (found or (0,))[0], {"rows": rows, "customers": max(100, rows // 25)}
        if have >= rows:
            return
        for statement in filter(str.strip, _FILL_SMALL.split(";")):
            connection.execute(statement, given)
        for first in range(have + 1, rows + 1, STEP):
            connection.execute(_FILL, given | {"first": first, "last": min(rows, first + STEP - 1)})
            sys.stderr.write(f"{min(rows, first + STEP - 1)} of {rows} rows\n")
        connection.execute("CREATE SCHEMA IF NOT EXISTS same_rows")
        for table in TABLES:
            view, of = sql.Identifier("same_rows", table.name), sql.Identifier(table.schema, table.name)
            where = sql.SQL(row_filter(table))
            connection.execute(
                sql.SQL("CREATE OR REPLACE VIEW {} AS SELECT * FROM {} WHERE {}").format(view, of, where)
            )
        connection.execute("VACUUM ANALYZE")


def remove(address: Address) -> None:
    """With its sandbox."""
    sql_views.drop_all(address)
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(DATABASE)))
