"""Rights are governed without a mouse, in English and Chinese: every control is reached by Tab, in the order in which it is read."""

import pytest
from playwright.sync_api import Browser, Page

from demo.company import ADMINISTRATOR
from tests.e2e.conftest import System

pytestmark = pytest.mark.browser

MAX_TABS = 120  # to any control of a page, links and fields before it included


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the first thing that matches has the focus."""
    for _press in range(MAX_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector} on {page.url}")


def follow(page: Page, selector: str) -> None:
    """Go to a link or a button by Tab, press Enter, and wait for the page that comes."""
    tab_to(page, selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def names_on(page: Page) -> list[str]:
    """Who has rights on this place itself: in the row of each, what it takes back."""
    names: list[str] = page.eval_on_selector_all(
        "input[name=what][value=take_back] ~ input[name=holder]", "all => all.map(e => e.value)"
    )
    return names


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_right_is_given_and_taken_back_with_the_keyboard_alone(
    system: System, chromium: Browser, language: str
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale=language)
    page = context.new_page()
    system.sign_in(page, ADMINISTRATOR)
    page.goto(f"{system.url}/admin/")
    follow(page, 'a[href="/admin/rights/"]')
    follow(page, '#content a[href^="/admin/rights/folder/"]')
    assert "zhao" not in names_on(page)
    tab_to(page, "input[name=holder_kind]")
    page.keyboard.press("ArrowDown")  # from groups to people
    tab_to(page, "input[name=holder]")
    page.keyboard.type("zhao")
    tab_to(page, "input[name=rights][value=download]")
    page.keyboard.press("Space")
    follow(page, "button[name=what][value=give]")
    assert "zhao" in page.inner_text("#content"), "whom it touches is shown before it is saved"
    follow(page, "form.ways button")
    assert "zhao" in names_on(page)
    follow(page, "tr:has(input[name=holder][value=zhao]) button")
    follow(page, "form.ways button")
    assert "zhao" not in names_on(page)
    context.close()
