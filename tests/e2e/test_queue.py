"""The chat page where more is asked than is answered at once: a place is shown, and a question that was not taken is sent again."""

import json
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from agent.conversations.sessions import create_session
from agent.models import Message
from authz.principal import Principal
from tests.e2e.talking import PASSWORD, send, sign_in
from tests.factories import allow, make_user
from tests.integration.agent.conversations import LEAVE
from tests.integration.load.server import PATIENT_S, People
from tests.integration.load.test_admission import one_at_a_time

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Asking:
    """A program that has asked, and reads its events."""

    def __init__(self, stack: ExitStack, url: str, people: People, number: int) -> None:
        headers = {"Authorization": f"Bearer {people.tokens[number]}"}
        self.http = stack.enter_context(httpx.Client(base_url=url, headers=headers, timeout=PATIENT_S))
        self.session_id = create_session(Principal.of(people.users[number])).pk
        path = f"/api/v1/knowledge-chat/{self.session_id}"
        self._lines = stack.enter_context(self.http.stream("POST", path, json={"query": LEAVE})).iter_lines()

    def next(self) -> dict[str, Any]:
        line = next(line for line in self._lines if line.startswith("data: "))
        event: dict[str, Any] = json.loads(line.removeprefix("data: "))
        return event

    def stop(self, message_id: str) -> None:
        self.http.post(f"/api/v1/sessions/{self.session_id}/stop", json={"message_id": message_id}).raise_for_status()


def test_a_question_that_found_no_room_waits_on_the_page_and_then_in_the_queue(page: Page) -> None:
    people = People(2)
    nina = make_user("nina", password=PASSWORD)
    allow(nina, people.base)
    asked = Message.objects.filter(role="user", session__user=nina)
    with one_at_a_time("tests.integration.load.queue_of_one") as (url, _process), ExitStack() as stack:
        working = Asking(stack, url, people, 0)
        assert working.next()["response_type"] == "agent_query"
        waiting = Asking(stack, url, people, 1)
        place = waiting.next()
        assert place["response_type"] == "queued"
        sign_in(page, url)
        send(page, LEAVE)
        expect(page.locator(".pending")).to_contain_text("Many people are asking right now.")
        assert asked.count() == 0, "the page's question is with nobody yet"
        waiting.stop(place["assistant_message_id"])
        expect(page.locator(".pending")).to_have_text("Others are being answered; you are next.")
        assert asked.count() == 1
        page.locator("#stop").click()
        expect(page.locator("li.message.answer[id^=m-]")).to_have_count(1)
