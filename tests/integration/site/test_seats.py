"""The seats of requests: whose line a request waits in, and that a seat always comes back, whatever becomes of its request."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.urls import path

from authz.models import ApiToken
from copilot_site.lib.load import seats
from copilot_site.lib.load.fair_queue import FairQueue
from copilot_site.lib.load.seats import Callers, Owners, SeatedHandler, SeatShare
from copilot_site.lib.load.waiting import require_waiting_client
from tests.waiting import met

ANNA, BERT = User(pk=1, username="anna"), User(pk=2, username="bert")
NOBODY = Owners(of_token=lambda _header: None, of_session=lambda _key: None)
begun, go_on = threading.Event(), threading.Event()


class Export(StreamingHttpResponse):
    reads_while_sent = True


def held(_request: HttpRequest) -> HttpResponse:
    """An answer that is made when the test says so."""
    begun.set()
    go_on.wait(10)
    return HttpResponse("made")


def long_work(_request: HttpRequest) -> HttpResponse:
    """Ends when nobody waits for it, else when the test is over."""
    begun.set()
    while not go_on.wait(0.01):
        require_waiting_client()
    return HttpResponse("made")


def held_export(request: HttpRequest) -> Export:
    held(request)

    async def parts() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    return Export(parts())


class Slow:
    """A middleware that takes until the test says so when the view has answered."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if request.path == "/late":
            held(request)
        return response


def late(_request: HttpRequest) -> Export:
    return Export(iter([b"a"]))


