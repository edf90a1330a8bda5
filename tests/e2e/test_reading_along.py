"""A new question goes to the top and its answer grows below it: followed, until the reader scrolls."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.talking import QUESTION, RULES, SLOWLY_S, ask, send, settled, sign_in, talking, top_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_question_goes_to_the_top_and_stays_there_while_its_answer_grows(page: Page) -> None:
    with talking() as talk:
        sign_in(page, talk.url)
        for place in range(2):
            ask(page, f"{QUESTION} {place}", place)
        talk.writer.pace_s = SLOWLY_S
        send(page, QUESTION)
        question = page.locator("li.message.question").nth(2)
        expect(question).to_be_visible()
        at_once = top_of(question)
        assert 50 < at_once < 90, "just below the bar"
        expect(page.locator("li.answer:last-child .answer-text")).to_contain_text("coast")
        page.evaluate("window.words = document.querySelector('li.answer:last-child .answer-text p').firstChild")
        while_it_grows = top_of(question)
        settled(page, 2)
        assert page.evaluate("window.words.isConnected"), "what was shown is not rendered anew"
        assert (while_it_grows, top_of(question)) == (at_once, at_once)
        expect(page.locator("#to-end")).to_be_hidden()


def test_a_long_answer_is_followed_until_the_reader_scrolls_and_again_from_its_end(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 500})
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        text, down = page.locator("li.answer:last-child .answer-text"), page.locator("#to-end")
        expect(text).to_contain_text("border")
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
        covered = """() => {
          const { top, bottom } = document.activeElement.getBoundingClientRect();
          const composer = document.getElementById("composer");
          return !composer.contains(document.activeElement) && bottom > composer.getBoundingClientRect().top && top > 60;
        }"""
        page.evaluate("scrollTo(0, 0)")
        page.locator("li.question [data-edit]").focus()
        for _control in range(20):
            page.keyboard.press("Tab")
            assert not page.evaluate(covered), "what has the focus is behind the composer"
