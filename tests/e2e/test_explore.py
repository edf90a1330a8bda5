"""The explore page without a mouse and for people who do not see it: choose, show, keep, open again, share, delete."""

import pytest
from playwright.sync_api import Browser, Page, expect

from copilot_site.embedded.process import wait_until
from tests.e2e.conftest import System
from tests.e2e.test_accessibility import unusable
from tests.e2e.test_keyboard import follow, tab_to

pytestmark = pytest.mark.browser
BY_REGION = (
    "/data/?source=demo&metric=sales_order.revenue&by=customer.region&field0=customer.region&op0=not_in&value0=x&top=3"
)

SHEETS_OF_SOFIA = {
    "2027年预算草案",
    "Quarterly results 2026",
    "Price list 2026",
    "公共假期 2026-2027",
    "差旅标准",
    "数据保留期限表",
}


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


def test_without_scripts_the_button_brings_what_comes_next(system: System, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    system.sign_in(context.new_page(), "emma")
    plain = chromium.new_context(java_script_enabled=False, locale="en", storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(f"{system.url}/data/")
    page.select_option("#metric0", "sales_order.revenue")
    page.click(".explore-send .button-main")
    page.select_option("#by0", "customer.region")
    page.select_option("#field0", "product.category")
    page.click(".explore-send .button-main")
    page.check("input[name=value0][value=software]")
    page.click(".explore-send .button-main")
    expect(page.locator(".explore-headline")).to_contain_text("Revenue by region (software)")
    expect(page.locator(".result-table tbody tr").first).to_be_visible()
    plain.close()
    context.close()


def test_who_may_ask_no_database_explores_spreadsheets_alone(system: System, page: Page) -> None:
    system.sign_in(page, "sofia")
    follow(page, 'a.rail-link[href="/data/"]')

    def are_all_there() -> bool:
        """Workers describe spreadsheets once they are read."""
        page.reload()
        return set(page.locator(".sources-nav a").all_inner_texts()) >= SHEETS_OF_SOFIA

    assert wait_until(are_all_there, timeout_s=60, interval_s=1)
    assert set(page.locator(".sources-nav a").all_inner_texts()) == SHEETS_OF_SOFIA
    page.goto(f"{system.url}/data/?source=demo")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
