"""Whose pages may open a socket: those of this site, by scheme, host and port."""

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from copilot_site.lib.http.sockets import SameOrigin


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    """What stands behind: it takes everybody."""
    await receive()
    await send({"type": "websocket.accept"})


async def is_let_in(*headers: tuple[str, str], scheme: str = "ws") -> bool:
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": "websocket", "scheme": scheme, "path": "/", "headers": encoded}
    communicator: Any = ApplicationCommunicator  # without types
    client = communicator(SameOrigin(accepting), scope)
    await client.send_input({"type": "websocket.connect"})
    answer: str = (await client.receive_output(5))["type"]
    assert answer in {"websocket.accept", "websocket.close"}
    return answer == "websocket.accept"


@pytest.mark.parametrize(
    ("origin", "host", "scheme", "is_open"),
    [
        ("http://copilot.example:8000", "copilot.example:8000", "ws", True),
        ("http://copilot.example", "copilot.example", "ws", True),
        ("http://copilot.example:80", "copilot.example", "ws", True),
        ("http://Copilot.Example", "copilot.example", "ws", True),
        ("https://copilot.example", "copilot.example", "wss", True),
        ("https://copilot.example:443", "copilot.example", "wss", True),
        ("http://[::1]:8000", "[::1]:8000", "ws", True),
        ("http://copilot.example:9000", "copilot.example:8000", "ws", False),  # another program of the same host
        ("http://copilot.example", "copilot.example:8000", "ws", False),
        ("http://copilot.example:8000", "copilot.example", "ws", False),
        ("https://copilot.example", "copilot.example", "ws", False),
        ("http://copilot.example", "copilot.example", "wss", False),
        ("http://evil.copilot.example", "copilot.example", "ws", False),
        ("http://copilot.example.evil.test", "copilot.example", "ws", False),
        ("http://copilot.example@evil.test", "copilot.example", "ws", False),
        ("http://evil.test", "evil.test", "ws", False),  # the same, and no name of this site
        ("null", "copilot.example", "ws", False),
        ("", "copilot.example", "ws", False),
        ("file://", "copilot.example", "ws", False),
        ("http://copilot.example:x", "copilot.example", "ws", False),
        ("http://copilot.example/path", "copilot.example", "ws", False),
    ],
)
async def test_a_socket_opens_for_the_page_s_own_origin(
    settings: Any, origin: str, host: str, scheme: str, is_open: bool
) -> None:
    settings.ALLOWED_HOSTS = ["copilot.example", "[::1]"]
    assert await is_let_in(("origin", origin), ("host", host), scheme=scheme) is is_open


async def test_without_an_origin_or_with_two_nobody_is_let_in(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    host, origin = ("host", "copilot.example"), ("origin", "http://copilot.example")
    assert await is_let_in(host, origin)
    assert not await is_let_in(host)
    assert not await is_let_in(host, origin, ("origin", "http://evil.test"))
    assert not await is_let_in(origin)


async def test_a_trusted_proxy_says_the_scheme_and_nobody_else_does(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["copilot.example"]
    headers = [("host", "copilot.example"), ("origin", "https://copilot.example"), ("x-forwarded-proto", "https")]
    assert not await is_let_in(*headers)
    settings.TRUSTED_PROXY = True
    assert await is_let_in(*headers)
    assert not await is_let_in(headers[0], ("origin", "http://copilot.example"), headers[2])


def test_the_product_s_sockets_stand_behind_it() -> None:
    from copilot_site.asgi import application

    assert isinstance(application.application_mapping["websocket"], SameOrigin)


async def test_a_program_with_a_bearer_token_needs_no_origin(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["copilot.example"]
    host, token = ("host", "copilot.example"), ("authorization", "Bearer ekc_x")
    assert await is_let_in(host, token)
    assert not await is_let_in(host, token, ("origin", "http://evil.test")), "a page is a page"
    assert not await is_let_in(("host", "evil.test"), token)
    assert not await is_let_in(host, ("authorization", "Basic eDp5"))
    assert not await is_let_in(host, ("authorization", "Bearer "))
    assert not await is_let_in(host, token, token)
