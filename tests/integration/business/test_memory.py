"""What one query may hold in the server's memory: by its form, by the planner's estimates, and by the kernel."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from asgiref.sync import async_to_sync

from business.connections import postgres_session
from business.connections.postgres_session import open_read_only
from business.execute import Access, Protection, StatementResult, run_sql
from business.guard.refusal import RefusalKind, SqlRefused

MEMORY_KB = 512 * 1024
STEPS = "abcdefghijklmnopqrstuvwxyz"
SERIES = "FROM generate_series(1, {}) g"


def chain(step: str, times: int) -> str:
    """A text that `step` makes longer as often."""
    parts = ["a AS (SELECT name AS x FROM customer)"]
    parts += [f"{STEPS[n + 1]} AS ({step.format(STEPS[n])})" for n in range(times)]
    return f"WITH {', '.join(parts)} SELECT max(length(x)) FROM {STEPS[times]}"


def doubled(times: int) -> str:
    return chain("SELECT x || x AS x FROM {}", times)


def held_kb(process_id: int) -> int:
    """The most memory that a process on this machine ever held; 0 where the system does not tell."""
    status = Path(f"/proc/{process_id}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


@contextmanager
def highest(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """What the server's processes held at most, in kB, of each connection that is closed meanwhile."""
    held: list[int] = []
    closed = psycopg.AsyncConnection.close

    async def measured(connection: psycopg.AsyncConnection) -> None:
        held.append(held_kb(connection.info.backend_pid))
        await closed(connection)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.AsyncConnection, "close", measured)
        yield held


def run(access: Access, statement: str, protection: Protection = Protection.BOTH) -> StatementResult:
    return async_to_sync(run_sql)(access, statement, protection=protection)


TOO_MUCH = {
    "doubled": doubled(25),
    "a row of two": chain("SELECT ROW(x, x)::text AS x FROM {}", 25),
    "a row and its star": chain("SELECT concat(t.*) AS x FROM (SELECT x, x AS y FROM {}) t", 25),
    "quotes in quotes": chain("SELECT ARRAY[x]::text AS x FROM {}", 25),
    "replaced by itself": "SELECT length(replace(replace(name, 'C', name), 'u', name)) FROM customer",
    "a padded column": "SELECT length(concat(name::char(10000000), name)) FROM customer",
    "a text of everything": "SELECT length(string_agg(a.name, ', ')) FROM customer a, customer b, customer c, sale d",
    "an array of everything": "SELECT ARRAY(SELECT a.name FROM customer a, customer b, customer c, sale d)",
    "a long constant": f"SELECT length(string_agg(concat('{'x' * 7000}', g), '')) {SERIES.format(100_000)}",
    "many at once": "SELECT "
    + ", ".join(f"(SELECT length(string_agg(g::text, '')) {SERIES.format(200_000)})" for _ in range(20)),
    "text read as an array": f"SELECT cardinality(('{{1' || string_agg(repeat(',1', 45), '') || '}}')::text[]) {SERIES.format(90_000)}",
    "text in characters": f"SELECT cardinality(string_to_array(string_agg(repeat('x', 90), ''), NULL)) {SERIES.format(90_000)}",
    "a text that grows as it recurs": "WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM t) SELECT max(x) FROM t",
    "rows kept apart as they recur": "WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "a recursion in one value": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT ARRAY(SELECT n FROM t)",
    "series of columns in one value": "SELECT ARRAY(SELECT g FROM customer, generate_series(1, id * 100000) g)",
}
UNBOUNDED = [
    "repeat('x', 1000000000)",
    "lpad('x', 1000000000)",
    "rpad(name, id * 1000000)",
    "format('%1000000000s', 'x')",
]


def test_what_would_fill_the_memory_is_not_run(access: Access) -> None:
    for name, statement in TOO_MUCH.items():
        with pytest.raises(SqlRefused) as refused:
            run(access, statement)
        assert refused.value.reason is RefusalKind.COST, name
        assert "stopped" not in str(refused.value), name


def test_a_length_that_nobody_bounds_is_not_run(access: Access) -> None:
    for call in UNBOUNDED:
        for protection in (Protection.BOTH, Protection.SANDBOX):
            with pytest.raises(SqlRefused):
                run(access, f"SELECT length({call}) FROM customer", protection)


HARMLESS = [
    doubled(9),
    "SELECT length(string_agg(a.name, ', ')) FROM customer a, customer b",
    "SELECT json_agg(t) FROM (SELECT * FROM customer) t",
    "SELECT name, ARRAY(SELECT upper(part) FROM unnest(string_to_array(name, ' ')) part) FROM customer",
    f"SELECT length(string_agg(lpad(g::text, 100, '0'), '')) {SERIES.format(100_000)}",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 100000) SELECT n, count(*) FROM t GROUP BY n ORDER BY 1",
]


def test_what_is_run_stays_within_the_memory(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """The most that the server's process ever held, as Linux counts it."""
    for statement in HARMLESS:
        with highest(monkeypatch) as held:
            assert run(access, statement).rows, statement
        assert held
        assert max(held) < MEMORY_KB, statement


def test_the_gate_is_what_holds(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("business.guard.guard.count_doublings", lambda _tree: 0)
    assert run(access, doubled(12)).rows


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
def test_past_every_gate_the_kernel_holds_it(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("business.guard.guard.count_doublings", lambda _tree: 0)
    if not async_to_sync(is_bound)(access):
        pytest.skip("the database server is not a process that we may limit")
    with highest(monkeypatch) as held, pytest.raises(SqlRefused, match="or too much space") as refused:
        run(access, doubled(25))
    assert refused.value.reason is RefusalKind.COST
    assert 0 < max(held) < MEMORY_KB


async def is_bound(access: Access) -> bool:
    async with open_read_only(access.admin) as connection:
        return postgres_session.limit_process_memory(connection)


def test_only_the_connection_s_own_process_is_limited(access: Access) -> None:
    """Behind a container's or a tunnel's address the number is another process of this machine."""

    async def found() -> bool:
        async with open_read_only(access.admin) as connection:
            return postgres_session.is_process_of_connection(connection, os.getpid())

    assert not async_to_sync(found)()
