"""A shared conversation is read as one's own: its sources open, its answers are copied with their footnotes."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.talking import QUESTION, ask, sign_in, talking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_sources_of_a_shared_conversation_open_and_its_answers_are_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with talking() as talk:
        sign_in(page, talk.url)
        ask(page, QUESTION)
        page.get_by_role("button", name="Name, file, share or export this conversation").click()
        page.get_by_role("button", name="Share inside the company").click()
        page.wait_for_url("**/shared/**")
        page.locator("button.source").first.click()
        expect(page.locator("#drawer mark").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("button.source").first).to_be_focused()
        page.get_by_role("button", name="Copy the answer").click()
        expect(page.locator(".copy.is-done")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert "coast" in copied
        assert "\n[1] Trips · Travel" in copied
