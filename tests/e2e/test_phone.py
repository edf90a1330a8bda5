"""Lists on a phone: what is told and what can be done stands on the screen."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.talking import Talk

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_token_is_read_and_revoked_on_a_phone(page: Page, talk: Talk) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{talk.url}/tokens/")
    page.fill("#token-name", "Report of every morning, for the team")
    page.get_by_role("button", name="Make a token").click()
    row = page.get_by_role("table").locator("tbody tr")
    expect(row).to_contain_text("Report of every morning")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for cell in row.locator("td").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
        assert box["height"] <= 60  # in lines, not in letters below each other
    row.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("table")).to_have_count(0)
