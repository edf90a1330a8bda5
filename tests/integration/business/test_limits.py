"""What one question may cost: time, memory, temporary files; and that stopping it stops it in the database."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from itertools import product

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.tools.base import ToolContext
from agent.tools.calling import CallOutcome, call_tool
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from business.connections import postgres_session as session
from business.connections.address import Address
from business.execute import Access, Protection, run_sql
from business.guard.refusal import RefusalKind, SqlRefused
from business.limits import StatementLimits
from business.models import DataSource
from business.sandbox import setup, sql_views
from business.sources.services import open_source
from business.statements.run_query import run_query
from copilot_site.embedded.process import wait_until
from knowledge.retrieval.search import Scope

SLOW = (
    "SELECT count(*) FROM sale a WHERE (SELECT count(*) FROM sale b "
    "WHERE (SELECT count(*) FROM sale c WHERE a.amount + b.amount < c.amount) > 0) > 0"
)
SLOWEST = "SELECT count(*) FROM sale a, sale b, sale c WHERE a.amount + b.amount < c.amount AND a.amount * b.amount < c.amount"
FETCHING = "FETCH FORWARD"
CONDITIONS = (
    "c.segment = '{}'",
    "c.segment = (SELECT '{}' AS x)",
    "EXISTS (SELECT 1 FROM (VALUES ('{}')) v (x) WHERE v.x = c.segment)",
    "c.segment = lower('{}') AND CURRENT_DATE > '2026-01-01'",
)
begun = session._build_begin_statement


def running(address: Address, words: str) -> int:
    """How many statements with these words this database is working on; the server has those of other tests, too."""
    with psycopg.connect(**address.keywords()) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' "
            "AND query LIKE %s AND pid <> pg_backend_pid()",
            [f"%{words}%"],
        ).fetchone()
    return int(row[0]) if row else -1


def test_a_session_has_its_limits_from_the_first_statement(access: Access) -> None:
    role = access.admin.as_role(sql_views.ensure_sandbox(access.admin, access.policy))
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


def test_a_slow_query_ends_in_one_sentence_and_is_recorded(access: Access, northerner: User) -> None:
    DataSource.unscoped.update(max_seconds=0.001)
    called = asked(northerner, SLOW)
    assert called.problem == "SqlRefused"
    assert "was stopped: add a time window or a filter" in called.result.error
    entry = Entry.objects.filter(action=Action.SQL_REFUSED).latest("pk")
    assert (entry.reason, entry.outcome) == (RefusalKind.COST, Outcome.DENY)


def test_plan_pages_and_count_of_a_question_share_one_time(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement alone would have time enough."""
    with pytest.raises(SqlRefused, match="was stopped"):  # its plan has a hundred million steps: no bar to a start
        async_to_sync(run_sql)(replace(access, limits=StatementLimits(seconds=0.2)), SLOWEST)
    monkeypatch.setattr(
        session, "_build_begin_statement", lambda zone, limits: begun(zone, replace(limits, seconds=60))
    )
    with pytest.raises(SqlRefused, match="was stopped"):
        async_to_sync(run_sql)(replace(access, limits=StatementLimits(seconds=0.05)), SLOW)


def test_rows_that_nobody_has_time_to_count_are_shown(access: Access) -> None:
    """The first fifty come at once, all sixty-four million of them never: counted apart, or as they come."""
    limits = StatementLimits(seconds=0.5)
    slow = "SELECT a.id FROM sale a, sale b, sale c WHERE a.amount + b.amount + c.amount > 0"
    answer = async_to_sync(run_sql)(replace(access, limits=limits), slow)
    assert answer.rows is not None
    assert (len(answer.rows.rows), answer.rows.is_truncated, answer.total) == (50, True, None)

    async def counted() -> tuple[session.FetchedRows, int | None]:
        async with session.open_read_only(access.admin, limits=limits) as connection:
            return await session.fetch_and_count_rows(
                connection, "SELECT a.id FROM sale a, sale b, sale c, sale d", limits
            )

    rows, total = async_to_sync(counted)()
    assert (len(rows.rows), rows.is_truncated, total) == (50, True, None)


def test_a_source_may_show_fewer_rows(access: Access, northerner: User) -> None:
    DataSource.unscoped.update(max_rows=7)
    opened = open_source(Principal.of(northerner), "shop").access
    assert isinstance(opened, Access)
    for protection in (Protection.GUARD, Protection.SANDBOX, Protection.BOTH):
        answer = async_to_sync(run_sql)(opened, "SELECT id FROM sale", protection=protection)
        assert answer.rows is not None
        assert len(answer.rows.rows) == 7
        assert answer.total == (None if protection is Protection.SANDBOX else 200)


def asked(person: User, statement: str) -> CallOutcome:
    ctx = ToolContext(Principal.of(person), Scope(), "en")
    arguments = json.dumps({"question": "slow", "sql": statement})
    return async_to_sync(call_tool)("database_query", arguments, allowed=["database_query"], ctx=ctx)


def test_stopping_a_question_stops_it_in_the_database_and_is_recorded(access: Access, northerner: User) -> None:
    sql_views.ensure_sandbox(access.admin, access.policy)
    principal = Principal.of(northerner)
    opened = open_source(principal, "shop")

    async def stopped() -> None:
        task = asyncio.create_task(run_query(principal, opened, SLOWEST))
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(running, access.admin, FETCHING) and not task.done():
                pass
        assert task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()

    async_to_sync(stopped)()
    # in less than the statement would take, even on a busy machine
    assert wait_until(lambda: running(access.admin, FETCHING) == 0, timeout_s=8), "the statement still runs"
    entry = Entry.objects.filter(action=Action.SQL_REFUSED).latest("pk")
    assert (entry.reason, entry.outcome) == ("cancelled", Outcome.ERROR)


def test_a_refusal_for_cost_tells_nothing_of_other_units_values(access: Access) -> None:
    """Half of all customers are large, none of North's."""
    for condition, rows in product(CONDITIONS, (10**5, 10**7)):
        statement = f"SELECT count(*) FROM customer c, generate_series(1, {rows}) g WHERE c.id + g > 0 AND {condition}"
        seen = {refusal(access, statement.format(value)) for value in ("large", "huge")}
        assert len(seen) == 1, condition


def refusal(access: Access, statement: str) -> str:
    """Why a statement is not run; empty where it would be."""
    try:
        async_to_sync(run_sql)(access, statement, execute=False)
    except SqlRefused as refused:
        return str(refused)
    return ""


def test_stopping_what_ended_by_itself_is_still_stopping(shop: Address) -> None:
    async def stopped() -> None:
        async with session.open_read_only(shop) as connection:
            await connection.close()
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        async_to_sync(stopped)()


SORTED = (
    "SELECT a.name FROM customer a, customer b, customer c ORDER BY a.name || b.name || c.name LIMIT 1 OFFSET 100000"
)


@pytest.mark.parametrize(("most", "is_answered"), [("64kB", False), ("256MB", True)])
def test_temporary_files_end_a_query(
    access: Access, monkeypatch: pytest.MonkeyPatch, most: str, is_answered: bool
) -> None:
    monkeypatch.setitem(setup.ROLE_SETTINGS, "temp_file_limit", most)
    monkeypatch.setitem(session.LIMITS, "work_mem", "64kB")
    if is_answered:
        assert async_to_sync(run_sql)(access, SORTED).rows
        return
    with pytest.raises(SqlRefused, match="or too much space, and was stopped") as refused:
        async_to_sync(run_sql)(access, SORTED)
    assert refused.value.reason is RefusalKind.COST
