"""What cannot be taken is refused before anything is stored; what waits costs nothing; everything else is answered meanwhile."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from django.db import connection

from agent.conversations.sessions import create_session
from agent.models import Message
from agent.profiles.settings import Options
from agent.runs.start import find_run_queue, prepare_run
from authz.principal import Principal
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE
from tests.integration.load.server import PATIENT_S, People, web_process
from tests.modelserver import says, serving

pytestmark = pytest.mark.django_db(transaction=True)
Event = dict[str, Any]


@contextmanager
def one_at_a_time(application: str = "copilot_site.asgi") -> Iterator[tuple[str, psutil.Process]]:
    """A web process that answers one question at a time, with a model that never ends its answer."""
    with serving(chooses=lambda _request: says("", hang="before")) as model:
        env = {"COPILOT_LLM_BASE_URL": model.base_url, "COPILOT_LLM_MODEL": "scripted"}
        with web_process(application, COPILOT_MODEL_RUNS_AT_ONCE="1", **env) as found:
            yield found


class Visitor:
    """A person at the web process, with a conversation."""

    def __init__(self, client: httpx.AsyncClient, session_id: str) -> None:
        self.client, self.session_id = client, session_id

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[tuple[httpx.Response, AsyncIterator[Event]]]:
        path = f"/api/v1/knowledge-chat/{self.session_id}"
        async with self.client.stream("POST", path, json={"query": LEAVE}) as answer:
            yield answer, _events(answer)

    async def waited_for(self) -> httpx.Response:
        return await self.client.post(f"/api/v1/sessions/{self.session_id}/messages", json={"query": LEAVE})

    async def stop(self, message_id: str) -> httpx.Response:
        return await self.client.post(f"/api/v1/sessions/{self.session_id}/stop", json={"message_id": message_id})


async def _events(answer: httpx.Response) -> AsyncIterator[Event]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


@asynccontextmanager
async def visitors(people: People, sessions: list[str], url: str) -> AsyncIterator[list[Visitor]]:
    clients = people.clients(url)
    try:
        yield [Visitor(client, session) for client, session in zip(clients, sessions, strict=True)]
    finally:
        for client in clients:
            await client.aclose()


def conversations(people: People) -> list[str]:
    return [str(create_session(Principal.of(user)).pk) for user in people.users]


def is_refusal(answer: httpx.Response, status: int) -> bool:
    body = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert body["detail"].endswith(f" again in {answer.headers['Retry-After']} s.")
    return bool(answer.status_code == body["status"] == status)


async def refused(visitor: Visitor, status: int) -> bool:
    async with visitor.asking() as (answer, _events):
        await answer.aread()
        return is_refusal(answer, status)


async def next_of(events: AsyncIterator[Event], *types: str) -> Event:
    async for event in events:
        if event["response_type"] in types:
            return event
    raise AssertionError(f"none of {types} came")


def test_a_full_queue_refuses_before_anything_is_stored_and_the_rest_is_answered() -> None:
    people = People(4)
    sessions = conversations(people)

    async def scene(url: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        async with AsyncExitStack() as stack:
            first, second, third, fourth = await stack.enter_async_context(visitors(people, sessions, url))
            _answer, working = await stack.enter_async_context(first.asking())
            found["working"] = (await anext(working))["response_type"]
            _answer, waiting = await stack.enter_async_context(second.asking())
            queued = await anext(waiting)
            found["place"] = (queued["response_type"], queued["seq"], queued["data"], queued["content"])
            found["greedy"] = await refused(second, 429)
            _answer, behind = await stack.enter_async_context(third.asking())
            found["behind"] = (await anext(behind))["data"]
            found["full"] = is_refusal(await fourth.waited_for(), 503)
            found["full at the stream"] = await refused(fourth, 503)
            places = ("/healthz", "/readyz", "/sign-in/", "/api/v1/sessions", "/api/v1/knowledge-bases")
            found["pages"] = [(await fourth.client.get(place)).status_code for place in places]
            found["stopped"] = (await second.stop(queued["assistant_message_id"])).status_code
            found["ends"] = [event["response_type"] async for event in waiting]
            found["moved up"] = (await next_of(behind, "queued"))["data"]
        return found

    with one_at_a_time("tests.integration.load.short_queue") as (url, _process):
        found = asyncio.run(scene(url))
    assert found == {
        "working": "agent_query",
        "place": ("queued", 0, {"before": 0}, "Others are being answered; you are next."),
        "greedy": True,
        "behind": {"before": 1},
        "full": True,
        "full at the stream": True,
        "pages": [200] * 5,
        "stopped": 200,
        "ends": ["stop", "complete"],
        "moved up": {"before": 0},
    }
    stored = Message.objects.filter(role="user").values_list("session_id", flat=True)
    assert sorted(map(str, stored)) == sorted(sessions[:3]), "nothing of what was refused"


def test_who_waits_for_a_whole_answer_holds_no_thread_and_no_connection() -> None:
    people = People(20)
    sessions = conversations(people)

    async def scene(url: str, process: psutil.Process) -> tuple[int, int]:
        async with visitors(people, sessions, url) as all_of_them:
            await all_of_them[0].client.get("/api/v1/sessions")  # the lanes of threads are there
            waiting = [asyncio.create_task(item.waited_for()) for item in all_of_them]
            async with asyncio.timeout(PATIENT_S):  # all are taken
                while await asyncio.to_thread(_taken) < len(all_of_them):
                    await asyncio.wait(waiting, timeout=0.1)
                    assert not any(task.done() for task in waiting)
            async with asyncio.timeout(PATIENT_S):
                while (busy := await asyncio.to_thread(_busy)) > 0:  # the last statements of taking them
                    await asyncio.wait(waiting, timeout=0.1)
            threads = process.num_threads()
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return threads, busy

    with one_at_a_time() as (url, process):
        threads, _busy_at_last = asyncio.run(scene(url, process))
        idle = process.num_threads()
    assert threads <= idle + 4, "twenty who wait have no twenty threads"
    assert Message.objects.filter(role="user").count() == len(sessions), "who went away has asked all the same"


def _taken() -> int:
    try:
        return Message.objects.filter(role="user").count()
    finally:
        connection.close()


def _busy() -> int:
    """Connections to this database that are in a statement or a transaction, beside this one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
                " AND pid <> pg_backend_pid()"
            )
            return int(cursor.fetchone()[0])
    finally:
        connection.close()


