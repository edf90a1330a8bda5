"""A limit on request bodies as they arrive: Django's ASGI handler writes the whole body to disk before a view runs."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.http import HttpRequest, RawPostDataException
from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

FORM_BYTES = 1_000_000  # names, fields and boundaries around the largest file


HOOK_BYTES = 1_000_000  # of a call that anybody may make, and whose signature is looked at first


def read_hook_body(request: HttpRequest) -> bytes:
    """Return the body of a webhook's call; b"" for a form with files, which nobody signs. Raises InvalidInput if too long."""
    try:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
        body = request.body if announced <= HOOK_BYTES else None
    except ValueError:
        body = None
    except RawPostDataException:
        return b""
    if body is None or len(body) > HOOK_BYTES:
        raise InvalidInput(_("The call of a webhook is at most 1 MB long."))
    return body


class _TooLarge(Exception):
    """The body is larger than allowed."""


class BodyLimit:
    """Answers 413 to a body of more than `most_bytes`: at once if its length is announced, else at the first excess byte."""

    def __init__(self, application: Application, *, most_bytes: int) -> None:
        self._application = application
        self._most_bytes = most_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if _read_content_length(scope) > self._most_bytes:
            await self._refuse_request(send)
            return
        came, has_answered = 0, False

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._most_bytes:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal has_answered
            has_answered = True
            await send(message)

        try:
            await self._application(scope, counted, noted)
        except _TooLarge:
            if not has_answered:
                await self._refuse_request(send)

    async def _refuse_request(self, send: Send) -> None:
        detail = _("This request is larger than the limit of %(most)s MB.") % {"most": self._most_bytes // 1_000_000}
        problem = {
            "type": "about:blank",
            "title": "Content Too Large",
            "status": 413,
            "detail": detail,
            "code": "too_large",
        }
        body = json.dumps(problem, ensure_ascii=False).encode()
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _read_content_length(scope: Message) -> int:
    """Return the Content-Length, 0 without one; the server refuses invalid ones."""
    length: bytes = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0
