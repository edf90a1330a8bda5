"""The client address of a request, for the audit log, the logs and the limits on sign-ins."""

from ipaddress import ip_address
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest


def find_client_address(request: HttpRequest) -> str:
    """Return the client's address, or "" where none is known (a Unix socket).

    Clients can forge `X-Forwarded-For`: only behind a trusted proxy does its last entry, the proxy's own, count.
    """
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.TRUSTED_PROXY else ""
    for text in (forwarded.rpartition(",")[2].strip(), request.META.get("REMOTE_ADDR") or ""):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return ""


def bind_client_address(sender: object, request: HttpRequest, **kwargs: Any) -> None:
    """Receive django_structlog's `bind_extra_request_metadata`, whose own address trusts any header of a client."""
    structlog.contextvars.bind_contextvars(ip=find_client_address(request))