@contextmanager
def closed_database() -> Iterator[None]:
    """Nobody gets a new connection, and those that are open end."""
    found = connection.settings_dict
    name = found["NAME"]
    connection.close()
    with psycopg.connect(
        host=found["HOST"], port=found["PORT"], user=found["USER"], password=found["PASSWORD"], dbname="postgres",
        autocommit=True,
    ) as server:  # fmt: skip
        server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        try:
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


def test_a_database_that_is_gone_is_a_page_and_a_problem_document_and_never_a_traceback() -> None:
    people = People(1)
    (session,) = conversations(people)

    async def scene(url: str) -> list[httpx.Response]:
        async with visitors(people, [session], url) as (person,):
            with_html = {"Accept": "text/html", "Cookie": "copilot_session_8000=" + "a" * 32}
            without = {"Authorization": "", **with_html}
            page = await person.client.get("/", headers=without)
            # One after the other: at once they would wait for the single seat of a caller that cannot be looked up.
            return [
                page,
                await person.client.get("/api/v1/sessions"),
                await person.waited_for(),
                await person.client.get("/healthz"),
            ]

    with web_process() as (url, _process), closed_database():
        page, listed, asked, alive = asyncio.run(scene(url))
    assert alive.status_code == 200
    assert [answer.status_code for answer in (page, listed, asked)] == [503] * 3
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Refresh"] == page.headers["Retry-After"]
    assert "The database is not responding" in page.text
    assert "Traceback" not in page.text
    for answer in (listed, asked):
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.json()["detail"] == "The database is not responding. Try again in a few seconds."
    assert not Message.objects.exists()


def test_a_run_that_nobody_launches_gives_its_place_back() -> None:
    principal = Principal.of(make_user())
    session = create_session(principal)
    places = find_run_queue(has_model=False)
    before = places.at_work
    run = prepare_run(principal, session.pk, LEAVE, scope=Scope(), language="en", options=Options())
    assert places.at_work == before + 1
    del run  # whoever asked went away before anything was read
    gc.collect()
    assert places.at_work == before
