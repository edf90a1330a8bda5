"""What a reader says about an answer: asked for in view, kept, and told back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.talking import QUESTION, Talk, ask, sign_in, talking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def talk(page: Page) -> Iterator[Talk]:
    with talking() as talk:
        sign_in(page, talk.url)
        yield talk


def test_a_reason_is_asked_for_in_view_and_told_back(page: Page, talk: Talk) -> None:
    for place, width in enumerate((1280, 390)):
        page.set_viewport_size({"width": width, "height": 760})
        rate(page, ask(page, QUESTION, place))


def rate(page: Page, answer: Locator) -> None:
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
    expect(said).to_have_text("Thank you, it is kept: outdated. Change it")
    expect(said).to_be_focused()
    expect(save).to_be_hidden()
    page.reload()
    said.click()
    expect(answer.get_by_role("textbox")).to_have_value("Since May it is rule 4.")
