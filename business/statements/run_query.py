"""Run a statement for a person and audit it: who, which source and tables, how many rows, or why not; or only judge it."""

import hashlib
import json
import secrets
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.record import Recorder, record_action
from authz.principal import Principal
from business.execute import StatementResult
from business.guard.refusal import SqlRefused
from business.sources.services import OpenSource
from copilot_site.lib.errors import CopilotError


@dataclass(frozen=True)
class QueryResult:
    """A statement that ran. query_id names this run of it; sha256: of columns and rows as they were shown."""

    query_id: str
    source: str
    answer: StatementResult
    sha256: str

    @property
    def evidence_id(self) -> str:
        return f"sql:{self.query_id}:rowset:{self.sha256[:8]}"


async def run_query(
    principal: Principal,
    opened: OpenSource,
    text: str,
    *,
    execute: bool = True,
    run_id: str = "",
    record: Recorder = record_action,
) -> QueryResult:
    """Run a statement behind guard and sandbox under this person's rights and record it by `record_action`.

    Raises SqlRefused, SourceUnavailable, SandboxRefused, recorded too.
    """
    query_id = f"q_{timezone.now():%Y%m%d}_{secrets.token_hex(4)}"
    note = sync_to_async(record)
    detail: dict[str, object] = {"query_id": query_id, "sql_sha256": _compute_sha256(text)}
    try:
        if execute:
            answer = await run_cached(principal, opened, text, partial(opened.run, text, execute=True))
        else:
            answer = await opened.run(text, execute=False)
    except (CancelledError, CopilotError) as error:
        outcome, reason = Outcome.ERROR, "cancelled" if isinstance(error, CancelledError) else type(error).__name__
        if isinstance(error, SqlRefused):
            outcome, reason = Outcome.DENY, str(error.reason)
        await note(
            principal, Action.SQL_REFUSED, opened.source, outcome=outcome, reason=reason, run_id=run_id, detail=detail
        )
        raise
    rows = answer.rows
    detail |= {"tables": list(answer.tables), "rows": len(rows.rows) if rows else 0, "total": answer.total}
    detail |= {"read_at": answer.read_at.isoformat()} if answer.read_at else {}
    await note(principal, Action.SQL_EXECUTED, opened.source, run_id=run_id, detail=detail)
    shown = json.dumps([rows.columns, rows.rows] if rows else [], default=str, ensure_ascii=False)
    return QueryResult(query_id, opened.source.name, answer, _compute_sha256(shown))


def _compute_sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


FORM = 1  # of cached entries; others are ignored


async def run_cached(
    principal: Principal, opened: OpenSource, text: str, run: Callable[[], Awaitable[StatementResult]]
) -> StatementResult:
    """Return the cached answer, or cache the result of `run`. Raises what `run` raises, which is not cached."""
    minutes = opened.source.kept_minutes
    if not minutes or opened.source.document_id is not None:  # spreadsheets are not cached: they are in memory
        return await run()
    key = build_cache_key(principal, opened, text)
    found: StatementResult | None = await cache.aget(key)
    if found is None:
        found = replace(await run(), read_at=timezone.now())
        await cache.aset(key, found, timeout=60 * minutes)
    return found


def build_cache_key(principal: Principal, opened: OpenSource, text: str) -> str:
    """Return the cache key: person, rights, source as last saved, day and statement."""
    source = opened.source
    rights, day = opened.access.policy.digest, timezone.now().astimezone(opened.time_zone).date()
    parts = [FORM, principal.user_id, rights, str(source.pk), source.changed_at.isoformat(), day.isoformat(), text]
    return f"business.result.{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


@dataclass(frozen=True)
class StatementVerdict:
    """reason: the rule that refused, error: its sentence; both empty where the statement may run. answer: None where it was refused."""

    answer: StatementResult | None
    reason: str = ""
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        if self.answer is None:
            return {"verdict": "deny", "reason": self.reason, "rewritten": None, "error": self.error}
        found: dict[str, Any] = {"verdict": "allow", "reason": "", "rewritten": self.answer.sql}
        if self.answer.rows:
            found |= {"columns": self.answer.rows.columns, "rows": self.answer.rows.rows, "total": self.answer.total}
        return found


async def judge_statement(by: Principal, opened: OpenSource, sql: str, *, execute: bool) -> StatementVerdict:
    """Judge a statement under the rights that the source was opened with. by: whom the log names. Raises SourceUnavailable,
    SandboxRefused.
    """
    try:
        result = await run_query(by, opened, sql, execute=execute)
    except SqlRefused as refused:
        return StatementVerdict(None, str(refused.reason), str(refused))
    return StatementVerdict(result.answer)
