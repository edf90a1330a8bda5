"""From a statement to rows, through one wall or both. The product uses both; the commands can take one away to test the other."""

from dataclasses import dataclass
from enum import StrEnum

from asgiref.sync import sync_to_async

from agent.business.address import Address
from agent.business.guard.guard import GuardedSql, guard
from agent.business.guard.policy import Policy
from agent.business.guard.rewrite import MAX_ROWS, Target
from agent.business.session import Rows, SourceUnavailable, count_of, fetch, reading, require_affordable
from agent.business.wall import views
from agent.business.wall.hardening import harden


class Wall(StrEnum):
    AST = "ast"
    DB = "db"
    BOTH = "both"


@dataclass(frozen=True)
class Access:
    """What a statement runs against: the source's own account, the rights, and the time zone of its dates.

    is_dedicated: the database holds only business data, so PUBLIC's rights on system functions may be taken away.
    """

    admin: Address
    policy: Policy
    time_zone: str = "UTC"
    is_dedicated: bool = False


@dataclass(frozen=True)
class Answer:
    """What ran and what came back. total: rows without our limit; None where nothing was cut or nothing was run."""

    sql: str
    rows: Rows | None
    total: int | None
    tables: tuple[str, ...] = ()


async def run_sql(access: Access, text: str, *, wall: Wall = Wall.BOTH, execute: bool = True) -> Answer:
    """Check a statement, and run it unless told not to. Raises SqlRefused, SourceUnavailable, WallRefused."""
    if wall is Wall.AST:
        return await _guarded(access, access.admin, guard(text, access.policy, Target()), execute=execute)
    try:
        return await _behind_wall(access, text, wall, execute=execute)
    except SourceUnavailable:  # the role may have been swept away since this process saw it
        views.forget(access.admin, access.policy)
        return await _behind_wall(access, text, wall, execute=execute)


async def _behind_wall(access: Access, text: str, wall: Wall, *, execute: bool) -> Answer:
    if views.is_known(access.admin, access.policy):
        schema = views.name_of(access.admin, access.policy)
    else:
        schema = await sync_to_async(_built, thread_sensitive=False)(access)
    role = access.admin.as_role(schema)
    if wall is Wall.DB:
        async with reading(role, time_zone=access.time_zone) as connection:
            return Answer(text, await fetch(connection, text) if execute else None, None)
    return await _guarded(access, role, guard(text, access.policy, Target(schema)), execute=execute)


async def _guarded(access: Access, address: Address, checked: GuardedSql, *, execute: bool) -> Answer:
    names = tuple(table.full_name for table in checked.tables)
    async with reading(address, time_zone=access.time_zone) as connection:
        await require_affordable(connection, checked)
        if not execute:
            return Answer(checked.sql, None, None, names)
        rows = await fetch(connection, checked.sql)
        total = None
        if checked.uncapped is not None and len(rows.rows) == MAX_ROWS:
            total = await count_of(connection, checked.uncapped)
        return Answer(checked.sql, rows, total if total is not None and total > MAX_ROWS else None, names)


def _built(access: Access) -> str:
    if access.is_dedicated:
        harden(access.admin)
    return views.ensure(access.admin, access.policy)
