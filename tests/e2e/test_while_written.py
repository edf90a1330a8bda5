"""While an answer is written: its question stays in view unless the reader goes to the end; a broken line or a second tab loses nothing."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.talking import QUESTION, RULES, SLOWLY_S, Talk, ask, send, settled, top_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WRITTEN = "li.answer:last-child .answer-text"
COVERED = """() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  const composer = document.getElementById("composer");
  return !composer.contains(document.activeElement) && bottom > composer.getBoundingClientRect().top && top > 60;
}"""


def test_a_line_that_breaks_is_taken_up_where_it_was_and_a_second_tab_shows_all_that_was_written(
    page: Page, talk: Talk
) -> None:
    lines: list[WebSocketRoute] = []

    def through(line: WebSocketRoute) -> None:
        line.connect_to_server()
        lines.append(line)

    page.route_web_socket("**/ws/chat/**", through)
    talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
    send(page, QUESTION)
    text = page.locator(WRITTEN)
    expect(text).to_contain_text("coast")
    lines[-1].close(code=1001)
    expect(page.locator("#connection")).to_be_visible()
    expect(text).to_contain_text("coast")  # what was read stays while the line is away
    expect(text).to_contain_text("islands")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(WRITTEN)).to_contain_text("coast")
    expect(other.locator(WRITTEN)).to_contain_text("islands", timeout=1000)  # at once: it is not written a second time
    expect(other.locator(".pending")).to_have_text("Writing the answer")
    for tab in (page, other):
        answer = settled(tab)
        assert [answer.inner_text().count(word) for word in ("coast", "forest")] == [1, 1]
    assert len(lines) > 1
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("li.question")).to_have_count(1)
    talk.writer.pace_s = 0.0
    send(other, QUESTION)
    expect(settled(page, 1)).to_contain_text("coast")
    other.close()


def test_a_question_goes_to_the_top_and_stays_there_while_its_answer_grows(page: Page, talk: Talk) -> None:
    for place in range(2):
        ask(page, f"{QUESTION} {place}", place)
    talk.writer.pace_s = SLOWLY_S
    send(page, QUESTION)
    question = page.locator("li.message.question").nth(2)
    expect(question).to_be_visible()
    at_once = top_of(question)
    assert 50 < at_once < 90, "just below the bar"
    expect(page.locator(WRITTEN)).to_contain_text("coast")
    page.evaluate("window.words = document.querySelector('li.answer:last-child .answer-text p').firstChild")
    while_it_grows = top_of(question)
    settled(page, 2)
    assert page.evaluate("window.words.isConnected"), "what was shown is not rendered anew"
    assert (while_it_grows, top_of(question)) == (at_once, at_once)
    expect(page.locator("#to-end")).to_be_hidden()


def test_a_long_answer_is_read_from_its_question_and_followed_from_its_end(page: Page, talk: Talk) -> None:
    page.set_viewport_size({"width": 390, "height": 500})
    talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
    send(page, QUESTION)
    text, down = page.locator(WRITTEN), page.locator("#to-end")
    expect(text).to_contain_text("border")
    assert 50 < top_of(page.locator("li.question")) < 90, "just below the bar"
    down.click()
    before = page.evaluate("scrollY")
    expect(text).to_contain_text("delta")
    assert page.evaluate("scrollY") > before
    composer = top_of(page.locator("#composer"))
    assert top_of(text) + text.evaluate("text => text.offsetHeight") <= composer + 1, "the newest words are in view"
    expect(down).to_be_hidden()
    page.mouse.move(200, 200)
    page.mouse.wheel(0, -300)
    expect(down).to_be_visible()
    where = page.evaluate("scrollY")
    settled(page)
    assert page.evaluate("scrollY") == where, "nobody is moved who reads elsewhere"
    down.click()
    expect(down).to_be_hidden()
    assert page.evaluate("scrollY") > where
    page.locator("#question").focus()
    page.evaluate("scrollTo(0, 0)")
    page.locator("li.question [data-edit]").focus()
    for _control in range(20):
        page.keyboard.press("Tab")
        assert not page.evaluate(COVERED), "what has the focus is behind the composer"
