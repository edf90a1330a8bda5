"""What one question may cost: time, memory, temporary files; and that stopping it stops it in the database."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.business import session
from agent.business.address import Address
from agent.business.execute import Access, Wall, run_sql
from agent.business.guard.refusal import Reason, SqlRefused
from agent.business.models import DataSource
from agent.business.sources import open_source
from agent.business.wall import views
from agent.tools.base import ToolContext
from agent.tools.calling import Called, call_tool
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from copilot_site.embedded.process import wait_until
from knowledge.retrieval.search import Scope

SLOW = "SELECT count(*) FROM sale a, sale b, sale c WHERE a.amount + b.amount < c.amount AND a.amount * b.amount < c.amount"
FETCHING = "FETCH FORWARD"
MEMORY_KB = 512 * 1024


@pytest.fixture
def access(source: DataSource, northerner: User) -> Iterator[Access]:
    """What a northerner's statements run against; walls are made anew, for tests that change their settings."""
    opened = open_source(Principal.of(northerner), "shop").access
    views.drop_all(opened.admin)
    with psycopg.connect(**opened.admin.keywords()) as connection:
        connection.execute("ANALYZE")  # as autovacuum does: the gates stand on the planner's estimates
    yield opened
    views.drop_all(opened.admin)


def running(address: Address, words: str) -> int:
    """How many statements with these words the database is working on."""
    with psycopg.connect(**address.keywords()) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE %s AND pid <> pg_backend_pid()",
            [f"%{words}%"],
        ).fetchone()
    return int(row[0]) if row else -1


def test_a_session_has_its_limits_from_the_first_statement(access: Access) -> None:
    role = access.admin.as_role(views.ensure(access.admin, access.policy))
    with psycopg.connect(**role.keywords()) as connection:
        names = (
            "statement_timeout",
            "work_mem",
            "temp_file_limit",
            "max_parallel_workers_per_gather",
            "hash_mem_multiplier",
        )
        limits = [connection.execute(f"SHOW {name}").fetchone() for name in names]  # type: ignore[call-overload,unused-ignore]
    assert limits == [("5s",), ("16MB",), ("256MB",), ("0",), ("1",)]
    assert session.STATEMENT_TIMEOUT_MS < 5_000


def test_a_slow_query_ends_in_one_sentence_and_is_recorded(
    access: Access, northerner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(session.LIMITS, "statement_timeout", "1")
    called = asked(northerner, SLOW)
    assert called.problem == "SqlRefused"
    assert "was stopped: add a time window or a filter" in called.result.error
    entry = Entry.objects.filter(action=Action.SQL_REFUSED).latest("pk")
    assert entry.reason == Reason.COST


def held_kb(process_id: int) -> int:
    """The most memory that a process on this machine ever held; 0 where the system does not tell."""
    status = Path(f"/proc/{process_id}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def asked(person: User, statement: str) -> Called:
    ctx = ToolContext(Principal.of(person), Scope(), "en")
    arguments = json.dumps({"question": "slow", "sql": statement})
    return async_to_sync(call_tool)("database_query", arguments, allowed=["database_query"], ctx=ctx)


def test_stopping_a_question_stops_it_in_the_database_and_is_recorded(access: Access, northerner: User) -> None:
    views.ensure(access.admin, access.policy)
    ctx = ToolContext(Principal.of(northerner), Scope(), "en")
    arguments = json.dumps({"question": "slow", "sql": SLOW})

    async def stopped() -> None:
        task = asyncio.create_task(call_tool("database_query", arguments, allowed=["database_query"], ctx=ctx))
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(running, access.admin, FETCHING) and not task.done():
                pass
        assert task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()

    async_to_sync(stopped)()
    wait_until(lambda: running(access.admin, FETCHING) == 0, timeout_s=3)  # far less than the statement would take
    assert running(access.admin, FETCHING) == 0
    entry = Entry.objects.filter(action=Action.SQL_REFUSED).latest("pk")
    assert (entry.reason, entry.outcome) == ("cancelled", Outcome.ERROR)


SORTED = (
    "SELECT a.name FROM customer a, customer b, customer c ORDER BY a.name || b.name || c.name LIMIT 1 OFFSET 100000"
)


@pytest.mark.parametrize(("most", "is_answered"), [("64kB", False), ("256MB", True)])
def test_temporary_files_end_a_query(
    access: Access, monkeypatch: pytest.MonkeyPatch, most: str, is_answered: bool
) -> None:
    monkeypatch.setattr(views, "TEMP_FILES", ("temp_file_limit", most))
    monkeypatch.setitem(session.LIMITS, "work_mem", "64kB")
    if is_answered:
        assert async_to_sync(run_sql)(access, SORTED).rows
        return
    with pytest.raises(SqlRefused, match="or too much space, and was stopped") as refused:
        async_to_sync(run_sql)(access, SORTED)
    assert refused.value.reason is Reason.COST


DOUBLED = "WITH a AS (SELECT name AS x FROM customer), {} SELECT max(length(x)) FROM {}"
STEPS = "abcdefghijklmnopqrstuvwxyz"


def doubled(times: int) -> str:
    parts = [f"{STEPS[n + 1]} AS (SELECT x || x AS x FROM {STEPS[n]})" for n in range(times)]
    return DOUBLED.format(", ".join(parts), STEPS[times])


@pytest.mark.parametrize(
    "statement",
    [
        doubled(25),
        "SELECT length(replace(replace(name, 'C', name), 'u', name)) FROM customer",
        f"SELECT max(length(replace(replace(name, 'C', '{'C' * 200}'), 'C', '{'C' * 200}'))) FROM customer",
        "SELECT length(string_agg(a.name, ', ')) FROM customer a, customer b, customer c, sale d",
        "SELECT json_array_length(json_agg(a.name)) FROM customer a, customer b, customer c, sale d",
    ],
)
def test_what_would_fill_the_memory_is_not_run(access: Access, statement: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        async_to_sync(run_sql)(access, statement)
    assert refused.value.reason is Reason.COST


@pytest.mark.parametrize(
    "statement",
    [
        doubled(9),
        SORTED,
        "SELECT length(string_agg(a.name, ', ')) FROM customer a, customer b",
        "SELECT a.name, count(*) FROM customer a, customer b, customer c GROUP BY a.name, b.name",
        "SELECT name || ', ' || segment || ', ' || region_code || ', ' || since FROM customer",
    ],
)
def test_what_is_run_stays_within_the_memory(access: Access, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """The most that the server's process ever held, as Linux counts it."""
    highest: list[int] = []
    closed = psycopg.AsyncConnection.close

    async def measured(connection: psycopg.AsyncConnection) -> None:
        highest.append(held_kb(connection.info.backend_pid))
        await closed(connection)

    monkeypatch.setattr(psycopg.AsyncConnection, "close", measured)
    assert async_to_sync(run_sql)(access, statement, wall=Wall.BOTH).rows
    assert highest
    assert max(highest) < MEMORY_KB


def test_the_gate_is_what_holds(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.business.guard.guard.doublings", lambda _tree: 0)
    statement = doubled(12)
    assert async_to_sync(run_sql)(replace(access), statement).rows
