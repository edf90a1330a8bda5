"""The socket of the chat page and of programs with a token: who may open it, what it refuses, and that a refusal leaves it open."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as DbSession
from django.test import Client
from redis import Redis as SyncRedis

from agent.conversations.sessions import create_session
from agent.models import Message, MessageRole
from agent.pages.consumers import NOT_YOURS, SIGNED_OUT, SOCKETS, TRY_AGAIN, ChatConsumer
from agent.urls import websocket_urlpatterns
from authz.models import ApiToken
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, SALARY, make_library, make_reader
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.modelserver import says

pytestmark = pytest.mark.django_db(transaction=True)  # Channels closes the connection of an open transaction

APPLICATION = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))


class Socket:
    """The client's end of a socket. (`channels.testing` has one, and imports Daphne, which we do not need.)"""

    def __init__(self, browser: Client, session_id: UUID) -> None:
        path = f"/ws/chat/{session_id}/"
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())
        headers = [(b"cookie", cookies.encode())]
        if token := getattr(browser, "token", ""):
            headers.append((b"authorization", f"Bearer {token}".encode()))
        communicator: Any = ApplicationCommunicator
        self.client = communicator(
            APPLICATION, {"type": "websocket", "path": path, "headers": headers, "subprotocols": []}
        )

    async def connect(self) -> None:
        await self.client.send_input({"type": "websocket.connect"})
        assert (await self.client.receive_output(10))["type"] == "websocket.accept"

    async def send(self, text: str) -> None:
        await self.client.send_input({"type": "websocket.receive", "text": text})

    async def receive(self) -> dict[str, Any]:
        output = asyncio.ensure_future(self.client.output_queue.get())
        await asyncio.wait({output, self.client.future}, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        if not output.done():
            output.cancel()
            self.client.future.result()  # raises what the application ended with
        message = await output
        assert message["type"] == "websocket.send", message
        event: dict[str, Any] = json.loads(message["text"])
        return event

    async def close_code(self) -> int:
        message = await self.client.receive_output(10)
        assert message["type"] == "websocket.close", message
        code: int = message["code"]
        return code

    async def disconnect(self) -> None:
        await self.client.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.client.wait(10)


Talk = Callable[[Socket], Awaitable[Any]]


def talked(user: User | None, session_id: UUID, talk: Talk, browser: Client | None = None) -> Any:
    """Open the socket as somebody, talk, and close it again; returns what `talk` does. browser: theirs, signed in."""
    if browser is None:
        browser = Client()
        if user is not None:
            browser.force_login(user)

    async def run() -> Any:
        socket = Socket(browser, session_id)
        await socket.connect()
        said = await talk(socket)
        await socket.disconnect()
        return said

    return async_to_sync(run)()


async def answer_to(socket: Socket, text: str) -> list[dict[str, Any]]:
    """Send one message; the events up to the one that ends the run."""
    await socket.send(text)
    events = [await socket.receive()]
    while events[-1]["response_type"] not in {"complete", "error"}:
        events.append(await socket.receive())
    return events


def session_of(user: User) -> UUID:
    return create_session(Principal.of(user)).pk


def test_an_open_page_keeps_no_connection_to_valkey_waiting() -> None:
    """Its events come out of logs; a channel layer would wait at Valkey for messages that nobody sends, for each page and event loop."""

    async def look(socket: Socket) -> list[Any]:
        await socket.send("{}")
        await socket.receive()  # it is served by now
        with SyncRedis.from_url(settings.REDIS_URL, decode_responses=True) as valkey:
            return [client for client in valkey.client_list() if client["db"] == own and "b" in client["flags"]]

    own = settings.REDIS_URL.rsplit("/", 1)[1]
    reader = make_user()
    assert talked(reader, session_of(reader), look) == []


def test_a_question_that_is_asked_again_under_its_name_is_one_question() -> None:
    """A client whose connection broke asks again, not knowing whether it was heard; elsewhere the name is another question's."""
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    session_id, elsewhere = session_of(reader), session_of(reader)
    asked = json.dumps({"query": LEAVE, "id": str(uuid4())})
    first, again, other = (
        talked(reader, place, lambda socket: answer_to(socket, asked)) for place in (session_id, session_id, elsewhere)
    )
    assert [text_of(events) for events in (first, again, other)] == [text_of(first)] * 3
    assert first[-1]["assistant_message_id"] == again[-1]["assistant_message_id"] != other[-1]["assistant_message_id"]
    stored = Message.objects.filter(session_id=session_id).order_by("created_at").values_list("role", flat=True)
    assert sorted(stored) == [MessageRole.ASSISTANT, MessageRole.USER]
    assert Message.objects.filter(session_id=elsewhere).count() == 2


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["response_type"] == "answer")


