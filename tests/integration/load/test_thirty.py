"""Thirty people ask in the same instant: overload slows them down, and loses nobody's question."""

import asyncio
from collections import Counter

import httpx
import pytest

from agent.models import Message
from tests.integration.agent.conversations import LEAVE
from tests.integration.load.server import People, web_process

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 30


async def asked_and_waited_for(client: httpx.AsyncClient) -> httpx.Response:
    async with client:
        session = await client.post("/api/v1/sessions")
        if session.status_code != 201:
            return session
        return await client.post(f"/api/v1/sessions/{session.json()['id']}/messages", json={"query": LEAVE})


def test_thirty_people_at_once_all_get_their_answer() -> None:
    people = People(PEOPLE)

    async def scene(url: str) -> list[httpx.Response]:
        return await asyncio.gather(*map(asked_and_waited_for, people.clients(url)))

    with web_process() as (url, _process):
        answers = asyncio.run(scene(url))
    assert Counter(answer.status_code for answer in answers) == {201: PEOPLE}
    assert all("30 days" in answer.json()["content"] for answer in answers)
    assert Message.objects.filter(is_complete=True, stop_reason="ok").count() == PEOPLE
