"""A connection to a service for one request: checked addresses, bounded responses, no capabilities offered."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.utils.translation import gettext as _

from agent.mcp_client.address import ServiceAddress, ServiceUnusable
from agent.mcp_client.oauth import find_error_sentence
from agent.models.mcp_services import Transport
from copilot_site.lib.outgoing.addresses import build_service_policy
from copilot_site.lib.outgoing.http import build_async_transport, find_refusal

if TYPE_CHECKING:
    import httpx2
    from mcp import Client

T = TypeVar("T")
CONNECT_S, ANSWER_S = 10.0, 55.0
MAX_BYTES = 4_000_000  # of all that a service sends over one connection


async def ask_service(address: ServiceAddress, ask: "Callable[[Client], Awaitable[T]]") -> T:
    """Connect to a service and return the result of `ask`. Raises ServiceUnusable; the caller sets the time limit."""
    async with convert_service_errors(address), _connect_to_service(address) as client:
        return await ask(client)


@asynccontextmanager
async def convert_service_errors(address: ServiceAddress) -> AsyncIterator[None]:
    """Convert any error of a service to ServiceUnusable."""
    try:
        yield
    except ServiceUnusable:
        raise
    except Exception as error:
        raise ServiceUnusable(_describe_failure(address, error)) from error


@asynccontextmanager
async def _connect_to_service(address: ServiceAddress) -> "AsyncIterator[Client]":
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        server: Any
        if address.transport == Transport.LOCAL:
            command = address.command
            server = StdioServerParameters(
                command=command["command"], args=command.get("args", []), env=command.get("env")
            )
        elif address.transport == Transport.SSE:
            server = sse_client(
                address.url,
                headers=dict(address.headers),
                sse_read_timeout=ANSWER_S,
                httpx_client_factory=partial(make_http_client, address),
            )
        else:
            http = await stack.enter_async_context(make_http_client(address, dict(address.headers)))
            server = streamable_http_client(address.url, http_client=http)
        yield await stack.enter_async_context(Client(server, read_timeout_seconds=ANSWER_S))


def make_http_client(
    address: ServiceAddress,
    headers: dict[str, str] | None = None,
    timeout: "httpx2.Timeout | None" = None,
    auth: "httpx2.Auth | None" = None,
) -> "httpx2.AsyncClient":
    """Return an HTTP client for one connection, which reads at most MAX_BYTES. timeout: the SDK's, ignored."""
    import httpx2

    return httpx2.AsyncClient(
        transport=_make_bounded_transport(),
        trust_env=False,
        headers={"Accept-Encoding": "identity"} | (headers or {}),
        auth=address.oauth.auth(address.url) if address.oauth else auth,
        timeout=httpx2.Timeout(CONNECT_S, read=ANSWER_S),
    )


def _make_bounded_transport() -> "httpx2.AsyncBaseTransport":
    """Return a transport to checked addresses that limits the bytes read.

    It follows each request's scheme: the issuer may be on another host than the service.
    """
    import httpx2

    came = 0

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal came
            async for part in self.inner:
                came += len(part)
                if came > MAX_BYTES:
                    raise httpx2.ReadError(f"more than {MAX_BYTES} bytes")
                yield part

        async def aclose(self) -> None:
            await self.inner.aclose()

    class Counting(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await checked[request.url.scheme].handle_async_request(request)
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                await response.aclose()
                raise httpx2.ReadError("packed, which was not asked for: its size would not be known")
            response.stream = Bounded(response.stream)
            return response

        async def aclose(self) -> None:
            for transport in checked.values():
                await transport.aclose()

    limits = httpx2.Limits(max_connections=4, max_keepalive_connections=2)
    policies = {"http": build_service_policy(), "https": build_service_policy(is_verified=True)}
    trusted = ssl.create_default_context()
    checked = {
        scheme: build_async_transport(policy, verify=trusted, limits=limits) for scheme, policy in policies.items()
    }
    return Counting()


def _describe_failure(address: ServiceAddress, error: BaseException) -> str:
    """Return the failure in one sentence, without the service's own words, which are untrusted."""
    refused = find_refusal(_find_first_error(error))
    if refused is not None:
        return str(refused)
    reason = find_error_sentence(_find_first_error(error))
    if reason is not None:
        return reason % {"name": address.name}
    if isinstance(_find_first_error(error), TimeoutError):
        return _("The service “%(name)s” did not answer in time.") % {"name": address.name}
    return _("The service “%(name)s” did not answer as it should (%(kind)s).") % {
        "name": address.name,
        "kind": type(_find_first_error(error)).__name__,
    }


def _find_first_error(error: BaseException) -> BaseException:
    """Return the first error in nested exception groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
