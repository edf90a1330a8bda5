"""One client that asks for more than a pool has leaves others their turn: real requests at once, over ASGI."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as site
from django.http import HttpRequest, HttpResponse
from django.urls import path

from copilot_site.lib.load import seats
from copilot_site.lib.load.seats import Callers, Owners, SeatedHandler
from copilot_site.pools import build_shares, find_pool
from tests.waiting import met

PEOPLE = {"anna": 1, "bert": 2, "carl": 3}
OWNERS = Owners(of_token=lambda header: PEOPLE.get(header.removeprefix("Bearer ")), of_session=PEOPLE.get)
MANY = 5  # requests of one flood
go_on = threading.Event()


def held(request: HttpRequest) -> HttpResponse:
    """Answers at once, a slow request when the test says so."""
    if request.headers.get("X-Slow"):
        go_on.wait(60)
    request.close()  # Django closes it with the answer, which nobody here reads to its end
    return HttpResponse("made")


# one route of each pool, by the site's names
urlpatterns = [
    path("page", held, name="library"),
    path("embeddings", held, name="openai-embeddings"),
    path("compare", held, name="versions-compare"),
    path("export", held, name="api:audit-export"),
]


@pytest.fixture(autouse=True)
def house(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, ["copilot_site.lib.load.seats.GivesBack"]
    monkeypatch.setattr(seats, "callers", Callers())
    go_on.clear()
    yield
    go_on.set()


class Site:
    """The site's own shares and pools; everybody comes from one address."""

    def __init__(self) -> None:
        self.shares = build_shares()
        self._handler = SeatedHandler(self.shares, find_pool, OWNERS)
        self._open: list[Any] = []

    async def send(self, where: str, *headers: tuple[bytes, bytes]) -> Any:
        communicator: Any = ApplicationCommunicator
        client = communicator(
            self._handler,
            {"type": "http", "method": "GET", "path": where, "headers": list(headers), "query_string": b"",
             "client": ("10.0.0.1", 1)},
        )  # fmt: skip
        await client.send_input({"type": "http.request", "body": b""})
        return client

    async def flood(self, where: str, *headers: tuple[bytes, bytes], until: int) -> None:
        """More slow requests than a pool has seats. until: so many are at work or wait then, over all pools."""
        for _number in range(MANY):
            self._open.append(await self.send(where, (b"x-slow", b"1"), *headers))
        queues = [share.queue for share in self.shares.values()]
        await met("the requests at their seats", lambda: sum(item.at_work + item.waiting for item in queues) == until)

    async def status(self, where: str, *headers: tuple[bytes, bytes]) -> int:
        client = await self.send(where, *headers)
        started = await client.receive_output(30)
        await client.receive_output(30)
        await client.wait(30)
        return int(started["status"])

    async def end(self) -> None:
        go_on.set()
        for client in self._open:
            await client.send_input({"type": "http.disconnect"})
            await client.wait(30)


def session(name: str) -> tuple[bytes, bytes]:
    return b"cookie", f"{site.SESSION_COOKIE_NAME}={name}".encode()


def token(name: str) -> tuple[bytes, bytes]:
    return b"authorization", f"Bearer {name}".encode()


@pytest.mark.parametrize("where", ["/page", "/export"])
def test_one_person_by_session_token_and_address_leaves_others_a_seat(where: str) -> None:
    async def scene() -> tuple[list[int], bool]:
        here = Site()
        await here.flood(where, session("anna"), until=MANY)
        await here.flood(where, token("anna"), until=2 * MANY)
        await here.flood(where, until=3 * MANY)
        full = [share.queue for share in here.shares.values() if share.queue.at_work >= share.queue.places]
        answers = [await here.status(where, session("bert")), await here.status("/page", token("carl"))]
        await here.end()
        return answers, bool(full)

    answers, is_full = async_to_sync(scene)()
    assert answers == [200, 200]
    assert not is_full, "a seat of each pool is left"


def test_pages_are_answered_while_all_seats_of_slow_work_are_taken() -> None:
    async def scene() -> list[int]:
        here = Site()
        for count, name in enumerate(PEOPLE):
            await here.flood("/embeddings", token(name), until=MANY * (count + 1))
        await here.flood("/compare", until=4 * MANY)
        queue = here.shares["transfers"].queue
        assert queue.at_work == queue.places
        answers = [await here.status("/page", session(name)) for name in PEOPLE]
        await here.end()
        return answers

    assert async_to_sync(scene)() == [200] * 3
