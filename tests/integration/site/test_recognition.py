"""Whoever is signed in does not wait behind unknown callers of their address, though this process has never seen them before."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as site
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path

from authz.principal import Principal
from authz.tokens.api_tokens import issue_token, revoke_token
from authz.tokens.sockets import OWNERS
from copilot_site.lib.load import seats
from copilot_site.lib.load.fair_queue import FairQueue
from copilot_site.lib.load.seats import Callers, OwnerLookup, Owners, SeatedHandler, SeatShare
from tests.factories import make_user
from tests.waiting import met

ADDRESS = "10.0.0.1"
served: list[str] = []
go_on = threading.Event()


def noted(request: HttpRequest) -> HttpResponse:
    served.append(request.GET["who"])
    go_on.wait(10)
    return HttpResponse("made")


urlpatterns = [path("noted", noted)]


@pytest.fixture(autouse=True)
def house(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, ["copilot_site.lib.load.seats.GivesBack"]
    monkeypatch.setattr(seats, "callers", Callers())
    served.clear()
    go_on.clear()
    yield
    go_on.set()


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[site.SESSION_COOKIE_NAME].value


def token_of(user: User) -> str:
    return issue_token(Principal.of(user), name="program", days=1)[1]


def scope(who: str, *, cookie: str = "", token: str = "") -> dict[str, Any]:
    headers = [(b"cookie", f"{site.SESSION_COOKIE_NAME}={cookie}".encode())] if cookie else []
    headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
    return {"type": "http", "method": "GET", "path": "/noted", "headers": headers, "query_string": f"who={who}".encode(),
            "client": (ADDRESS, 1)}  # fmt: skip


def asked(*scopes: dict[str, Any], owners: Owners = OWNERS) -> list[str]:
    """Who is served in which order, where each comes when all before wait."""
    queue = FairQueue(places=1, own_places=lambda _party: 1, most_waiting=100)
    handler = SeatedHandler({"pages": SeatShare(queue, wait_s=30)}, lambda _method, _route: "pages", owners)

    async def run() -> None:
        communicator: Any = ApplicationCommunicator
        clients = []
        for number, item in enumerate(scopes):
            clients.append(communicator(handler, item))
            await clients[-1].send_input({"type": "http.request", "body": b""})
            await met("the request in the queue", lambda: queue.waiting + queue.at_work > number)  # noqa: B023
        go_on.set()
        for client in clients:
            await client.wait(10)

    async_to_sync(run)()
    return list(served)


FLOOD = [scope(f"flood{number}", cookie=f"madeup{number:032}") for number in range(8)]


@pytest.mark.django_db(transaction=True)
def test_whoever_is_signed_in_comes_before_a_flood_from_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    anna, bert = make_user("anna"), make_user("bert")
    order = asked(*FLOOD, scope("anna", cookie=session_of(anna)), scope("bert", token=token_of(bert)))
    assert set(order[1:3]) == {"anna", "bert"}, "right after who was served already"
    nobody = Owners(of_token=lambda _secret: None, of_session=lambda _key: None)
    monkeypatch.setattr(seats, "callers", Callers())
    served.clear()
    go_on.clear()
    assert asked(*FLOOD, scope("anna", cookie=session_of(anna)), owners=nobody)[-1] == "anna", "without the look"


@pytest.mark.django_db(transaction=True)
def test_what_opens_nothing_any_more_is_one_of_its_address() -> None:
    anna = make_user("anna")
    token, secret = issue_token(Principal.of(anna), name="program", days=1)
    revoke_token(Principal.of(anna), token_id=token.pk)
    key = session_of(anna)
    ended = Client()
    ended.cookies[site.SESSION_COOKIE_NAME] = key
    ended.session.flush()
    order = asked(*FLOOD, scope("token", token=secret), scope("session", cookie=key), scope("odd", cookie="a%00\x00b"))
    assert order[-3:] == ["token", "session", "odd"]


def door_request(cookie: str) -> HttpRequest:
    request = RequestFactory().get("/noted", REMOTE_ADDR=ADDRESS)
    request.COOKIES[site.SESSION_COOKIE_NAME] = cookie
    return request


def test_whoever_is_known_or_has_nothing_is_not_looked_up() -> None:
    looked: list[str] = []
    door = OwnerLookup(Owners(of_token=lambda _secret: None, of_session=lambda key: looked.append(key) or 7))  # type: ignore[func-returns-value]

    async def run() -> None:
        await asyncio.gather(*(door.meet(door_request("a")) for _number in range(5)))
        await door.meet(RequestFactory().get("/noted"))
        await door.meet(door_request("b"))

    async_to_sync(run)()
    assert looked == ["a", "b"]
    assert seats.callers.party(door_request("a")) == 7


def test_a_look_that_fails_or_takes_long_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "LOOK_S", 0.05)

    def fails(_key: str) -> int:
        raise OSError("no database")

    def hangs(_key: str) -> int:
        go_on.wait(5)
        return 7

    for look in (fails, hangs):
        door = OwnerLookup(Owners(of_token=look, of_session=look))
        async_to_sync(door.meet)(door_request("a"))
        assert seats.callers.party(door_request("a")) == ADDRESS
        assert not go_on.is_set()


@pytest.mark.django_db(transaction=True)
def test_a_look_leaves_no_connection_behind() -> None:
    """It is the thread in which sockets are looked up, which has one connection of the budget."""
    async_to_sync(OwnerLookup(OWNERS).meet)(door_request(session_of(make_user("anna"))))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
        )
        assert cursor.fetchone() == (0,)
