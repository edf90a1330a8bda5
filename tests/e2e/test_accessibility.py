"""The pages for people who do not see them, or use no mouse: axe finds nothing, and every control can be hit."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from demo.company import load_company
from scripts.every_page import READERS, addresses_of
from tests.e2e.conftest import System

pytestmark = pytest.mark.browser
TARGET_PX = 40
ANSWER_MS = 60_000  # the first question loads the model, on a busy machine
# Of a picture of the graph nothing counts: the list beside it leads to the same places.
SMALL = """px => [...document.querySelectorAll("a, button, select, summary, input:not(.unseen, [type=hidden])")]
    .filter(control => control.checkVisibility() && !control.matches(".skip, .cite, svg a"))
    .map(control => [control.outerHTML.slice(0, 120), (control.closest("label") ?? control).getBoundingClientRect().height])
    .filter(([, height]) => height > 0 && height < px)"""


def faults_of(page: Page) -> list[str]:
    """What axe finds, one line a rule and place."""
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['target']}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_has_a_fault_or_a_small_target(system: System, chromium: Browser, width: int, scheme: str) -> None:
    person = next(person for person in load_company().people if person.username == "chen")
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light", locale="en"
    )
    page = context.new_page()
    faults: dict[str, list[object]] = {}

    def look(name: str) -> None:
        wide = page.evaluate("document.documentElement.scrollWidth")
        found = [*faults_of(page), *page.evaluate(SMALL, TARGET_PX), *([f"{wide} px wide"] if wide > width else [])]
        if found:
            faults[name] = found

    page.goto(f"{system.url}/sign-in/")
    look("sign-in")
    page.fill("#id_username", person.username)
    page.fill("#id_password", load_company().password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("What would you like to know?").wait_for()
    look("empty conversation")
    for name, address in addresses_of(page, system.url, READERS):
        page.goto(system.url + address)
        look(name)
    page.goto(system.url)
    page.get_by_role("textbox").fill("How long do access tokens of our API live?")
    page.keyboard.press("Enter")
    page.locator(".rate button").last.click(timeout=ANSWER_MS)
    page.get_by_text("What is the matter with it?").wait_for()
    page.locator(".trace > summary").click()
    look("conversation")
    page.get_by_role("link", name="How this answer was made").click()
    page.get_by_role("heading", name="What was read").wait_for()
    look("run")
    context.close()
    assert faults == {}
