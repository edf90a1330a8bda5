"""Looking after documents in a real browser: files dropped with a drag, cancelled and tried again; several chosen; the trash."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.company import load_company
from tests.e2e.conftest import System

pytestmark = pytest.mark.browser
# A drag as the operating system would give it: files of a page are the only ones that a script may put into one.
DROP = """([target, files]) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    document.querySelector(target).dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def page(system: System, chromium: Browser) -> Page:
    """Pieter, who manages all of engineering, in the folder of runbooks."""
    context = chromium.new_context(locale="en")
    page = context.new_page()
    page.goto(f"{system.url}/sign-in/")
    page.fill("#id_username", "pieter")
    page.fill("#id_password", load_company().password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.goto(f"{system.url}/library/")
    page.get_by_role("link", name=re.compile("Engineering")).first.click()
    page.get_by_role("link", name=re.compile("Runbooks")).last.click()
    return page


def line(page: Page, name: str) -> str:
    return f"#uploads-list li:has-text('{name}') .upload-state"


def test_files_are_dropped_cancelled_tried_again_chosen_and_trashed(page: Page, system: System) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda said: faults.append(said.text) if said.type == "error" and "Failed to load" not in said.text else None,
    )
    page.evaluate(DROP, ["#drop", [["dropped-one.md", "# One"], ["report.doc", "x"]]])
    expect(page.locator(line(page, "report.doc"))).to_contain_text("save it as .docx")
    expect(page.locator(line(page, "dropped-one.md"))).to_contain_text(re.compile("uploaded|ready"))
    page.route("**/upload/", lambda route: None)  # never answered, as on a line that hangs
    page.evaluate(DROP, ["#drop", [["dropped-two.md", "# Two"]]])
    page.get_by_role("button", name="Cancel: dropped-two.md").click()
    expect(page.locator(line(page, "dropped-two.md"))).to_contain_text("cancelled")
    page.unroute("**/upload/")
    page.get_by_role("button", name="Try again: dropped-two.md").click()
    expect(page.locator(line(page, "dropped-two.md"))).to_contain_text(re.compile("uploaded|ready"))

    page.goto(f"{system.url}/library/find/?q=dropped")
    expect(page.get_by_role("button", name="Into the trash")).to_be_disabled()
    for name in ("dropped-one.md", "dropped-two.md"):
        page.locator(f"tr:has-text('{name}') input[name=documents]").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Into the trash").click()
    expect(page.get_by_text("2 documents are in the trash.")).to_be_visible()
    page.goto(f"{system.url}/library/trash/")
    page.locator("tr:has-text('dropped-one.md')").get_by_role("button", name=re.compile("^Restore")).click()
    expect(page.get_by_text("is back where it was.")).to_be_visible()
    page.goto(f"{system.url}/library/trash/")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert faults == []
    page.context.close()
