"""How one answer is shown: what is done for it while it comes, its chips and cards, its steps and sources, by mouse and keyboard."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import System
from tests.e2e.test_answer import _ask, _sign_in
from tests.e2e.test_keyboard import tab_to
from tests.e2e.test_stopping import SlowLine

pytestmark = pytest.mark.browser

TOKENS = "How long do access tokens live?"
EVIL = "<img src=x onerror=document.title='caught'>"
STEP_MS = 200  # that a line stands, as static/js/chat/progress.js has it
HOLD = """ms => {
  const later = window.setTimeout;
  window.due = [];
  window.setTimeout = (what, wait, ...more) => wait === ms ? (window.due.push(what), 1e9) : later(what, wait, ...more);
}"""


def tell(line: SlowLine, kind: str, **more: Any) -> None:
    """Say to the page what a run with a model says while it works."""
    line.page_side.send(json.dumps({"response_type": kind, "content": "", "data": {}, **more}))


def called(name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": text}}


def test_one_line_says_what_is_done_and_folds_to_time_and_steps(system: System, page: Page) -> None:
    line = SlowLine(page)
    _sign_in(page, system, "chen")
    page.get_by_role("textbox").fill(TOKENS)
    page.keyboard.press("Enter")
    state = page.locator(".pending")
    expect(state).to_be_visible()
    for _wait in range(200):  # for the socket, which opens when the conversation is made
        if line.sent:
            break
        page.wait_for_timeout(50)
    page.evaluate(HOLD, STEP_MS)  # each line stands until the test lets its time be over
    found = [{"knowledge_id": each, "knowledge_title": title} for each, title in (("a", "Tokens"), ("b", EVIL))]
    tell(line, "tool_call", tool_calls=[called("knowledge_search", {"queries": ["token lifetime"]})])
    tell(line, "tool_result", data={"display_type": "search_results", "results": found})
    tell(
        line,
        "tool_call",
        tool_calls=[called("list_knowledge_chunks", {"knowledge_id": "b"}), called("database_query", "{")],
    )
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


def _written(system: System, page: Page) -> Locator:
    """The answer to TOKENS as a model would have written it from the passages that were found."""
    answer = _ask(page, TOKENS)
    said = "[{'text': 'Access tokens live 15 minutes.', 'citations': [1]}]"
    change(
        system,
        str(answer.get_attribute("id")).removeprefix("m-"),
        "m.provider = 'a model'",
        "m.state['output'].pop('kind')",
        f"m.sentences = {said}",
    )
    page.reload()
    return page.locator("li.message.answer").first


def test_a_card_opens_over_a_chip_and_goes_with_the_pointer(system: System, page: Page) -> None:
    _sign_in(page, system, "chen")
    chip = _written(system, page).locator("button.cite").first
    card = page.locator("#cite-card")
    expect(card).to_be_hidden()
    chip.hover()
    expect(card).to_be_visible()
    expect(card.locator(".card-title")).to_have_text(title_of(chip))
    expect(card.locator(".card-quote b").first).to_be_visible()
    expect(card.locator(".card-place")).to_contain_text("›")
    expect(card.locator(".card-pager")).to_be_hidden()
    page.mouse.move(5, 400)
    expect(card).to_be_hidden()
    chip.hover()
    card.locator(".card-quote").click()
    expect(page.locator("#drawer mark").first).to_be_visible()
    expect(card).to_be_hidden()


def test_a_citation_is_read_and_left_with_the_keyboard_alone(system: System, page: Page) -> None:
    _sign_in(page, system, "chen")
    chip = _written(system, page).locator("button.cite").first
    page.locator("h1").evaluate("heading => { heading.tabIndex = -1; heading.focus(); }")
    tab_to(page, "button.cite")
    card = page.locator("#cite-card")
    expect(card).to_be_visible()
    expect(chip).to_have_accessible_description(re.compile(f"^{title_of(chip)} .*minutes"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    drawer = page.locator("#drawer")
    expect(drawer.locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(chip).to_be_focused()


def test_a_chip_of_several_sources_pages_through_them(system: System, page: Page) -> None:
    _sign_in(page, system, "chen")
    answer = _written(system, page)
    share_a_sentence(system, str(answer.get_attribute("id")).removeprefix("m-"))
    page.reload()
    chip = page.locator("li.message.answer button.cite").first
    expect(chip).to_contain_text("+1")
    chip.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    card = page.locator("#cite-card")
    expect(card.locator(".card-place-in")).to_have_text("1 / 2")
    first = card.locator(".card-quote").inner_text()
    page.keyboard.press("ArrowRight")
    expect(card.locator(".card-place-in")).to_have_text("2 / 2")
    expect(card.locator(".card-quote")).not_to_have_text(first)
    second = chip.get_attribute("data-source")
    page.keyboard.press("ArrowRight")
    expect(card.locator(".card-quote")).to_have_text(first)
    assert chip.get_attribute("data-source") != second


def test_copied_text_has_the_numbers_of_sources(system: System, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _sign_in(page, system, "chen")
    answer = _written(system, page)
    answer.get_by_role("button", name="Copy the answer").click()
    expect(answer.locator(".copy.is-done")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0].endswith("[1]")
    source = f"[1] {title_of(answer.locator('button.cite').first)} · "
    assert [line for line in copied if line.startswith(source)]


def test_copied_code_can_be_run(system: System, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _sign_in(page, system, "chen")
    answer = _ask(page, TOKENS)
    lines = [("if ready; then", "\n\n    "), ("go <now>", "\n      "), ("fi", "\n    ")]
    change(
        system,
        str(answer.get_attribute("id")).removeprefix("m-"),
        "m.provider = 'a model'",
        "m.state['output'].pop('kind')",
        f"m.sentences = {code_of(lines)}",
    )
    page.reload()
    answer = page.locator("li.message.answer").first
    expect(answer.locator("pre button.cite")).to_have_count(3)
    answer.get_by_role("button", name="Copy the code").click()
    expect(answer.locator(".code-block .copy.is-done")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").rstrip() == "if ready; then\n  go <now>\nfi"


def code_of(lines: list[tuple[str, str]]) -> list[dict[str, object]]:
    return [{"text": text, "citations": [1], "gap": gap} for text, gap in lines]


def title_of(chip: Locator) -> str:
    """The title of a chip's only source."""
    return str(chip.get_attribute("aria-label")).partition(": ")[2]


def share_a_sentence(system: System, message_id: str) -> None:
    """Have the first sentence of an answer stand on a second passage of the same document, too."""
    change(
        system,
        message_id,
        "from knowledge.models import Chunk",
        "c = m.citations.get(number=1)",
        "read = [e['source']['chunk_id'] for e in m.state['evidence_items']]",
        "other = Chunk.unscoped.filter(id__in=read).exclude(document_id=c.document_id).first()",
        "m.citations.filter(number=2).delete()",
        "c.pk, c.number, c.chunk_id, c.start, c.end = None, 2, other.id, 0, 40",
        "c.document_id, c.version_id, c.knowledge_base_id = other.document_id, other.version_id, other.knowledge_base_id",
        "c.save()",
        "m.sentences = [{**m.sentences[0], 'citations': [1, 2]}]",
    )


def change(system: System, message_id: str, *lines: str) -> None:
    """Run lines on a stored message `m`, and save it."""
    get = ("from agent.models import Message", f"m = Message.objects.get(pk={message_id!r})")
    done = system.checkout.manage("shell", "-c", "\n".join([*get, *lines, "m.save()"]))
    assert done.returncode == 0, done.stderr