def test_a_question_is_answered_event_by_event_and_a_scope_from_the_client_never_widens() -> None:
    base, _manual, secret = make_library()
    reader = make_reader(base)
    session_id = session_of(reader)

    async def talk(socket: Socket) -> list[list[dict[str, Any]]]:
        wide = {"query": SALARY, "knowledge_ids": [str(secret.pk)]}
        return [await answer_to(socket, json.dumps(body)) for body in ({"query": LEAVE}, wide)]

    events, refused = talked(reader, session_id, talk)
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert {event["session_id"] for event in events} == {str(session_id)}
    assert "30 days" in text_of(events)
    assert events[-1]["data"] == {"stop_reason": "ok"}
    assert refused[-1]["data"] == {"stop_reason": "no_evidence"}
    assert "420,000" not in str(refused)


def test_who_is_signed_out_disabled_or_somebody_else_is_sent_away() -> None:
    user, disabled = make_user(), make_user()
    mine, theirs = session_of(user), session_of(disabled)
    User.objects.filter(pk=disabled.pk).update(is_active=False)
    assert talked(None, mine, Socket.close_code) == SIGNED_OUT
    assert talked(disabled, theirs, Socket.close_code) == SIGNED_OUT
    assert [talked(user, session_id, Socket.close_code) for session_id in (theirs, uuid4())] == [NOT_YOURS] * 2


WRONG = {
    "no JSON": "hello",
    "half of it": '{"query": "',
    "nothing": "",
    "a list": '["query"]',
    "a number": "7",
    "null": "null",
    "no question": "{}",
    "an empty question": '{"query": "  "}',
    "a question that is no text": '{"query": 7}',
    "an unknown field": '{"query": "a", "user_id": 1}',
    "an id that is none": '{"query": "a", "knowledge_ids": ["x"]}',
    "too many letters": json.dumps({"query": "x" * 20_000}),
    "an unknown language": '{"query": "a", "language": "xx"}',
    "a surrogate": '{"query": "\\ud800"}',
    "very deep": "[" * 100_000,
}


def test_a_wrong_message_is_refused_in_one_sentence_and_the_socket_stays_open() -> None:
    user = make_user()

    async def talk(socket: Socket) -> Any:
        refused = {what: await answer_to(socket, text) for what, text in WRONG.items()}
        return refused, await answer_to(socket, json.dumps({"query": LEAVE}))

    refused, after = talked(user, session_of(user), talk)
    for what, events in refused.items():
        assert [event["response_type"] for event in events] == ["error"], what
        assert events[0]["content"], what
    assert after[-1]["response_type"] == "complete"
    assert Message.objects.count() == 2, "only the good question was stored"


ENDS: dict[str, Callable[[Client, User], object]] = {
    "they sign out in another window": lambda browser, _user: browser.post("/sign-out/"),
    "their password is changed": lambda _browser, user: User.objects.filter(pk=user.pk).update(password="another"),
    "their account is disabled": lambda _browser, user: User.objects.filter(pk=user.pk).update(is_active=False),
    "every session is ended": lambda _browser, _user: DbSession.objects.all().delete(),
}


def test_an_open_socket_ends_with_the_session_that_opened_it() -> None:
    for what, ends in ENDS.items():
        user, browser = make_user(), Client()
        browser.force_login(user)
        session_id = session_of(user)

        async def talk(socket: Socket) -> int:
            assert (await answer_to(socket, json.dumps({"query": LEAVE})))[-1]["response_type"] == "complete"
            await sync_to_async(ends)(browser, user)  # noqa: B023 - called within the turn
            await socket.send(json.dumps({"query": LEAVE}))
            return await socket.close_code()

        assert talked(user, session_id, talk, browser) == SIGNED_OUT, what
        assert Message.objects.filter(session_id=session_id).count() == 2, what


