"""Sockets: the check of their origin, and the request id and client's address of messages for logs and the audit log."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from django.conf import settings
from django.http.request import split_domain_port, validate_host


def find_scope_address(scope: Mapping[str, Any]) -> str:
    """Return the client address of an ASGI scope, as `find_client_address` does; "" where none is known."""
    headers = dict(scope.get("headers", ()))
    forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1") if settings.TRUSTED_PROXY else ""
    client = scope.get("client") or ("",)
    for text in (forwarded.rpartition(",")[2].strip(), str(client[0])):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return ""


class SameOrigin:
    """Opens a socket only for pages of this site: scheme, host and port of `Origin` are the site's own.

    A page of the same host at another port is another program. Behind a trusted proxy the scheme is what the proxy says; the Host
    header must come through unchanged, as forms need it, too. Without an Origin only a program comes in that sends a bearer token:
    browsers always send an Origin, and never that header; whose the token is, and for what, is asked behind this.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if _is_same_origin(scope) or _is_program(scope):
            await self._application(scope, receive, send)
            return
        await receive()  # the request to open
        await send({"type": "websocket.close"})


async def refuse_unknown_socket(_scope: Any, receive: Any, send: Any) -> None:
    """Refuse any other address of a socket with HTTP 403, as the last route."""
    await receive()  # the request to open
    await send({"type": "websocket.close"})


def read_bearer_token(scope: Mapping[str, Any]) -> str | None:
    """Return the bearer token that a socket was opened with; None where there is no such header, "" where it cannot be read."""
    sent = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"authorization"]
    if not sent:
        return None
    scheme, _space, secret = sent[0].partition(" ")
    return secret.strip() if len(sent) == 1 and scheme.lower() == "bearer" else ""


def _is_program(scope: Mapping[str, Any]) -> bool:
    headers = scope.get("headers", ())
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    return (
        bool(read_bearer_token(scope))
        and all(name != b"origin" for name, _value in headers)
        and len(hosts) == 1
        and validate_host(split_domain_port(hosts[0])[0], settings.ALLOWED_HOSTS)
    )


def _is_same_origin(scope: Mapping[str, Any]) -> bool:
    headers = [(name, value.decode("latin-1")) for name, value in scope.get("headers", ())]
    origins = [value for name, value in headers if name == b"origin"]
    hosts = [value for name, value in headers if name == b"host"]
    if (
        len(origins) != 1
        or len(hosts) != 1
        or not validate_host(split_domain_port(hosts[0])[0], settings.ALLOWED_HOSTS)
    ):
        return False
    scheme = "https" if scope.get("scheme") in {"wss", "https"} else "http"
    if settings.TRUSTED_PROXY:
        scheme = next((value for name, value in headers if name == b"x-forwarded-proto"), scheme)
    asked = _parse_origin(f"{scheme}://{hosts[0]}")
    return asked is not None and _parse_origin(origins[0]) == asked


def _parse_origin(url: str) -> tuple[str, str, int] | None:
    """Return (scheme, host, port) of an origin; None for an invalid one."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        return None
    is_bare = parts.hostname and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return (parts.scheme, str(parts.hostname), port) if is_bare else None


@contextmanager
def bind_message_context(scope: Mapping[str, Any]) -> Iterator[None]:
    """Serve one message of a socket: logs and audit entries in the block have its own id and the address."""
    with structlog.contextvars.bound_contextvars(request_id=str(uuid4()), ip=find_scope_address(scope)):
        yield
