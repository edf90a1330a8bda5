"""Cancellation of work whose client has left: a thread cannot be stopped from outside, so long work checks now and then."""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest

HAS_LEFT = "copilot.has_left"  # in the scope of a request whose client has closed the connection
_served: ContextVar[HttpRequest | None] = ContextVar("served", default=None)

Message = MutableMapping[str, Any]


class NobodyWaits(CancelledError):
    """The client of this request has left. It is no error and gives no answer: only `finally` and transactions see it."""


def wrap_receive(scope: Message, receive: Callable[[], Awaitable[Message]]) -> Callable[[], Awaitable[Message]]:
    """Wrap `receive` to note in the scope that the client has left: Django learns of it at once, a thread when it asks."""

    async def noted() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            scope[HAS_LEFT] = True
        return message

    return noted


def set_served_request(request: HttpRequest) -> None:
    """Set the request that this thread works for from now on."""
    _served.set(request)


def require_waiting_client() -> None:
    """Raise NobodyWaits where a web process works for a client that has left; does nothing in workers and commands."""
    if getattr(_served.get(), "scope", {}).get(HAS_LEFT):
        raise NobodyWaits
