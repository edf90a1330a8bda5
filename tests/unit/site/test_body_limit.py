"""A body over the limit is refused before it is stored: by its announced length, or at the byte that is too many."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from asgiref.typing import HTTPRequestEvent
from django.conf import settings

from copilot_site.lib.http.body_limit import FORM_BYTES, BodyLimit, Message, Receive, Send

MAX = 10
Communicator: Any = ApplicationCommunicator  # it has no types


class Inner:
    """An application that keeps what it reads, and answers 200 when the body has ended."""

    def __init__(self) -> None:
        self.read = b""
        self.was_called = False

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.was_called = True
        while True:
            message = await receive()
            self.read += message.get("body", b"")
            if not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def scope(**headers: str) -> dict[str, Any]:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": "/", "headers": pairs}


async def status_of(application: Any, headers: dict[str, str], *parts: bytes) -> tuple[int, bytes]:
    client: Any = Communicator(application, scope(**headers))
    for place, part in enumerate(parts, start=1):
        event: HTTPRequestEvent = {"type": "http.request", "body": part, "more_body": place < len(parts)}
        await client.send_input(event)
    start = await client.receive_output(timeout=30)
    body = await client.receive_output(timeout=30)
    return start["status"], body["body"]


async def test_a_body_up_to_the_limit_arrives_whole() -> None:
    for parts in ((b"x" * MAX,), (b"x" * 4, b"x" * 6), (b"",)):
        inner = Inner()
        status, _ = await status_of(
            BodyLimit(inner, most_bytes=MAX), {"content_length": str(len(b"".join(parts)))}, *parts
        )
        assert (status, inner.read) == (200, b"".join(parts))


async def test_an_announced_length_over_the_limit_is_refused_unread() -> None:
    inner = Inner()
    status, body = await status_of(BodyLimit(inner, most_bytes=MAX), {"content_length": str(MAX + 1)})
    assert (status, json.loads(body)["code"], inner.was_called) == (413, "too_large", False)


async def test_a_body_without_a_length_is_cut_at_the_limit() -> None:
    inner = Inner()
    status, body = await status_of(
        BodyLimit(inner, most_bytes=MAX), {"transfer_encoding": "chunked"}, b"x" * 6, b"x" * 6, b"x" * 1000
    )
    assert (status, json.loads(body)["status"]) == (413, 413)
    assert inner.read == b"x" * 6


async def test_the_product_s_application_has_the_limit_of_an_upload() -> None:
    from copilot_site.asgi import application

    too_much = settings.UPLOAD_MAX_BYTES + FORM_BYTES + 1
    status, body = await status_of(application, {"content_length": str(too_much), "host": "localhost"})
    assert status == 413
    assert f"{(settings.UPLOAD_MAX_BYTES + FORM_BYTES) // 1_000_000} MB" in json.loads(body)["detail"]
