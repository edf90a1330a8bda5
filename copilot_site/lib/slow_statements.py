"""Statements on our own database that take long: a line in the log, and the last ones for a page of the administration.

Statements only, never their values, which are people's words. Data sources have connections of their own, without this.
"""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from redis import Redis, RedisError

log = structlog.get_logger(__name__)

SLOW_S = 1.0  # a person waits for ten statements at least
KEY = "slow-statements"
KEPT = 50
LENGTH = 2_000  # characters


def watch_connection(sender: object, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receive Django's `connection_created`: time the connection's statements."""
    if _time_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_time_statement)


def _time_statement(
    execute: Callable[..., Any], statement: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    began = time.perf_counter()
    try:
        return execute(statement, params, many, context)
    finally:
        if (took := time.perf_counter() - began) >= SLOW_S:
            _store_statement(statement, round(took * 1000))


def _store_statement(statement: Any, duration_ms: int) -> None:
    """Log and keep a statement; one that was composed of its values is not shown."""
    shown = re.sub(r"\s+", " ", statement)[:LENGTH] if isinstance(statement, str) else type(statement).__name__
    log.warning("database.slow_statement", duration_ms=duration_ms, statement=shown)
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    kept = {"at": timezone.now().isoformat(), "duration_ms": duration_ms, "statement": shown, "request_id": request_id}
    try:
        with Redis.from_url(settings.REDIS_URL, protocol=2, socket_timeout=1) as valkey:
            valkey.lpush(KEY, json.dumps(kept))
            valkey.ltrim(KEY, 0, KEPT - 1)
    except RedisError:
        log.info("database.slow_statement_not_kept")


def list_slow_statements() -> list[dict[str, Any]]:
    """Return the last ones, newest first: at, duration_ms, statement, request_id; none where Valkey does not answer."""
    try:
        with Redis.from_url(settings.REDIS_URL, protocol=2, socket_timeout=1) as valkey:
            return [json.loads(kept) for kept in valkey.lrange(KEY, 0, -1)]
    except RedisError:
        return []
