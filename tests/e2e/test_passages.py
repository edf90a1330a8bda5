"""The size of a base's passages in a real browser: looked at first, saved, and cut by the worker while the page tells how far it is."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from demo.company import ADMINISTRATOR
from tests.e2e.conftest import System
from tests.e2e.test_accessibility import faults_of

pytestmark = pytest.mark.browser
RULES = "# Rules of the house\n\n" + "\n\n".join(f"Rule {n} says that room {n} closes at {n}." for n in range(60))


@pytest.fixture
def base(system: System, page: Page, tmp_path: Path) -> None:
    """A base of the administrator's own, with one document that is read."""
    system.sign_in(page, ADMINISTRATOR)
    page.goto(f"{system.url}/library/new/")
    (tmp_path / "rules.md").write_text(RULES)
    page.get_by_label("Name", exact=True).fill("House rules")
    page.get_by_label("First files").set_input_files(tmp_path / "rules.md")
    page.get_by_role("button", name="Create knowledge base").click()
    page.get_by_role("link", name="Rules of the house").click()
    expect(page.locator("#passages-title")).to_be_visible()


@pytest.mark.usefixtures("base")
def test_passages_are_looked_at_saved_and_cut(system: System, page: Page) -> None:
    before = int(page.locator("#passages-title .count").inner_text())
    document = page.url
    page.goto(f"{system.url}/admin/search/")
    page.locator("tr", has_text="House rules").get_by_role("link", name="tokens").click()
    settings = page.url
    target, most = (page.get_by_label(name) for name in ("Target tokens per passage", "Maximum tokens per passage"))
    target.fill("60")
    most.fill("90")
    page.get_by_label("Look at").select_option(label="Rules of the house")
    page.get_by_role("button", name="Show how the assistant would read it").click()
    expect(
        page.get_by_text(re.compile(rf"\d+ passages; now there are {before}\. Nothing is saved yet\."))
    ).to_be_visible()
    assert faults_of(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Documents are split in the background")).to_be_visible()
    for _turn in range(90):
        page.goto(settings)
        if page.get_by_role("status").count() == 0:
            break
        page.wait_for_timeout(1_000)
    else:
        pytest.fail("the documents were not split again within 90 s")
    expect(most).to_have_value("90")
    page.goto(document)
    assert int(page.locator("#passages-title .count").inner_text()) > before
