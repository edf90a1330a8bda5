"""HTTP clients that connect only to addresses checked by `outgoing`, also for redirects.

They read no proxies from the environment: a proxy would look the name up again.
"""

import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import requests
from asgiref.sync import sync_to_async
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.poolmanager import PoolManager
from urllib3.util.connection import create_connection
from urllib3.util.retry import Retry

from copilot_site.lib.outgoing.addresses import AddressPolicy, AddressRefused, check_target
from copilot_site.lib.text.json_input import load_answer_json

if TYPE_CHECKING:
    import httpx2

MAX_REDIRECTS = 3
Made = Callable[[socket.socket], None]
"""Is told of each connection."""


class BoundedResponse(requests.Response):
    """An answer of a remote program, whose JSON is read as all JSON from outside."""

    def json(self, **_kwargs: Any) -> Any:
        try:
            return load_answer_json(self.content)
        except ValueError as error:
            raise requests.JSONDecodeError(str(error), self.text[:100], 0) from error


class ObjectAnswer(BoundedResponse):
    """One whose JSON is an object, or an error."""

    def json(self, **_kwargs: Any) -> Any:
        found = super().json()
        if not isinstance(found, dict):
            raise requests.JSONDecodeError("no object", self.text[:100], 0)
        return found


class HttpSession(requests.Session):
    """A session that follows redirects of GET only: data of a POST, such as a client secret, is sent to nobody else."""

    def __init__(self, policy: AddressPolicy, *, plain: AddressPolicy | None = None) -> None:
        """Open a session. policy: for https. plain: for http; as policy, where it is None."""
        super().__init__()
        self.trust_env = False
        self.max_redirects = MAX_REDIRECTS
        self.is_late = False
        self.answers: type[BoundedResponse] = BoundedResponse
        self.hooks["response"].append(self._set_answer_class)
        self._sockets: WeakSet[socket.socket] = WeakSet()
        for scheme, one in (("http://", plain or policy), ("https://", policy)):
            self.mount(scheme, _build_adapter(one, self._register_socket))

    def _set_answer_class(self, answer: requests.Response, **_kwargs: Any) -> None:
        answer.__class__ = self.answers

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Close connections that take longer and set `is_late`: timeouts limit one silence, and a server that sends a byte now and then,
        in a header or between two parts, would hold its thread for ever.
        """
        self.is_late = False
        timer = threading.Timer(seconds, self._close_sockets)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _register_socket(self, connected: socket.socket) -> None:
        self._sockets.add(connected)
        if self.is_late:
            self._close_sockets()

    def _close_sockets(self) -> None:
        self.is_late = True
        for opened in list(self._sockets):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None and resp.request.method not in {"GET", "HEAD"}:
            raise requests.TooManyRedirects("what was sent is not sent on to another address", response=resp)
        return target


def _build_adapter(policy: AddressPolicy, made: Made) -> HTTPAdapter:
    """Return an adapter of `requests` that connects only to addresses that this policy allows."""
    adapter = HTTPAdapter()
    adapter.poolmanager.pool_classes_by_scheme = _build_pool_classes(policy, made)
    return adapter


def build_pool_manager(policy: AddressPolicy) -> PoolManager:
    """Return a pool for clients on urllib3 that connects only to allowed addresses, also for redirects."""
    manager = PoolManager(retries=Retry(MAX_REDIRECTS, redirect=MAX_REDIRECTS))
    manager.pool_classes_by_scheme = _build_pool_classes(policy, lambda _connected: None)
    return manager


def _build_pool_classes(policy: AddressPolicy, made: Made) -> dict[str, type[HTTPConnectionPool]]:
    def connected(connection: HTTPConnection) -> socket.socket:
        try:
            target = check_target(connection.host, connection.port, policy)
        except AddressRefused as error:
            raise NewConnectionError(connection, str(error)) from error
        problem: OSError | None = None
        for address in target.addresses:
            try:
                return create_connection((address, target.port), connection.timeout)
            except OSError as error:
                problem = error
        raise NewConnectionError(connection, str(problem)) from problem

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return connected(self)

        def connect(self) -> None:
            super().connect()
            made(self.sock)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return connected(self)

        def connect(self) -> None:
            super().connect()
            made(self.sock)  # the one that TLS has put around the first

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def find_refusal(error: BaseException | None) -> AddressRefused | None:
    """Return the refusal in a client's chain of errors; None without one."""
    while error is not None and not isinstance(error, AddressRefused):
        error = error.__cause__ or error.__context__
    return error


def build_async_transport(
    policy: AddressPolicy, *, verify: ssl.SSLContext, limits: "httpx2.Limits"
) -> "httpx2.AsyncHTTPTransport":
    """Return a transport of httpx2, for the openai client."""
    import httpcore2  # a second and 13 MB, as openai
    import httpx2

    backend = httpcore2.AnyIOBackend()

    class Checked(httpcore2.AsyncNetworkBackend):
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's name
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore2.AsyncNetworkStream:
            try:
                target = await sync_to_async(check_target, thread_sensitive=False)(host, port, policy)
            except AddressRefused as error:
                raise httpcore2.ConnectError(str(error)) from error
            problem: Exception | None = None
            for address in target.addresses:
                try:
                    return await backend.connect_tcp(address, port, timeout, local_address, socket_options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    problem = error
            assert problem is not None  # a target has an address
            raise problem

        async def sleep(self, seconds: float) -> None:
            await backend.sleep(seconds)

    class Transport(httpx2.AsyncHTTPTransport):
        def __init__(self) -> None:
            super().__init__(verify=verify, trust_env=False, limits=limits)
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=verify,
                max_connections=limits.max_connections,
                max_keepalive_connections=limits.max_keepalive_connections,
                keepalive_expiry=limits.keepalive_expiry,
                network_backend=Checked(),
            )

    return Transport()
