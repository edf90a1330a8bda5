"""From a statement to rows, through guard and sandbox. Commands can take one of them away to test the other."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

import psycopg
from asgiref.sync import sync_to_async
from psycopg import AsyncConnection
from psycopg.errors import QueryCanceled, TransactionTimeout

from business.address import Address
from business.guard.access_paths import Order
from business.guard.guard import GuardedSql, guard
from business.guard.policy import Policy
from business.guard.rewrite import Target
from business.limits import Limits
from business.postgres_session import Rows, SourceUnavailable, count_of, explained, fetch, reading, require_affordable
from business.sandbox import ordered, sql_views
from business.sandbox.hardening import harden

CHEAP = 2_000.0  # of the planner, some 20 ms: nothing else is looked for below
FAR = 10  # times cheaper, for another text of a join to run


class Protection(StrEnum):
    """What a statement stands before: the guard on its text, the sandbox in the database, or both, as always in the product."""

    GUARD = "guard"
    SANDBOX = "sandbox"
    BOTH = "both"


@dataclass(frozen=True)
class Access:
    """What a statement runs against: the source's own account, the rights, the time zone of its dates, and its limits.

    is_dedicated: the database holds only business data, so PUBLIC's rights on system functions may be taken away.
    """

    admin: Address
    policy: Policy
    time_zone: str = "UTC"
    is_dedicated: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Answer:
    """What ran, as the guard wrote it, and what came back.

    total: rows without our limit; None where nothing was cut or nothing was run. read_at: when, where it may be a kept one.
    """

    sql: str
    rows: Rows | None
    total: int | None
    tables: tuple[str, ...] = ()
    read_at: datetime | None = None


async def run_sql(
    access: Access, text: str, *, protection: Protection = Protection.BOTH, execute: bool = True
) -> Answer:
    """Check a statement, and run it unless told not to. Raises SqlRefused, SourceUnavailable, SandboxRefused."""
    if protection is Protection.GUARD:
        return await _guarded(
            access, access.admin, guard(text, access.policy, Target(rows=access.limits.rows)), execute=execute
        )
    try:
        return await _in_sandbox(access, text, protection, execute=execute)
    except SourceUnavailable:  # the role may have been swept away since this process saw it
        sql_views.forget(access.admin, access.policy)
        return await _in_sandbox(access, text, protection, execute=execute)


async def _in_sandbox(access: Access, text: str, protection: Protection, *, execute: bool) -> Answer:
    if sql_views.is_known(access.admin, access.policy):
        schema = sql_views.name_of(access.admin, access.policy)
    else:
        schema = await sync_to_async(_built, thread_sensitive=False)(access)
    role = access.admin.as_role(schema)
    if protection is Protection.SANDBOX:
        async with reading(role, time_zone=access.time_zone, limits=access.limits) as connection:
            return Answer(text, await fetch(connection, text, access.limits) if execute else None, None)
    return await _guarded(access, role, guard(text, access.policy, Target(schema, access.limits.rows)), execute=execute)


async def _guarded(access: Access, address: Address, checked: GuardedSql, *, execute: bool) -> Answer:
    names, limits = tuple(table.full_name for table in checked.tables), access.limits
    async with reading(address, time_zone=access.time_zone, limits=limits) as connection:
        await require_affordable(connection, checked, limits)
        if not execute:
            await explained(connection, checked.sql)
            return Answer(checked.sql, None, None, names)
        rows = await fetch(connection, await cheapest(access, connection, checked), limits)
        if checked.uncapped is None or len(rows.rows) < limits.rows:
            return Answer(checked.sql, rows, None, names)
        try:
            total = await count_of(connection, checked.uncapped)
        except (QueryCanceled, TransactionTimeout):  # the rows are there; how many more nobody waits for
            return Answer(checked.sql, replace(rows, is_truncated=True), None, names)
        return Answer(checked.sql, rows, total if total > limits.rows else None, names)


async def cheapest(access: Access, connection: AsyncConnection, checked: GuardedSql) -> str:
    """The text of a statement that the planner thinks is done soonest; the others say the same by other indexes.

    PostgreSQL knows no statistics of columns behind a view's fence: it thinks of far too many rows where such are joined, and would
    sort both sides. So it must not, and another text must be far cheaper then.
    """
    is_joined = len(checked.tables) > 1
    if is_joined:
        await connection.execute("SET LOCAL enable_mergejoin = off")
    best, least, cost = checked.sql, 0.0, 0.0
    for text, orders in checked.others():
        cost = cost or await _cost_of(connection, checked.sql)
        if cost < CHEAP:
            break
        try:
            if orders and not await _has_views(access, orders):
                continue
            async with connection.transaction():
                found = await _cost_of(connection, text)
        except psycopg.Error:  # the sandbox was made anew, or has no room for views; the first text needs none
            sql_views.forget(access.admin, access.policy)
            continue
        if found * (FAR if is_joined else 1) < cost and (best == checked.sql or found < least):
            best, least = text, found
    return best


async def _cost_of(connection: AsyncConnection, text: str) -> float:
    return float((await explained(connection, text))["Total Cost"])


async def _has_views(access: Access, orders: tuple[Order, ...]) -> bool:
    return await sync_to_async(ordered.has_views, thread_sensitive=False)(access.admin, access.policy, orders)


def _built(access: Access) -> str:
    if access.is_dedicated:
        harden(access.admin)
    return sql_views.ensure(access.admin, access.policy)
