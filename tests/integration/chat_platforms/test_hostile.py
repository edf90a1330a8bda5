"""Calls that no platform makes: whoever knows the address gets 401, and an event that cannot be kept costs itself alone."""

import json
import time
from typing import Any

from django.test import Client

from agent.models import ChatMessage
from tests.feishu_chat import encrypted, message, signed
from tests.integration.chat_platforms.company import LEAVE, Company

DEEP = "[" * 100_000
HALF = "\ud800"


def head(**more: Any) -> dict[str, Any]:
    return message(LEAVE, **more)


def within(event: dict[str, Any], **more: Any) -> dict[str, Any]:
    event["event"]["message"] |= more
    return event


UNSIGNED: list[bytes] = [
    DEEP.encode(),
    ('{"encrypt":' * 5_000).encode(),
    b'{"encrypt": "\\ud800"}',
    b"\xff\xfe",
    b'{"encrypt": ' + b"9" * 5_000 + b"}",
    b'{"encrypt": 5}',
    b"[]",
    b"",
]
REFUSED: dict[str, dict[str, Any]] = {
    "an event's id": head(event_id="e" * 129),
    "an id that is none": head(event_id={"a": 1}),
    "a sender's id": head(sender="ou_" + "x" * 200),
    "half of a character in an id": within(head(), message_id=f"om_{HALF}"),
    "a chat's id": within(head(), chat_id="c" * 200),
    "deep content": within(head(), content=DEEP),
    "an empty post": within(head(), message_type="post", content="{}"),
    "mentions that are none": within(head(), mentions=[{"key": []}]),
}  # fmt: skip


def test_a_call_that_is_no_event_is_refused_and_never_fails(company: Company) -> None:
    client = Client(raise_request_exception=False)

    def status(body: bytes, headers: dict[str, str]) -> int:
        return client.post(company.address, body, content_type="application/json", headers=headers).status_code

    assert {status(body, {}) for body in UNSIGNED} == {401}
    assert {status(body, signed(body)) for body in UNSIGNED} == {401}
    body = encrypted(head())
    late = signed(body) | {"X-Lark-Request-Timestamp": "9" * 5_000}
    assert status(body, late) == 401
    events = {what: encrypted(event) for what, event in REFUSED.items()}
    assert {what: status(body, signed(body)) for what, body in events.items()} == dict.fromkeys(REFUSED, 401)
    deep = signed(DEEP.encode()) | {"X-Lark-Signature": "0" * 64, "X-Lark-Request-Timestamp": str(int(time.time()))}
    assert status(DEEP.encode(), deep) == 401, "its signature is looked at first"
    assert not ChatMessage.objects.exists()


def test_what_no_database_keeps_is_left_out_of_a_question_and_of_a_name(company: Company) -> None:
    client = Client(raise_request_exception=False)
    mention = {"key": "@_user_1", "name": "Me\0i", "id": {"open_id": "ou_mei"}}
    for event in (
        message("How\0 many days?"),
        message(f"How many days?{HALF}"),
        message("x" * 100_000),
        message("Ask @_user_1", mentions=[mention]),
    ):
        body = encrypted(event)
        answer = client.post(company.address, body, content_type="application/json", headers=signed(body))
        assert (answer.status_code, json.loads(answer.content)) == (200, {})
    kept = ChatMessage.objects.order_by("received_at").values_list("text", flat=True)
    assert [text[:14] for text in kept if text] == ["How many days?", "How many days?", "x" * 14, "Ask @Mei"]