def test_a_page_that_comes_back_reads_on_and_stops_what_it_no_longer_wants() -> None:
    base, _manual, _secret = make_library()
    reader, browser = make_reader(base), Client()
    browser.force_login(reader)
    session_id = session_of(reader)

    async def reload(socket: Socket) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        await socket.send(json.dumps({"query": LEAVE}))
        before = [await socket.receive()]
        while before[-1]["response_type"] != "answer":
            before.append(await socket.receive())
        page = Socket(browser, session_id)  # the page is loaded anew; the old one is forgotten, not closed
        await page.connect()
        message_id = before[-1]["assistant_message_id"]
        await page.send(json.dumps({"continue_message": message_id, "after": 0}))
        again = [await page.receive() for _event in before[1:]]
        after = [*again, *await answer_to(page, json.dumps({"stop_message": message_id}))]
        await page.disconnect()
        return before, after

    with modelled(SEARCH, says(f"{THIRTY} More will never come", size=100, hang=1)):
        before, after = talked(reader, session_id, reload, browser)
    assert [event["seq"] for event in before] == list(range(len(before)))
    assert [event["seq"] for event in after] == list(range(1, len(after) + 1))
    assert after[: len(before) - 1] == before[1:]
    assert [event["response_type"] for event in after[-2:]] == ["stop", "complete"]


def test_a_person_has_so_many_sockets_and_gets_the_place_of_one_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SOCKETS, "most", 2)
    user, browser, other = make_user(), Client(), Client()
    browser.force_login(user)
    session_id, stranger = session_of(user), make_user()
    other.force_login(stranger)
    theirs = session_of(stranger)

    async def run() -> list[int]:
        sockets = [Socket(browser, session_id) for _ in range(4)]
        for socket in sockets[:3]:
            await socket.connect()
        refused = await sockets[2].close_code()
        stranger_socket = Socket(other, theirs)
        await stranger_socket.connect()
        assert await stranger_socket.client.receive_nothing(0.3)
        for socket in (sockets[0], sockets[2], stranger_socket):
            await socket.disconnect()
        await sockets[3].connect()
        assert await sockets[3].client.receive_nothing(0.3), "the place of the first"
        for socket in (sockets[1], sockets[3]):
            await socket.disconnect()
        return [refused, SOCKETS.of(user.pk), SOCKETS.of(stranger.pk)]

    assert async_to_sync(run)() == [TRY_AGAIN, 0, 0]


def test_a_socket_whose_consumer_fails_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    user = make_user()

    async def fail(self: ChatConsumer, content: Any, **_more: Any) -> None:
        raise RuntimeError("a consumer that fails")

    monkeypatch.setattr(ChatConsumer, "receive_json", fail)

    async def talk(socket: Socket) -> None:
        await socket.send("{}")
        with pytest.raises(RuntimeError):
            await socket.client.wait(5)

    with pytest.raises(RuntimeError):
        talked(user, session_of(user), talk)
    assert SOCKETS.of(user.pk) == 0


def test_answers_of_other_conversations_are_neither_read_nor_stopped_here() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    theirs = create_session(Principal.of(make_user()))
    answer = str(theirs.messages.create(role="assistant", is_complete=False).pk)

    async def try_both(socket: Socket) -> list[list[dict[str, Any]]]:
        return [await answer_to(socket, json.dumps({word: answer})) for word in ("continue_message", "stop_message")]

    for events in talked(reader, session_of(reader), try_both):
        assert [event["response_type"] for event in events] == ["error"]
        assert "no such message" in events[0]["content"]


def program(secret: str, session_id: UUID, talk: Any, browser: Client | None = None) -> Any:
    """Return the events of `talk` over a socket opened with a token. browser: its cookies are sent, too."""

    sent: Any = browser or Client()
    sent.token = secret
    return talked(None, session_id, talk, sent)


def secret_of(user: User, *scopes: TokenScope) -> str:
    return issue_token(Principal.of(user), name="program", scopes=scopes)[1]


async def closed(socket: Socket) -> int:
    return await socket.close_code()


def test_a_token_for_chat_asks_and_follows() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    asked = json.dumps({"query": LEAVE})
    events = program(secret_of(reader, TokenScope.CHAT), session_of(reader), lambda socket: answer_to(socket, asked))
    assert "30 days" in text_of(events)
    assert events[-1]["data"] == {"stop_reason": "ok"}


def test_a_token_for_something_else_or_a_dead_one_opens_nothing_whatever_cookie_comes_with_it() -> None:
    reader = make_user()
    mine, browser = session_of(reader), Client()
    browser.force_login(reader)
    assert program(secret_of(reader, TokenScope.SEARCH), mine, closed, browser) == SIGNED_OUT
    assert program("ekc_nonsense", mine, closed, browser) == SIGNED_OUT
    secret = secret_of(reader, TokenScope.CHAT)
    ApiToken.objects.update(revoked_at="2026-01-01T00:00:00Z")
    assert program(secret, mine, closed, browser) == SIGNED_OUT
    assert program(secret_of(make_user(), TokenScope.CHAT), mine, closed, browser) == NOT_YOURS
