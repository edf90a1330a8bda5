"""The first page greets and suggests; an answer is rated, shared inside the company, and read there as one's own."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.talking import QUESTION, Talk, ask, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_question_is_asked_rated_shared_and_asked_again_from_the_first_page(page: Page, talk: Talk) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator("#welcome")).to_contain_text("Hello, nina")
    expect(page.locator("#start .start-name")).to_have_text(["Trips"])
    page.get_by_text("What can I ask here?").click()
    expect(page.locator(".may-ask li")).to_contain_text(["Travel"])
    answer = ask(page, QUESTION)
    expect(page.locator(".welcome")).to_have_count(0)

    page.set_viewport_size({"width": 390, "height": 760})
    rate(page, answer)
    page.set_viewport_size({"width": 1280, "height": 800})

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

    page.goto(talk.url)
    page.get_by_role("button", name=QUESTION).click()
    expect(settled(page)).to_contain_text("coast")


def rate(page: Page, answer: Locator) -> None:
    """Give a reason, which is asked for in view, and find it again."""
    answer.get_by_role("button", name="This answer did not help").click()
    save = answer.get_by_role("button", name="Save")
    expect(answer.get_by_role("radio", name="wrong")).to_be_focused()
    form, composer = save.bounding_box(), page.locator("#composer").bounding_box()
    assert form is not None
    assert composer is not None
    assert form["y"] + form["height"] <= composer["y"]  # nobody has to look for it under the composer
    answer.get_by_role("radio", name="outdated").check()
    answer.get_by_role("textbox").fill("Since May it is rule 4.")
    save.click()
    said = answer.locator(".rate-why > summary")
    expect(said).to_have_text("Thank you, saved: outdated. Change it")
    expect(said).to_be_focused()
    expect(save).to_be_hidden()
    page.reload()
    said.click()
    expect(answer.get_by_role("textbox")).to_have_value("Since May it is rule 4.")
