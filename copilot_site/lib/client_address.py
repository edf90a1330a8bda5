"""From which address a request comes: what the audit log, the logs and the limits on sign-ins go by."""

from ipaddress import ip_address
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of whoever asks, or "" where none is known (a Unix socket).

    `X-Forwarded-For` is anybody's to write: only with a trusted proxy in front does its last entry, the proxy's own, count.
    """
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.TRUSTED_PROXY else ""
    for text in (forwarded.rpartition(",")[2].strip(), request.META.get("REMOTE_ADDR") or ""):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return ""


def bind_address(sender: object, request: HttpRequest, **kwargs: Any) -> None:
    """Receiver of django_structlog's `bind_extra_request_metadata`: its own reading believes whatever header a client sends."""
    structlog.contextvars.bind_contextvars(ip=client_address(request))
