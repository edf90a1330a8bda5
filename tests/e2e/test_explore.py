"""The explore page without a mouse and for people who do not see it: choose, show, keep, open again, share, delete."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import System
from tests.e2e.test_accessibility import unusable
from tests.e2e.test_keyboard import follow, tab_to

pytestmark = pytest.mark.browser
BY_REGION = (
    "/data/?source=demo&metric=sales_order.revenue&by=customer.region&field0=customer.region&op0=not_in&value0=x&top=3"
)


def choose(page: Page, selector: str, text: str, then: str) -> None:
    """Type the beginning of an option, and wait for what comes with it; again where the page came anew while it was typed."""
    tab_to(page, selector)
    for _attempt in range(3):
        page.keyboard.type(text)
        expect(page.locator(then)).to_be_attached()
        expect(page.locator(selector)).to_be_focused()
        if text in page.locator(f"{selector} option:checked").inner_text():
            return
    raise AssertionError(f"{text} was not chosen")


def test_a_question_is_put_together_kept_and_opened_with_the_keyboard_alone(system: System, page: Page) -> None:
    system.sign_in(page, "emma")
    follow(page, 'a.rail-link[href="/data/"]')
    choose(page, "#metric0", "revenue", "#by0")
    choose(page, "#by0", "order date by m", "#by1")
    choose(page, "#field0", "order status", "#op0")
    tab_to(page, "input[name=value0][value=paid]")
    page.keyboard.press("Space")
    tab_to(page, "#when")
    page.keyboard.type("this year up")
    expect(page.locator("#start")).to_have_count(0)
    follow(page, ".explore-send .button-main")
    assert page.url.endswith("#result")
    expect(page.locator(".explore-headline")).to_contain_text("Revenue by month (paid)")
    expect(page.locator("canvas[data-drawn]")).to_be_attached()
    assert unusable(page) == []
    shown = page.locator(".result-table tbody").inner_text()
    assert shown
    tab_to(page, "#saved-name")
    page.keyboard.type("This year")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("This year")
    page.goto(f"{system.url}/data/")
    follow(page, "#result a[href*='/data/saved/']")
    assert page.locator(".result-table tbody").inner_text() == shown
    expect(page.locator("input[name=value0][value=paid]")).to_be_checked()
    follow(page, "form[action$='/share/'] button")
    expect(page.get_by_role("button", name="Stop sharing")).to_be_visible()
    follow(page, "form[action$='/delete/'] button")
    expect(page.get_by_text("Deleted.")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_has_no_fault_and_no_small_target(
    system: System, chromium: Browser, width: int, scheme: str, language: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light", locale=language
    )
    page = context.new_page()
    system.sign_in(page, "emma")
    faults: dict[str, list[object]] = {}
    for path in ("/data/", BY_REGION, f"{BY_REGION}&share=1&by=", "/data/?source=demo&metric=customer&share=1"):
        page.goto(system.url + path)
        if found := unusable(page):
            faults[path] = found
    context.close()
    assert faults == {}
