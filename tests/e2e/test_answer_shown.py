"""How one answer is shown: what is done for it while it comes, its chips and cards, its steps and sources, by mouse and keyboard."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.e2e.conftest import System
from tests.e2e.talking import ask, send
from tests.e2e.test_keyboard import tab_to

pytestmark = pytest.mark.browser

TOKENS = "How long do access tokens live?"
EVIL = "<img src=x onerror=document.title='caught'>"
STEP_MS = 200  # that a line stands, as static/js/chat/progress.js has it
HOLD = """ms => {
  const later = window.setTimeout;
  window.due = [];
  window.setTimeout = (what, wait, ...more) => wait === ms ? (window.due.push(what), 1e9) : later(what, wait, ...more);
}"""
# As a model would have written it: a sentence of one source, one of two, and code.
SENTENCES = [
    {"text": "Access tokens live 15 minutes.", "citations": [1]},
    {"text": "They are renewed by their service.", "citations": [1, 2]},
    {"text": "if ready; then", "citations": [1], "gap": "\n\n    "},
    {"text": "go <now>", "citations": [1], "gap": "\n      "},
    {"text": "fi", "citations": [1], "gap": "\n    "},
]
# Stores `sentences` in the answer `pk`. The second source is another passage that was read.
WRITE = """
from agent.models import Message
from knowledge.models import Chunk
m = Message.objects.get(pk=pk)
c = m.citations.get(number=1)
read = [e["source"]["chunk_id"] for e in m.state["evidence_items"]]
other = Chunk.unscoped.filter(id__in=read).exclude(document_id=c.document_id).first()
m.citations.filter(number=2).delete()
c.pk, c.number, c.chunk_id, c.start, c.end = None, 2, other.id, 0, 40
c.document_id, c.version_id, c.knowledge_base_id = other.document_id, other.version_id, other.knowledge_base_id
c.save()
m.provider, m.sentences = "a model", sentences
m.state["output"].pop("kind")
m.save()
"""


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

    def tell(self, kind: str, **more: Any) -> None:
        """Say to the page what a run with a model says while it works."""
        self.page_side.send(json.dumps({"response_type": kind, "content": "", "data": {}, **more}))

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


def test_an_answer_can_be_stopped_before_it_has_a_name_and_is_asked_for_once(system: System, page: Page) -> None:
    line = SlowLine(page)
    system.sign_in(page, "emma")
    send(page, "How many days may I work from home?")
    stop, box = page.get_by_role("button", name="Stop the answer"), page.locator("#question")
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


def called(name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": text}}


def test_one_line_says_what_is_done_and_folds_to_time_and_steps(system: System, page: Page) -> None:
    line = SlowLine(page)
    system.sign_in(page, "chen")
    send(page, TOKENS)
    state = page.locator(".pending")
    expect(state).to_be_visible()
    for _wait in range(200):  # for the socket, which opens when the conversation is made
        if line.sent:
            break
        page.wait_for_timeout(50)
    assert line.sent, "no socket was opened within 10 s"
    page.evaluate(HOLD, STEP_MS)  # each line stands until the test lets its time be over
    found = [{"knowledge_id": item, "knowledge_title": title} for item, title in (("a", "Tokens"), ("b", EVIL))]
    reading_on = [called("list_knowledge_chunks", {"knowledge_id": "b"}), called("database_query", "{")]
    line.tell("tool_call", tool_calls=[called("knowledge_search", {"queries": ["token lifetime"]})])
    line.tell("tool_result", data={"display_type": "search_results", "results": found})
    line.tell("tool_call", tool_calls=reading_on)
    expect(state).to_have_text("Searching for “token lifetime”")
    for following in ("Reading 2 documents", f"Reading on in {EVIL} · Running a query"):
        page.evaluate("window.due.shift()()")
        expect(state).to_have_text(following)
    line.let_through()
    trace = page.locator("li.message.answer[id^=m-] .trace")
    expect(trace.locator("summary")).to_have_text(re.compile(r"^\d+(\.\d)? s · \d steps$"))
    steps = trace.locator(".trace-steps")
    expect(steps).to_be_hidden()
    trace.locator("summary").click()
    expect(steps).to_contain_text("Searched your documents")
    expect(steps).not_to_contain_text("rag_retriever")
    assert page.title() != "caught"


def test_chips_open_their_sources_by_mouse_and_keyboard_and_what_is_copied_names_them(
    system: System, page: Page
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    system.sign_in(page, "chen")
    answer = _written(system, page)
    chip, of_two = (answer.locator("button.cite").nth(place) for place in range(2))
    card, drawer = page.locator("#cite-card"), page.locator("#drawer")
    title = str(chip.get_attribute("aria-label")).partition(": ")[2]

    expect(card).to_be_hidden()
    chip.hover()
    expect(card).to_be_visible()
    expect(card.locator(".card-title")).to_have_text(title)
    expect(card.locator(".card-quote b").first).to_be_visible()
    expect(card.locator(".card-place")).to_contain_text("›")
    expect(card.locator(".card-pager")).to_be_hidden()
    page.mouse.move(5, 400)
    expect(card).to_be_hidden()
    chip.hover()
    card.locator(".card-quote").click()
    expect(drawer.locator("mark").first).to_be_visible()
    expect(card).to_be_hidden()
    page.keyboard.press("Escape")
    page.mouse.move(5, 400)

    page.locator("h1").evaluate("heading => { heading.tabIndex = -1; heading.focus(); }")
    tab_to(page, "button.cite")
    expect(card).to_be_visible()
    expect(chip).to_have_accessible_description(re.compile(f"^{title} .*minutes"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    expect(drawer.locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(chip).to_be_focused()

    expect(of_two).to_contain_text("+1")
    page.keyboard.press("Tab")
    expect(of_two).to_be_focused()
    expect(card.locator(".card-place-in")).to_have_text("1 / 2")
    first = card.locator(".card-quote").inner_text()
    page.keyboard.press("ArrowRight")
    expect(card.locator(".card-place-in")).to_have_text("2 / 2")
    expect(card.locator(".card-quote")).not_to_have_text(first)
    second = of_two.get_attribute("data-source")
    page.keyboard.press("ArrowRight")
    expect(card.locator(".card-quote")).to_have_text(first)
    assert of_two.get_attribute("data-source") != second

    answer.get_by_role("button", name="Copy the answer").click()
    expect(answer.locator(".copy.is-done").first).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert re.match(r"Access tokens live 15 minutes\. ?\[1\]", copied[0])
    assert [line for line in copied if line.startswith(f"[1] {title} · ")]
    expect(answer.locator("pre button.cite")).to_have_count(3)
    answer.get_by_role("button", name="Copy the code").click()
    expect(answer.locator(".code-block .copy.is-done")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").rstrip() == "if ready; then\n  go <now>\nfi"


def _written(system: System, page: Page) -> Locator:
    """The answer to TOKENS as a model would have written it from the passages that were found."""
    pk = str(ask(page, TOKENS).get_attribute("id")).removeprefix("m-")
    done = system.checkout.manage("shell", "-c", f"pk, sentences = {pk!r}, {SENTENCES!r}\n{WRITE}")
    assert done.returncode == 0, done.stderr
    page.reload()
    return page.locator("li.message.answer").first
