"""What is asked and typed is not lost: by a line that breaks, a second tab, a reload or another language."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.talking import QUESTION, RULES, SLOWLY_S, ask, send, settled, sign_in, talking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_line_that_breaks_is_taken_up_where_it_was(page: Page) -> None:
    lines: list[WebSocketRoute] = []

    def through(line: WebSocketRoute) -> None:
        line.connect_to_server()
        lines.append(line)

    page.route_web_socket("**/ws/chat/**", through)
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        text = page.locator("li.answer:last-child .answer-text")
        expect(text).to_contain_text("coast")
        lines[-1].close(code=1001)
        expect(page.locator("#connection")).to_be_visible()
        expect(text).to_contain_text("coast")  # what was read stays while the line is away
        expect(text).to_contain_text("forest")
        answer = settled(page)
        assert len(lines) > 1
        assert answer.inner_text().count("coast") == 1
        expect(page.locator("#connection")).to_be_hidden()
        expect(page.locator("li.question")).to_have_count(1)


def test_a_second_tab_shows_all_that_was_written_in_one_step(page: Page) -> None:
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        expect(page.locator("li.answer:last-child .answer-text")).to_contain_text("islands")
        other = page.context.new_page()
        other.goto(page.url)
        text = other.locator("li.answer:last-child .answer-text")
        expect(text).to_contain_text("coast")
        expect(text).to_contain_text("islands", timeout=1000)  # at once: it is not written a second time
        expect(other.locator(".pending")).to_have_text("Writing the answer")
        for tab in (page, other):
            answer = settled(tab)
            assert answer.inner_text().count("forest") == 1
        send(other, QUESTION)
        talk.writer.pace_s = 0.0
        expect(settled(page, 1)).to_contain_text("coast")
        other.close()


def test_a_draft_survives_a_reload_and_another_language(page: Page) -> None:
    def to_chinese() -> None:
        page.get_by_role("button", name="Account and settings").click()
        page.locator("#account button[value=zh-hans]").click()
        page.wait_for_load_state()

    with talking() as talk:
        sign_in(page, talk.url)
        page.fill("#question", "half a question")
        page.reload()
        expect(page.locator("#question")).to_have_value("half a question")
        ask(page, QUESTION)
        page.locator("#question").press_sequentially("and @trav")
        page.locator("#places [role=option]").click()
        expect(page.locator("#scope li")).to_have_text(["in Travel: one document you can read"])
        address = page.url
        to_chinese()
        assert page.url == address
        expect(page.locator("#question")).to_have_value("and ")
        expect(page.locator("#scope li")).to_have_text(["范围：Travel（您可阅读 1 份文档）"])
        expect(page.locator("li.question > p")).to_have_text([QUESTION])
        expect(page.locator("#send")).to_be_enabled()
