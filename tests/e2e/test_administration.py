"""The administration for people who do not see it, or use no mouse: axe finds nothing on our pages, nothing is cut off, nothing
breaks the content security policy. In English and Chinese, light and dark, wide and narrow."""

import re
from collections.abc import Iterable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.company import ADMINISTRATOR
from scripts.every_page import ADMINISTRATORS, PagePath, addresses_of, links_on
from tests.e2e.conftest import System
from tests.e2e.test_accessibility import faults_of

pytestmark = pytest.mark.browser
# More than one of a kind, or only there once something was asked: where the link stands, and its pattern.
LINKED = (
    ("/admin/answers/", r"/admin/answers/[^/]+/$"),
    ("/admin/audit/entry/", r"/admin/audit/entry/run/[^/]+/$"),
)
# One of each kind, by its name in scripts/every_page.py: overview, tables, trees, forms, histories.
KINDS = {"home", "rights-of-folder", "audit-entry", "layer-table", "agent-agentprofile-add", "knowledge-document"}
# Made by the test first.
MADE = (
    PagePath("skill", "/admin/skills/", (r"/admin/skills/[^/]+/$",)),
    PagePath("set", "/admin/evaluations/", (r"/admin/evaluations/[^/]+/$",)),
    PagePath("case", "/admin/evaluations/", (r"/admin/evaluations/[^/]+/$", r"/admin/evaluations/[^/]+/\?case=")),
)
MAX_HIGH = 1200  # pixels of the first page: one and a half screens
# Of its widgets: a name on an element that may bear none, a combobox without one, and the boxes that delete rows of an inline.
DJANGO_S_OWN = ("help-tooltip", "select2", "thead > tr > .original", "-DELETE")


@pytest.fixture(scope="module")
def kept(system: System, chromium: Browser) -> None:
    """Two answers to replay, from documents and from business data; a skill that waits for its review; a set with a question."""
    system.ask("chen", "What is the default rolling update strategy of a Deployment?")
    system.ask("emma", "How many customers are there by region?")
    context = chromium.new_context(locale="en")
    page = context.new_page()
    system.sign_in(page, ADMINISTRATOR)
    page.goto(f"{system.url}/admin/skills/")
    page.get_by_label("Or one that comes with the product").select_option("report")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="report").first).to_be_visible()
    page.goto(f"{system.url}/admin/evaluations/")
    page.fill("#content input[name=name]", "Leave")
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Question:").fill("How many days of leave are there?")
    page.get_by_label("Asked as:").first.fill("emma")
    page.get_by_role("button", name="Add", exact=True).first.click()
    expect(page.get_by_role("link", name="Change “How many days of leave are there?”")).to_be_visible()
    context.close()


def addresses(page: Page, url: str) -> Iterator[str]:
    """Every page to look at; of answers all: each source shows its own."""
    for name, address in addresses_of(page, url, ADMINISTRATORS + MADE):
        yield address
        if name == "rights-of-folder":
            yield f"{address}why/?user=chen"
    for start, pattern in LINKED:
        page.goto(url + start)
        found = [link for link in links_on(page) if re.match(pattern, link)]
        assert found, f"{start} leads to no {pattern}"
        yield from dict.fromkeys(found) if start == "/admin/answers/" else found[-1:]


def opened(page: Page, url: str, addresses: Iterable[str]) -> tuple[list[str], list[str]]:
    """Open pages one by one; return their addresses, and what is wrong with them: errors of scripts, of the policy, of the width."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda said: faults.append(f"{page.url}: {said.text}") if "Content Security Policy" in said.text else None,
    )
    found = []
    for address in addresses:
        answer = page.goto(url + address)
        assert answer is not None
        found.append(address)
        wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        faults += [f"{address}: {wide} px wide"] if wide > window else []
        if address == "/admin/" and window == 1280:
            page.wait_for_selector("#health[aria-busy=false]")
            high = page.evaluate("document.documentElement.scrollHeight")
            faults += [f"{address}: {high} px high"] if high > MAX_HIGH else []
        faults += [] if answer.ok else [f"{address}: status {answer.status}"]
    return found, faults


def unusable(page: Page, url: str, addresses: Iterable[str]) -> list[str]:
    """Return what axe finds on pages, without faults of Django's own widgets. It breaks the content security policy itself."""
    faults = []
    for address in addresses:
        page.goto(url + address)
        faults += [
            f"{address}: {fault}" for fault in faults_of(page) if not any(item in fault for item in DJANGO_S_OWN)
        ]
    return faults


def test_a_page_of_each_kind_of_the_administration_has_no_fault(system: System, page: Page) -> None:
    system.sign_in(page, ADMINISTRATOR)
    kinds = tuple(place for place in ADMINISTRATORS if place.name in KINDS)
    assert len(kinds) == len(KINDS)
    addresses, faults = opened(page, system.url, (address for _name, address in addresses_of(page, system.url, kinds)))
    assert faults == []
    assert unusable(page, system.url, addresses) == []


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(1280, "light", "en"), (390, "dark", "en"), (1280, "dark", "zh-CN"), (390, "light", "zh-CN")],
)
def test_no_page_of_the_administration_has_a_fault(
    system: System, chromium: Browser, width: int, scheme: str, language: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light", locale=language
    )
    page = context.new_page()
    system.sign_in(page, ADMINISTRATOR)
    found, faults = opened(page, system.url, addresses(page, system.url))
    assert faults == []
    assert language != "en" or unusable(page, system.url, found) == []
    context.close()


def test_a_profile_is_tried_as_the_form_says_with_its_groups_and_bases(system: System, page: Page) -> None:
    """What lies on the chosen side of two lists goes along, and a filter above it hides nothing."""
    system.sign_in(page, ADMINISTRATOR)
    page.goto(f"{system.url}/admin/agent/agentprofile/add/")
    page.fill("#id_name", "People only")
    page.locator("#id_knowledge_bases_from").select_option(label="People")
    page.get_by_role("button", name="Choose selected knowledge bases").click()
    page.fill("#id_knowledge_bases_selected_input", "nothing like it")
    page.fill("#trial_question", "How many days of annual leave do I have?")
    page.fill("#trial_person", "emma")
    with page.expect_request("**/agent-profiles/try/") as asked:
        page.locator(".try button").click()
    sent = asked.value.post_data or ""
    assert sent.count('name="knowledge_bases"') == 1
    assert 'name="groups"' not in sent
    expect(page.locator(".try ol")).to_contain_text("Staff Handbook")
    assert "Expense Policy" not in page.locator(".try").inner_text()


def test_an_assistant_with_openings_shows_them_and_nothing_else(system: System, page: Page) -> None:
    system.sign_in(page, "emma")
    expect(page.get_by_text("Recently updated")).to_be_visible()
    page.get_by_label("Assistant").select_option(label="HR assistant")
    expect(page.locator(".assistant .suggestion").first).to_be_visible()
    expect(page.locator("#start > .start-lines:visible")).to_have_count(0)
