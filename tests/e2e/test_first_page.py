"""The first page greets, and what it suggests is asked with one click."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.talking import QUESTION, ask, settled, sign_in, talking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_first_page_greets_and_offers_what_was_asked_this_week(page: Page) -> None:
    with talking() as talk:
        sign_in(page, talk.url)
        expect(page.locator("#welcome")).to_contain_text("Hello, nina")
        expect(page.locator("#start .start-name")).to_have_text(["Trips"])
        page.get_by_text("What can I ask here?").click()
        expect(page.locator(".may-ask li")).to_contain_text(["Travel"])
        ask(page, QUESTION)
        expect(page.locator(".welcome")).to_have_count(0)
        page.goto(talk.url)
        page.get_by_role("button", name=QUESTION).click()
        expect(settled(page)).to_contain_text("coast")
