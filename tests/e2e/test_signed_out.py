"""The session ends while the chat is open: it is said in a sentence with the way back, and nothing waits for an answer any more."""

from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from tests.e2e.talking import PASSWORD, QUESTION, RULES, SLOWLY_S, Talk, ask, send, settled, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SAID = "You were signed out. Sign in; your question is kept."


def test_it_is_said_of_every_request_and_the_way_leads_back_to_what_was_written(page: Page, talk: Talk) -> None:
    ask(page, QUESTION)
    Session.objects.all().delete()
    bar = page.locator(".signed-out")
    requests: tuple[Callable[[], object], ...] = (
        page.locator("button.cite").first.click,
        page.locator(".rate button").first.click,
        lambda: page.keyboard.press("Control+k"),
    )
    for request in requests:
        request()
        expect(bar).to_have_text(SAID)
        bar.evaluate("bar => bar.remove()")
    page.keyboard.press("Escape")
    page.fill("#question", "Is the coast far?")
    page.locator("[data-again]").last.click()  # it cannot go into the composer, where another question stands
    expect(page.locator("#queue li")).to_have_text([QUESTION])
    bar.get_by_role("link", name="Sign in").click()
    back_again(page)
    expect(page.locator("#question")).to_have_value("Is the coast far?")
    expect(page.locator("#queue li")).to_have_text([QUESTION])

    page.get_by_role("button", name="Do not ask it").click()
    Session.objects.all().delete()
    page.context.clear_cookies()
    send(page, "Is the coast far?")
    last = page.locator("li.message.answer").last
    expect(last.get_by_role("alert")).to_have_text(SAID)
    expect(page.get_by_role("button", name="Stop the answer")).to_be_hidden()
    expect(page.locator("#question")).to_have_value("Is the coast far?")
    last.get_by_role("link", name="Sign in").click()
    back_again(page)
    expect(page.locator("#question")).to_have_value("Is the coast far?")

    page.goto(talk.url)  # the first question of a conversation is a form, and the cookie that it needs is gone too
    page.context.clear_cookies()
    send(page, "Is the coast near?")
    expect(last.get_by_role("alert")).to_have_text(SAID)
    expect(page.locator("#question")).to_have_value("Is the coast near?")


def back_again(page: Page) -> None:
    page.fill("#id_username", "nina")
    page.fill("#id_password", PASSWORD)
    page.click(".sign-in form .button-main")
    page.wait_for_url("**/chat/**")


def test_an_answer_that_comes_meanwhile_stays_as_it_was_written(page: Page, talk: Talk) -> None:
    talk.writer.sentences, talk.writer.pace_s = RULES[:3], SLOWLY_S
    send(page, QUESTION)
    text = page.locator("li.answer:last-child .answer-text")
    expect(text).to_contain_text("coast")
    page.context.clear_cookies()  # the run goes on; its page cannot be read any more
    expect(page.locator("li.message.answer [role=alert]")).to_have_text(SAID)
    expect(page.get_by_role("button", name="Stop the answer")).to_be_hidden()
    expect(text).to_contain_text("coast")
    assert "undefined" not in page.locator("#thread").inner_text()
    sign_in(page, talk.url)
    page.get_by_role("link", name=QUESTION[:10]).first.click()
    expect(settled(page)).to_contain_text("coast")
