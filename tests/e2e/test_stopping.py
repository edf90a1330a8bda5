"""While an answer is on its way there is a Stop, from the first moment on, and nothing is sent twice."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.conftest import System
from tests.e2e.test_answer import _sign_in


class SlowLine:
    """The socket of the chat page over a line that keeps back what the server says until it is let through."""

    def __init__(self, page: Page) -> None:
        self.sent: list[dict[str, Any]] = []
        self.kept: list[str | bytes] = []
        self.is_open = False
        page.route_web_socket("**/ws/chat/**", self._begin)

    def let_through(self) -> None:
        self.is_open = True
        for message in self.kept:
            self.page_side.send(message)

    def _begin(self, page_side: WebSocketRoute) -> None:
        self.page_side = page_side
        server = page_side.connect_to_server()

        def up(message: str | bytes) -> None:
            self.sent.append(json.loads(message))
            server.send(message)

        def down(message: str | bytes) -> None:
            if self.is_open:
                page_side.send(message)
            else:
                self.kept.append(message)

        page_side.on_message(up)
        server.on_message(down)


@pytest.mark.browser
def test_an_answer_can_be_stopped_before_it_has_a_name_and_is_asked_for_once(system: System, page: Page) -> None:
    line = SlowLine(page)
    _sign_in(page, system, "emma")
    box = page.get_by_role("textbox")
    box.fill("How many days may I work from home?")
    box.press("Enter")
    stop = page.get_by_role("button", name="Stop the answer")
    expect(stop).to_be_visible()
    expect(page.get_by_role("button", name="Send the question")).to_be_hidden()
    box.fill("And once more?")
    stop.click()
    expect(stop).to_be_disabled()
    expect(page.locator(".pending")).to_have_text("Stopping…")
    line.let_through()
    expect(page.locator("li.message.answer[id^=m-]")).to_have_count(1)
    assert [next(iter(message)) for message in line.sent] == ["query", "stop_message"]
    expect(box).to_have_value("And once more?")
    expect(page.get_by_role("button", name="Send the question")).to_be_enabled()
