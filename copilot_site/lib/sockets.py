"""What logs and the audit log know of a socket's message: a request id and the client's address, as they know of a request."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from uuid import uuid4

import structlog
from django.conf import settings


def address_of(scope: Mapping[str, Any]) -> str:
    """The address of an ASGI scope, by the rules of `copilot_site.lib.addresses`; "" where none is known."""
    headers = dict(scope.get("headers", ()))
    forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1") if settings.TRUSTED_PROXY else ""
    client = scope.get("client") or ("",)
    for text in (forwarded.rpartition(",")[2].strip(), str(client[0])):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return ""


@contextmanager
def message_of(scope: Mapping[str, Any]) -> Iterator[None]:
    """One message of a socket: what is logged and recorded while it is served bears its own id and the address."""
    with structlog.contextvars.bound_contextvars(request_id=str(uuid4()), ip=address_of(scope)):
        yield
