"""Lines about requests, and filters: for lines not worth logging, and for the text of people's questions, which must not be logged."""

import logging
import sys
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from traceback import FrameSummary, extract_tb, format_exception
from typing import Any

import kombu.exceptions
import psycopg
import pydantic
import redis
import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django_structlog.middlewares import RequestMiddleware

from copilot_site.lib.http.request_ids import HEADER, compute_request_seconds, ensure_request_id

access_log = structlog.get_logger("copilot_site.access")

HEALTH_PATHS = ("/healthz", "/readyz")  # asked every few seconds; the answer says what fails
METRICS_PATH = "/metrics"  # likewise, but who is refused there is logged
MAX_CAUSES = 10
# Of LOGGING, whatever the level of the root is.
LEVELS: dict[str, dict[str, Any]] = {
    # the request middleware logs every request with its id; these would say it again
    "django.server": {"level": "WARNING"},
    "django.request": {"level": "CRITICAL"},
    "uvicorn": {"handlers": [], "propagate": True},  # it has a handler of its own, which writes errors whole
    "uvicorn.access": {"level": "WARNING", "propagate": False},
    # whatever the level of the root is: these write what is sent, prompts and keys included
    **{name: {"level": "WARNING"} for name in ("openai", "httpcore", "httpcore2", "urllib3", "websockets")},
    "py.warnings": {"level": "ERROR"},  # for developers; tests take them for errors
    "django.db.backends": {"level": "INFO"},
    "psycopg.pool": {"level": "ERROR"},  # each try of an outage; who waited for it says so
    "sqlglot": {"level": "ERROR"},  # warns with the statement
    # three lines a task, every few seconds for periodic ones; failures are errors and stay
    # … and one for each that expired while its worker was busy; a retry is django_structlog's `task_retrying`
    **{name: {"level": "WARNING"} for name in ("celery.worker.strategy", "celery.worker.request")},
    "celery.app.trace": {"level": "CRITICAL"},  # a failed task is django_structlog's `task_failed`
    **{name: {"level": "WARNING"} for name in ("celery.beat", "celery.worker.autoscale", "django_structlog.celery")},
    **{name: {"level": "WARNING"} for name in ("httpx", "httpx2", "mcp", "botocore")},  # lines for each exchange
}


class Quiet(logging.Filter):
    """Drops lines about health probes, expired tasks, and the first of two per request (the second has status and user)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a line to drop."""
        event = record.msg if isinstance(record.msg, dict) else {}
        if event.get("event") in {"request_started", "task_revoked"}:
            return False
        text = str(event.get("request", "")) or record.getMessage()
        if text.endswith(METRICS_PATH):
            return record.levelno > logging.INFO
        return not text.endswith(HEALTH_PATHS)


class RequestLog(RequestMiddleware):
    """A line for each request: its id, duration and path, without the query (`?q=`) and without sign-in codes."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} {request.path}"

    def prepare(self, request: HttpRequest) -> None:
        request.is_logged = True  # type: ignore[attr-defined]
        super().prepare(request)
        structlog.contextvars.bind_contextvars(request_id=ensure_request_id(request))

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        response[HEADER] = ensure_request_id(request)
        super().handle_response(request, response)


def record_duration(sender: object, request: HttpRequest, log_kwargs: dict[str, Any], **_: Any) -> None:
    """Receive django_structlog's signals about the end of a request: its line tells how long the first byte took."""
    log_kwargs["duration_ms"] = round(compute_request_seconds(request) * 1000)


def log_refused_request(request: HttpRequest, response: HttpResponseBase) -> None:
    """Log a request that was answered before any middleware, such as one that waited too long for a seat."""
    response[HEADER] = ensure_request_id(request)
    access_log.warning(
        "request_finished",
        request_id=ensure_request_id(request),
        request=RequestLog.format_request(request),
        code=response.status_code,
        duration_ms=round(compute_request_seconds(request) * 1000),
    )


def format_exception_without_values(
    _logger: Any, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Format exceptions as structlog does, without the values that PostgreSQL (“Failing row contains …”) and pydantic repeat.

    A service that does not answer is in `error`, on the same line: a restart of a second otherwise gives hundreds, and none says more.
    """
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException) and (outage := _format_outage(error)):
        event.pop("exception", None)  # a task's error as it is
        event["error"] = outage
    elif isinstance(error, BaseException):
        text = "".join(format_exception(error))
        for one in _iterate_causes(error):
            if (whole := str(one)) and (brief := _format_without_values(one)) != whole:
                text = text.replace(whole, brief)
        event["exception"] = text.rstrip("\n")
    return event


OUTAGES = (InterfaceError, psycopg.InterfaceError, redis.ConnectionError, redis.TimeoutError, kombu.exceptions.OperationalError,
           ConnectionRefusedError, ConnectionResetError, BrokenPipeError)  # fmt: skip
# Of SQLSTATE: connections that failed or were too many, a server that stops or starts
NOT_THERE = ("08", "53300", "57P")
ROOT = Path(__file__).resolve().parents[2]


def _format_outage(error: BaseException) -> str:
    """Return one line for an error of a service that does not answer, with our last place on the way; "" for other errors."""
    causes = [error]
    while (cause := causes[-1].__cause__ or _find_original_error(causes[-1])) and len(causes) < MAX_CAUSES:
        causes.append(cause)
    if not any(map(_is_outage, causes)):
        return ""
    ours = [frame for item in causes for frame in _find_own_frames(item)]
    where = f" ({Path(ours[-1].filename).relative_to(ROOT)}:{ours[-1].lineno})" if ours else ""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{where}"


def _is_outage(error: BaseException) -> bool:
    if isinstance(error, psycopg.OperationalError):
        return error.sqlstate is None or error.sqlstate.startswith(NOT_THERE)
    return isinstance(error, OUTAGES)


def _find_original_error(error: BaseException) -> BaseException | None:
    """Return the error in whose handling a library failed, as Celery's does where Valkey goes; ours would be a bug."""
    return None if _find_own_frames(error) else error.__context__


def _find_own_frames(error: BaseException) -> list[FrameSummary]:
    """Return the places of our own code that an error went through."""
    return [frame for frame in extract_tb(error.__traceback__) if _is_own_file(frame.filename)]


def _is_own_file(filename: str) -> bool:
    path = Path(filename)
    return path.is_relative_to(ROOT) and ".venv" not in path.parts and path.name != "slow_statements.py"  # around each


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Return the error and its causes, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [
                more for more in (one.__cause__, one.__context__, *getattr(one, "exceptions", ())) if more is not None
            ]


def _format_without_values(error: BaseException) -> str:
    if isinstance(error, psycopg.Error | DatabaseError):
        return str(error).partition("\n")[0]
    if isinstance(error, pydantic.ValidationError):
        found = error.errors(include_input=False, include_url=False, include_context=False)
        return f"{error.title}: {'; '.join('.'.join(map(str, one['loc'])) + ': ' + one['type'] for one in found)}"
    return str(error)