def failing(_request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a view that fails")


urlpatterns = [
    path("held", held, name="held"),
    path("export", held_export),
    path("long", long_work),
    path("failing", failing),
    path("late", late),
]


@pytest.fixture(autouse=True)
def site(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, ["copilot_site.lib.load.seats.GivesBack", f"{__name__}.Slow"]
    monkeypatch.setattr(seats, "callers", Callers())
    begun.clear()
    go_on.clear()
    yield
    go_on.set()


def line(places: int = 1, own: int = 1, most: int = 10) -> FairQueue:
    return FairQueue(places=places, own_places=lambda _party: own, most_waiting=most)


def asked(*, address: str = "10.0.0.1", cookie: str = "", token: str = "") -> HttpRequest:
    from django.conf import settings

    request = RequestFactory().get("/held", REMOTE_ADDR=address)
    if cookie:
        request.COOKIES[settings.SESSION_COOKIE_NAME] = cookie
    if token:
        request.META["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return request


def shown_to_be(user: User, *, by_token: bool = False, **more: str) -> HttpRequest:
    request = asked(**more)
    request.user = user
    if by_token:
        request.auth = ApiToken()  # type: ignore[attr-defined]
    return request


def test_cookies_and_tokens_that_somebody_made_up_are_one_party() -> None:
    callers = Callers()
    made_up = [asked(cookie=f"c{i}") for i in range(50)] + [asked(token=f"t{i}") for i in range(50)] + [asked()]
    assert len({callers.party(request) for request in made_up}) == 1
    assert callers.party(asked(address="10.0.0.2")) != callers.party(asked())


def test_whoever_is_known_does_not_wait_behind_made_up_callers() -> None:
    callers, queue = Callers(), line()
    callers.learn(shown_to_be(ANNA, cookie="a"))
    queue.enter("at work").leave()
    first = queue.enter(callers.party(asked(cookie="x")))
    flood = [queue.enter(callers.party(asked(cookie=f"x{i}"))) for i in range(5)]
    anna = queue.enter(callers.party(asked(cookie="a")))
    assert anna.before() == 0, "whose flood had a turn already"
    first.leave()
    assert anna.is_served
    assert not any(item.is_served for item in flood)


def test_all_sessions_and_tokens_of_a_person_are_one_party_wherever_they_are() -> None:
    callers = Callers()
    callers.learn(shown_to_be(ANNA, cookie="a1"))
    callers.learn(shown_to_be(ANNA, cookie="a2"))
    callers.learn(shown_to_be(ANNA, token="a3", by_token=True))
    callers.learn(shown_to_be(BERT, cookie="b"))
    known = (asked(cookie="a1"), asked(cookie="a2", address="10.0.0.9"), asked(token="a3"))
    parties = {callers.party(request) for request in known}
    assert len(parties) == 1
    assert callers.party(asked(cookie="b")) not in parties


def test_a_token_that_opened_nothing_is_not_remembered() -> None:
    """Else whoever is signed in could make the others forgotten, with a new header for each page."""
    callers = Callers()
    callers.learn(shown_to_be(BERT, cookie="b"))
    for i in range(seats.KNOWN_CALLERS):
        callers.learn(shown_to_be(ANNA, cookie="a", token=f"t{i}"))
    assert callers.party(asked(cookie="b")) == callers.party(asked(cookie="b", token="t1"))
    assert callers.party(asked(token="t1")) == callers.party(asked())


def all_pages(_method: str, _route: str) -> str:
    return "pages"


Scene = Callable[[Any, FairQueue], Any]


def played(scene: Scene, *, where: str) -> FairQueue:
    """A request of a client that the scene plays, over ASGI; the queue, when both are over."""
    queue = line()
    return sent(handler_of(queue, wait_s=0.2), scene, queue, where=where)


def handler_of(queue: FairQueue, *, wait_s: float) -> SeatedHandler:
    return SeatedHandler({"pages": SeatShare(queue, wait_s=wait_s)}, all_pages, NOBODY)


async def asking(handler: SeatedHandler, *, where: str, method: str = "GET") -> Any:
    """A client whose request is on its way."""
    communicator: Any = ApplicationCommunicator
    client = communicator(
        handler,
        {
            "type": "http",
            "method": method,
            "path": where,
            "headers": [],
            "query_string": b"",
            "client": ("10.0.0.1", 1),
        },
    )
    await client.send_input({"type": "http.request", "body": b""})
    return client


def sent(handler: SeatedHandler, scene: Scene, queue: FairQueue, *, where: str, method: str = "GET") -> FairQueue:
    async def run() -> None:
        await scene(await asking(handler, where=where, method=method), queue)
        go_on.set()
        await met("the seat given back", lambda: not queue.at_work)

    async_to_sync(run)()
    return queue


async def answered(client: Any, _queue: FairQueue) -> None:
    go_on.set()
    while True:
        message = await client.receive_output(5)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            break
    await client.wait(5)


async def gone_meanwhile(client: Any, queue: FairQueue) -> None:
    """The client leaves while the view works."""
    await asyncio.to_thread(begun.wait, 5)
    assert queue.at_work == 1
    await client.send_input({"type": "http.disconnect"})
    await asyncio.sleep(0.1)
    go_on.set()
    await client.wait(5)


async def gone_in_the_answer(client: Any, _queue: FairQueue) -> None:
    go_on.set()
    await client.receive_output(5)
    await client.send_input({"type": "http.disconnect"})
    await client.wait(5)


@pytest.mark.parametrize("where", ["/held", "/export", "/failing"])
@pytest.mark.parametrize("scene", [answered, gone_in_the_answer])
def test_a_seat_comes_back_when_the_answer_is_over(where: str, scene: Scene) -> None:
    assert played(scene, where=where).at_work == 0


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_who_only_asks_what_would_come_waits_in_the_line_of_who_takes_it(method: str) -> None:
    """The view works as long for both."""
    pages, transfers = line(), line()
    shares = {"pages": SeatShare(pages, wait_s=0.2), "transfer": SeatShare(transfers, wait_s=0.2)}
    handler = SeatedHandler(shares, lambda method, _route: "transfer" if method == "GET" else "pages", NOBODY)
    at_work: list[int] = []

    async def look(client: Any, _queue: FairQueue) -> None:
        await asyncio.to_thread(begun.wait, 5)
        at_work.extend([pages.at_work, transfers.at_work])
        await answered(client, _queue)

    sent(handler, look, transfers, where="/held", method=method)
    assert at_work == [0, 1]


@pytest.mark.parametrize("where", ["/held", "/export", "/late"])
def test_a_seat_comes_back_where_the_client_left_before_the_answer(where: str) -> None:
    assert played(gone_meanwhile, where=where).at_work == 0


def test_long_work_ends_when_its_client_has_left() -> None:
    async def gone(client: Any, queue: FairQueue) -> None:
        await asyncio.to_thread(begun.wait, 5)
        await client.send_input({"type": "http.disconnect"})
        try:
            await met("the end of work for nobody", lambda: not queue.at_work)
        finally:
            go_on.set()
        await client.wait(5)

    played(gone, where="/long")


def test_who_waits_and_leaves_is_out_of_the_line() -> None:
    queue = line()
    first = queue.enter("somebody")

    async def run() -> None:
        client = await asking(handler_of(queue, wait_s=3_600), where="/held")
        await met("somebody in the line", lambda: queue.waiting == 1)
        await client.send_input({"type": "http.disconnect"})
        await client.wait(5)
        assert queue.waiting == 0

    async_to_sync(run)()
    first.leave()
    assert (queue.waiting, queue.at_work) == (0, 0)
    assert not begun.is_set(), "nothing was done for whoever had left"


def test_a_full_line_answers_at_once_and_when_to_come_back() -> None:
    queue = line(most=1)
    tickets = [queue.enter("one"), queue.enter("two")]

    async def run() -> dict[str, Any]:
        client = await asking(handler_of(queue, wait_s=3_600), where="/held")
        started: dict[str, Any] = await client.receive_output(60)  # else it waits for the hour
        await client.receive_output(60)
        await client.wait(60)
        return started

    started = async_to_sync(run)()
    assert started["status"] == 503
    assert b"retry-after" in {name.lower() for name, _ in started["headers"]}
    assert [ticket.is_served for ticket in tickets] == [True, False]
