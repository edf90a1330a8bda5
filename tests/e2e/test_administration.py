"""The administration for people who do not see it, or use no mouse: axe finds nothing on our pages, nothing is cut off, nothing
breaks the content security policy. In English and Chinese, light and dark, wide and narrow."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from demo.company import load_company
from demo.logins import ADMINISTRATOR
from tests.e2e.conftest import System
from tests.e2e.test_accessibility import faults_of

pytestmark = pytest.mark.browser
# Pages by themselves, and pages that a link leads to: where the link stands, and its pattern.
PLAIN = (
    "/admin/", "/admin/rights/", "/admin/people/", "/admin/rights/requests/", "/admin/ingestion/", "/admin/see-as/",
    "/admin/answers/", "/admin/ratings/", "/admin/gaps/", "/admin/audit/entry/", "/admin/audit/checkpoint/", "/admin/audit/hold/add/",
    "/admin/auth/user/", "/admin/auth/group/", "/admin/authz/orgunit/", "/admin/authz/role/", "/admin/authz/serviceaccount/add/",
    "/admin/agent/languagemodel/", "/admin/agent/languagemodel/add/", "/admin/agent/agentprofile/",
    "/admin/agent/agentprofile/add/", "/admin/agent/dayofuse/", "/admin/authz/claimmapping/",
    "/admin/audit/entry/export/", "/admin/mfa/authenticator/",
    "/second-factor/", "/second-factor/set-up/", "/tokens/", "/requests/", "/library/new/",
)  # fmt: skip
LINKED = (
    ("/admin/rights/", r"/admin/rights/base/[^/]+/$"),
    ("/admin/rights/", r"/admin/rights/folder/[^/]+/$"),
    ("/admin/rights/", r"/admin/rights/matrix/[^/]+/$"),
    ("/admin/people/", r"/admin/people/\d+/$"),
    ("/admin/answers/", r"/admin/answers/[^/]+/$"),
    ("/admin/audit/entry/", r"/admin/audit/entry/\d+/change/"),
    ("/admin/audit/entry/", r"/admin/audit/entry/run/[^/]+/$"),
    ("/admin/auth/user/", r"/admin/auth/user/\d+/change/"),
)
# Of its widgets: a name on an element that may bear none, and a combobox without one.
DJANGO_S_OWN = ("help-tooltip", "select2")


@pytest.fixture(scope="module")
def answered(system: System) -> None:
    """Two answers to replay, from documents and from business data, and the runs behind them."""
    for person, question in (
        ("chen", "What is the default rolling update strategy of a Deployment?"),
        ("emma", "How many customers are there by region?"),
    ):
        asked = system.checkout.manage("ask", question, "--as", person)
        assert asked.returncode == 0, asked.stderr


def addresses(page: Page, url: str) -> Iterator[str]:
    """Every page to look at; of links of one kind the last on their page, of answers all: each source shows its own."""
    yield from PLAIN
    for start, pattern in LINKED:
        page.goto(url + start)
        links = page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href') || '')")
        found = [link for link in links if re.match(pattern, link)]
        assert found, f"{start} leads to no {pattern}"
        yield from dict.fromkeys(found) if start == "/admin/answers/" else found[-1:]
        if "folder" in pattern:
            yield f"{found[-1]}why/?user=chen"


def sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/sign-in/")
    page.fill("#id_username", ADMINISTRATOR)
    page.fill("#id_password", load_company().password)
    page.locator("main form button[type=submit]").first.click()
    page.wait_for_url(f"{url}/")


@pytest.mark.usefixtures("answered")
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
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda said: faults.append(f"{page.url}: {said.text}") if "Content Security Policy" in said.text else None,
    )
    sign_in(page, system.url)
    found = list(addresses(page, system.url))
    for address in found:
        answer = page.goto(system.url + address)
        assert answer is not None
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{address}: {wide} px wide"] if wide > width else []
        faults += [] if answer.ok else [f"{address}: status {answer.status}"]
    assert faults == []  # before axe, which breaks the policy itself
    unusable: list[str] = []
    for address in found if language == "en" else ():
        page.goto(system.url + address)
        unusable += [
            f"{address}: {fault}" for fault in faults_of(page) if not any(each in fault for each in DJANGO_S_OWN)
        ]
    context.close()
    assert unusable == []
