"""A translated statement gives the rows that PostgreSQL gives, with each function that may be translated; others are refused."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import psycopg
import pytest

from business.connections.address import Address
from business.dialects import FUNCTIONS, OF_DUCKDB, Dialect, translate_statement
from business.guard.grammar import iterate_nodes, parse_query
from business.guard.refusal import SqlRefused
from business.guard.rules import list_name_parts

ROWS = [
    (1, "North", "a_1", "12.50", "2024-12-30", "2024-12-01 08:30:00", True),
    (2, "North", "O'Neil \\ 4", "-3.25", "2025-01-01", "2025-01-31 23:59:59", False),
    (3, "South", "Ångström 中文", "100", "2025-05-04", "2025-05-04 00:00:00", True),
    (4, "South", None, None, None, None, None),
    (5, None, " pad ", "0.1", "2026-02-28", "2026-02-28 12:00:00", False),
]
COLUMNS = (
    'id integer, region varchar(40), name varchar(40), amount decimal(12, 2), day date, "at" timestamp, is_open boolean'
)
BOTH = [
    "SELECT region, count(*), count(name), sum(amount), avg(amount), min(day), max(at) FROM t GROUP BY region ORDER BY 1",
    "SELECT region, count(*) AS n FROM t GROUP BY region ORDER BY 2 DESC NULLS LAST, 1 ASC NULLS LAST",
    "SELECT region, sum(amount) FROM t GROUP BY region ORDER BY 2 ASC NULLS LAST LIMIT 2 OFFSET 1",
    "SELECT region, count(*) AS n FROM t GROUP BY region ORDER BY 2 DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES",
    "SELECT * FROM (SELECT name, id FROM t ORDER BY 1 ASC NULLS LAST FETCH FIRST 2 ROWS WITH TIES) AS ranked LIMIT 50",
    "SELECT count(*) FILTER (WHERE amount > 0), sum(amount) FILTER (WHERE region::text IN ('North')), count(DISTINCT region) FROM t",
    "SELECT count(DISTINCT region) FILTER (WHERE amount > 0) FROM t",
    "SELECT to_char(date_trunc('month', at), 'YYYY-MM'), to_char(date_trunc('week', at), 'YYYY-MM-DD') FROM t ORDER BY id",
    "SELECT to_char(date_trunc('quarter', day), 'YYYY-\"Q\"Q'), to_char(date_trunc('year', at), 'YYYY') FROM t ORDER BY id",
    "SELECT to_char(date_trunc('day', at), 'YYYY-MM-DD') FROM t WHERE day >= '2025-01-01' AND day < '2025-06-01' ORDER BY id",
    "SELECT extract(year FROM at)::integer, extract(quarter FROM day), extract(month FROM day), extract(day FROM at) FROM t ORDER BY id",
    "SELECT extract(week FROM day), extract(isodow FROM day), extract(hour FROM at), extract(minute FROM at) FROM t ORDER BY id",
    "SELECT avg(CAST(at AS date) - CAST(day AS date)) FROM t",
    "SELECT CAST(sum(amount) AS numeric) / nullif(count(*), 0), round(100.0 * CAST(2 AS numeric) / nullif(3, 0), 2) FROM t",
    "SELECT round(CAST(stddev_samp(amount) AS numeric), 3), round(CAST(var_pop(amount) AS numeric), 3) FROM t",
    "SELECT round(CAST(stddev_pop(amount) AS numeric), 3), round(CAST(var_samp(amount) AS numeric), 3) FROM t",
    "SELECT abs(amount), ceil(amount), ceiling(amount), floor(amount), sign(amount), mod(id, 3), power(id, 2) FROM t ORDER BY id",
    "SELECT round(CAST(sqrt(id) AS numeric), 4), round(CAST(exp(1) AS numeric), 4), round(CAST(ln(id) AS numeric), 4) FROM t ORDER BY id",
    "SELECT lower(region), upper(name), length(name), char_length(name), btrim(name), ltrim(name), rtrim(name) FROM t ORDER BY id",
    "SELECT substring(name, 2, 3), substr(name, 1, 2), left(name, 2), right(name, 2), replace(name, 'a', 'b') FROM t ORDER BY id",
    "SELECT concat(region, '-', name), concat_ws(' ', region, name), region || name, trim(both from name) FROM t ORDER BY id",
    "SELECT position('o' in region), strpos(name, '_') FROM t ORDER BY id",
    "SELECT name FROM t WHERE name LIKE 'a\\_%' OR name ILIKE '%NEIL \\\\ 4' OR name NOT LIKE '%a%' ORDER BY id",
    "SELECT name FROM t WHERE name = 'O''Neil \\ 4' OR region IN ('South', '\\') ORDER BY id",
    "SELECT id, row_number() OVER (ORDER BY id), rank() OVER (PARTITION BY region ORDER BY amount DESC NULLS LAST) FROM t ORDER BY id",
    "SELECT id, dense_rank() OVER (ORDER BY is_open NULLS FIRST), ntile(2) OVER (ORDER BY id) FROM t ORDER BY id",
    "SELECT lead(id) OVER (ORDER BY id), lag(id) OVER (ORDER BY id) FROM t ORDER BY id",
    "SELECT first_value(id) OVER (ORDER BY id), last_value(id) OVER (ORDER BY id) FROM t ORDER BY id",
    "SELECT percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id) FROM t ORDER BY id",
    "SELECT CASE WHEN is_open THEN 'yes' ELSE 'no' END, coalesce(name, '-'), greatest(id, 3), least(id, 3) FROM t ORDER BY id",
    "SELECT count(*) > 0 AS \"exists\", count(*) FROM (SELECT id FROM t WHERE is_open OFFSET 0) AS found",
    "SELECT id FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS e WHERE e.region = a.region AND e.id <> a.id) ORDER BY id",
    "SELECT id FROM t WHERE day BETWEEN '2025-01-01' AND '2025-12-31' AND region IS DISTINCT FROM 'North' ORDER BY id",
    "WITH w AS (SELECT region, sum(amount) AS s FROM t GROUP BY region) SELECT region, s FROM w WHERE s > 1 ORDER BY s",
    "SELECT region, max(s0) FROM (SELECT region, 1 AS s0 FROM t UNION ALL SELECT region, 2 FROM t) AS m GROUP BY region ORDER BY 1",
    "SELECT amount::text, id % 2, -amount * 2 FROM t WHERE id < 4 ORDER BY id",
]  # fmt: skip
DUCKDB = [
    "SELECT make_date(id, 2, 1), array_position(ARRAY['North', 'South'], region) FROM t ORDER BY id",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM t",
    "SELECT string_agg(region, ',' ORDER BY region) FROM t",
]
REFUSED = [
    "SELECT regexp_replace(name, 'a', 'b') FROM t", "SELECT name FROM t WHERE name ~ 'a'", "SELECT to_char(day, 'Day') FROM t",
    "SELECT extract(epoch FROM at) FROM t", "SELECT date_trunc('century', at) FROM t", "SELECT now() FROM t",
    "SELECT a.id FROM (SELECT id FROM t ORDER BY 1 FETCH FIRST 1 ROWS WITH TIES) AS a, t", "SELECT age(day) FROM t",
    "SELECT id FROM t ORDER BY length(name) FETCH FIRST 1 ROWS WITH TIES", "SELECT at::timestamptz FROM t",
    "SELECT stddev(amount) FROM t", "SELECT region, count(*) FROM t GROUP BY GROUPING SETS ((region), ())",
    "SELECT name COLLATE \"C\" FROM t", "SELECT g FROM generate_series(1, 3) AS g",
]  # fmt: skip
Run = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def postgres(django_db_setup: None, django_db_blocker: Any) -> Iterator[Run]:
    with django_db_blocker.unblock():
        address = Address.of_django()
    with psycopg.connect(**address.keywords()) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE t ({COLUMNS})")
        connection.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS)
        yield lambda statement: connection.execute(statement).fetchall()  # type: ignore[arg-type,unused-ignore]


@pytest.fixture(scope="module")
def duck() -> Iterator[Run]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({COLUMNS})")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
        yield lambda statement: connection.execute(statement).fetchall()


def told(rows: list[tuple[Any, ...]], statement: str) -> list[tuple[Any, ...]]:
    """Rows to compare; those that share a place stand in no order."""
    plain = [tuple(map(_plain, row)) for row in rows]
    return sorted(plain, key=str) if "TIES" in statement else plain


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal | float | int):
        return round(float(value), 6)
    return str(value) if isinstance(value, date | datetime) else value


def test_duckdb_gives_the_same_rows(postgres: Run, duck: Run) -> None:
    for statement in (*BOTH, *DUCKDB):
        assert told(duck(translate_statement(statement, "duckdb")), statement) == told(
            postgres(statement), statement
        ), statement


def test_every_function_that_is_translated_is_among_them() -> None:
    used = {
        list_name_parts(node.funcname)[-1]
        for statement in (*BOTH, *DUCKDB)
        for node in iterate_nodes(parse_query(statement))
        if node.DESCRIPTOR.name == "FuncCall"
    }
    assert used >= (FUNCTIONS | OF_DUCKDB) - {"trim"}  # which PostgreSQL calls btrim


@pytest.mark.parametrize("dialect", ["duckdb", "mysql"])
def test_what_has_no_equal_is_refused(dialect: Dialect) -> None:
    for statement in REFUSED:
        with pytest.raises(SqlRefused, match="no equal"):
            translate_statement(statement, dialect)
