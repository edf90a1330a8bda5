"""The pages for people who do not see them, or use no mouse: axe finds nothing, and every control can be hit."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from scripts.every_page import READERS, addresses_of
from tests.e2e.conftest import System
from tests.e2e.talking import ask

pytestmark = pytest.mark.browser
TARGET_PX = 40
COLOURS = ("color-contrast", "link-in-text-block")  # the rules of axe that look at them
IN_THE_DARK = {
    "sign-in",
    "library",
    "document",
    "data",
    "conversation",
}  # one of each kind; on a phone all are looked at
# Of a picture of the graph nothing counts: the list beside it leads to the same places.
SMALL = """px => [...document.querySelectorAll("a, button, select, summary, input:not(.unseen, [type=hidden])")]
    .filter(control => control.checkVisibility() && !control.matches(".skip, .cite, svg a"))
    .map(control => [control.outerHTML.slice(0, 120), (control.closest("label") ?? control).getBoundingClientRect().height])
    .filter(([, height]) => height > 0 && height < px)"""


def faults_of(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """What axe finds, one line a rule and place. rules: these alone."""
    # preload: axe would rebuild imported style sheets inline, which the site's policy refuses; one rule, of orientation, needs that
    options: dict[str, object] = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{rule['id']}: {node['target']}" for rule in found for node in rule["nodes"]]


def faults_in_the_dark(page: Page) -> list[str]:
    """What axe finds of colours in the dark scheme, to which the page goes over and comes back."""
    page.emulate_media(color_scheme="dark")
    try:
        return [f"dark: {fault}" for fault in faults_of(page, COLOURS)]
    finally:
        page.emulate_media(color_scheme="light")


def unusable(page: Page) -> list[object]:
    """Return the faults that axe finds, controls that are hard to hit, and elements wider than the window."""
    wide, width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return [*faults_of(page), *page.evaluate(SMALL, TARGET_PX), *([f"{wide} px wide"] if wide > width else [])]


def test_what_cannot_be_read_in_the_dark_alone_is_found(chromium: Browser) -> None:
    """The control: letters that are black in both schemes, on a ground that is white or black."""
    context = chromium.new_context(color_scheme="light", locale="en")
    page = context.new_page()
    page.set_content(
        "<!doctype html><html lang=en><title>A</title><style>:root { color-scheme: light dark }"
        "p { color: black; background: light-dark(white, #111) }</style><main><h1>A</h1><p>Words</p></main>"
    )
    assert faults_of(page) == []
    assert faults_in_the_dark(page) == ["dark: color-contrast: ['p']"]
    assert faults_of(page) == []
    context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_has_a_fault_or_a_small_target(system: System, chromium: Browser, width: int) -> None:
    """In the dark scheme what differs is looked at: the colours."""
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme="light", reduced_motion="reduce", locale="en"
    )
    page = context.new_page()
    faults: dict[str, list[object]] = {}

    def look(name: str) -> None:
        found = unusable(page)
        if width == 390 or name in IN_THE_DARK:
            found += faults_in_the_dark(page)
        if found:
            faults[name] = found

    page.goto(f"{system.url}/sign-in/")
    look("sign-in")
    system.sign_in(page, "chen")
    look("empty conversation")
    for name, address in addresses_of(page, system.url, READERS):
        page.goto(system.url + address)
        look(name)
    page.goto(system.url)
    answer = ask(page, "How long do access tokens live?")
    answer.locator(".rate button").last.click()
    page.get_by_text("What went wrong?").wait_for()
    page.locator(".trace > summary").click()
    look("conversation")
    page.get_by_role("link", name="How this answer was made").click()
    page.get_by_role("heading", name="What was read").wait_for()
    look("run")
    context.close()
    assert faults == {}
