"""One id for a request, from the browser or proxy to the worker: in logs, audit entries, answers and on error pages; and its time."""

import re
import time
from uuid import uuid4

import structlog
from django.http import HttpRequest

HEADER = "X-Request-ID"
_VALID = re.compile(r"[A-Za-z0-9._:=@+/-]{1,64}")  # one word, as long as the audit log's column


def choose_request_id(sent: str | None) -> str:
    """Return the id that a client or proxy sent; a new one where it sent none, or more than one short word."""
    return sent if sent and _VALID.fullmatch(sent) else str(uuid4())


def find_current_id() -> str:
    """Return the id of the request that this code, or the task that it runs in, belongs to; "" for none."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def ensure_request_id(request: HttpRequest) -> str:
    """Return the id of a request, and begin its time; the first call decides both."""
    if not hasattr(request, "request_id"):
        request.request_id = choose_request_id(request.headers.get(HEADER))  # type: ignore[attr-defined]
        request.began_at = time.monotonic()  # type: ignore[attr-defined]
    found: str = request.request_id  # type: ignore[attr-defined]
    return found


def compute_request_seconds(request: HttpRequest) -> float:
    """Return how long a request has taken so far, with its wait for a seat."""
    ensure_request_id(request)
    return time.monotonic() - float(request.began_at)  # type: ignore[attr-defined]
