"""Run a statement through guard and sandbox. Commands can switch one of them off to test the other."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import psycopg
from asgiref.sync import sync_to_async
from psycopg import AsyncConnection
from psycopg.errors import QueryCanceled, TransactionTimeout

from business.connections.address import Address
from business.connections.postgres_session import (
    FetchedRows,
    SourceUnavailable,
    count_rows,
    explain_statement,
    fetch_and_count_rows,
    fetch_rows,
    open_read_only,
    require_affordable_aggregates,
    restart_transaction,
)
from business.guard.access_paths import Order, Path
from business.guard.guard import GuardedSql, guard_statement, serialise_rewritten_tree
from business.guard.policy import TablePolicy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.limits import StatementLimits
from business.sandbox import sql_views
from business.sandbox.setup import harden_database

CHEAP = 2_000.0  # planner cost, some 20 ms: below it no cheaper path is sought
MAX_COUNTED_ROWS = 100_000  # estimated rows that may all be read to be counted: more might be sorted on disk


class Protection(StrEnum):
    """The protections of a run: the guard on its text, the sandbox in the database, or both, as in the product."""

    GUARD = "guard"
    SANDBOX = "sandbox"
    BOTH = "both"


@dataclass(frozen=True)
class Access:
    """Access for a statement: the source's own account, the rights, the time zone of its dates, and its limits.

    is_dedicated: the database holds only business data, so PUBLIC's rights on system functions may be revoked.
    """

    admin: Address
    policy: TablePolicy
    time_zone: str = "UTC"
    is_dedicated: bool = False
    limits: StatementLimits = field(default_factory=StatementLimits)


@dataclass(frozen=True)
class StatementResult:
    """The statement that ran, as the guard wrote it, and its result.

    total: rows without our limit; None where nothing was cut or nothing was run. read_at: when a cached result ran.
    """

    sql: str
    rows: FetchedRows | None
    total: int | None
    tables: tuple[str, ...] = ()
    read_at: datetime | None = None


async def run_sql(
    access: Access, text: str, *, protection: Protection = Protection.BOTH, execute: bool = True
) -> StatementResult:
    """Check a statement, and run it unless told not to. Raises SqlRefused, SourceUnavailable, SandboxRefused."""
    if protection is Protection.GUARD:
        return await _run_guarded(
            access,
            access.admin,
            guard_statement(text, access.policy, ProjectionTarget(rows=access.limits.rows)),
            execute=execute,
        )
    try:
        return await _run_in_sandbox(access, text, protection, execute=execute)
    except SourceUnavailable:  # cleanup may have removed the role since this process saw it
        sql_views.forget_sandbox(access.admin, access.policy)
        return await _run_in_sandbox(access, text, protection, execute=execute)


async def _run_in_sandbox(access: Access, text: str, protection: Protection, *, execute: bool) -> StatementResult:
    if sql_views.is_sandbox_known(access.admin, access.policy):
        schema = sql_views.build_sandbox_name(access.admin, access.policy)
    else:
        schema = await sync_to_async(_build_sandbox, thread_sensitive=False)(access)
    role = access.admin.as_role(schema)
    if protection is Protection.SANDBOX:
        async with open_read_only(role, time_zone=access.time_zone, limits=access.limits) as connection:
            return StatementResult(text, await fetch_rows(connection, text, access.limits) if execute else None, None)
    return await _run_guarded(
        access,
        role,
        guard_statement(text, access.policy, ProjectionTarget(schema, access.limits.rows)),
        execute=execute,
    )


async def _run_guarded(access: Access, address: Address, checked: GuardedSql, *, execute: bool) -> StatementResult:
    names, limits = tuple(table.full_name for table in checked.tables), access.limits
    async with open_read_only(address, time_zone=access.time_zone, limits=limits) as connection:
        await require_affordable_aggregates(connection, checked, limits)
        if not execute:
            await explain_statement(connection, checked.sql)
            return StatementResult(checked.sql, None, None, names)
        text = await choose_cheapest_statement(access, connection, checked)
        if text == checked.uncapped:
            return StatementResult(checked.sql, *await fetch_and_count_rows(connection, text, limits), names)
        rows = await fetch_rows(connection, text, limits)
        if checked.uncapped is None or len(rows.rows) < limits.rows:
            return StatementResult(checked.sql, rows, None, names)
        try:
            total = await count_rows(connection, checked.countable)
        except (QueryCanceled, TransactionTimeout):  # the rows were read; only the count is missing
            return StatementResult(checked.sql, replace(rows, is_truncated=True), None, names)
        return StatementResult(checked.sql, rows, total if total > limits.rows else None, names)


async def choose_cheapest_statement(access: Access, connection: AsyncConnection, checked: GuardedSql) -> str:
    """Return the statement's equivalent text with the lowest planner cost; the others use other indexes.

    Return the uncapped text where reading all rows takes hardly longer than the shown ones: it counts on the way.
    PostgreSQL has no statistics of columns behind a view's fence: it overestimates the rows of their joins and would
    sort both sides, so merge joins are off.
    """
    await _disable_merge_join(connection, checked)
    paths = checked.paths()
    path = next(paths, None)
    if path is None and checked.uncapped is None:
        return checked.sql
    plan = await explain_statement(connection, checked.sql)
    best, least = checked.sql, float(plan["Total Cost"])
    while path is not None and plan["Total Cost"] >= CHEAP:
        found = await _estimate_path_cost(access, connection, checked, path)
        if (
            found is not None
            and found[1] * path.cheaper < plan["Total Cost"]
            and (best == checked.sql or found[1] < least)
        ):
            best, least = found
        path = next(paths, None)
    if best == checked.sql and checked.uncapped is not None and _is_cheap_to_read_whole(plan):
        return checked.uncapped
    return best


async def _disable_merge_join(connection: AsyncConnection, checked: GuardedSql) -> None:
    if len(checked.tables) > 1:
        await connection.execute("SET LOCAL enable_mergejoin = off")


async def _estimate_path_cost(
    access: Access, connection: AsyncConnection, checked: GuardedSql, path: Path
) -> tuple[str, float] | None:
    """Return the text of a path and its planner cost; None where it cannot run."""
    try:
        text = serialise_rewritten_tree(path.tree)
        if path.orders and not await _has_views(access, path.orders):
            return None
        return text, float((await explain_statement(connection, text))["Total Cost"])
    except SqlRefused:
        return None
    except psycopg.Error:  # the sandbox was rebuilt, or has no room for views; the first text needs none
        sql_views.forget_sandbox(access.admin, access.policy)
        await restart_transaction(connection)
        await _disable_merge_join(connection, checked)
        return None


def _is_cheap_to_read_whole(plan: dict[str, Any]) -> bool:
    """Return whether all rows are few and cost at most twice as much as the first ones, as with aggregates."""
    (below,) = plan.get("Plans", [plan])[:1]
    return bool(below["Plan Rows"] <= MAX_COUNTED_ROWS and below["Total Cost"] <= 2 * plan["Total Cost"])


async def _has_views(access: Access, orders: tuple[Order, ...]) -> bool:
    if sql_views.are_views_known(access.admin, access.policy, orders):
        return True
    return await sync_to_async(sql_views.create_ordered_views, thread_sensitive=False)(
        access.admin, access.policy, orders
    )


def _build_sandbox(access: Access) -> str:
    if access.is_dedicated:
        harden_database(access.admin)
    return sql_views.ensure_sandbox(access.admin, access.policy)
