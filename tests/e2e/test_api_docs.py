"""The API's page in a real browser, under the site's own content security policy."""

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import System


@pytest.mark.browser
def test_the_page_lists_the_operations_and_nothing_is_blocked(system: System, page: Page) -> None:
    page.goto(f"{system.url}/api/docs/")
    page.get_by_text("Search the passages you may read").wait_for()
