"""The whole system as a newcomer starts it, and a real browser to look at it."""

import json
import os
import shutil
import signal
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.demo_home import READY, demo_home
from tests.homes import Checkout

expect.set_options(timeout=60_000)  # ms; other tests run beside these
# Debian's Chromium as root, without its errands to the outside
CHROMIUM = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass(frozen=True)
class System:
    """A running `manage.py up --demo`."""

    checkout: Checkout
    url: str

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Status and JSON of an address."""
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.status, json.load(answer)


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """The demo system, started once for all end-to-end tests, and ended as Ctrl-C does."""
    checkout = demo_home(tmp_path_factory.mktemp("system") / "home")
    with checkout.started("up", "--demo", until=READY) as up:
        yield System(checkout, f"http://127.0.0.1:{checkout.extra['PORT']}")
        up.send_signal(signal.SIGINT)
        assert up.wait(30) == 0
    assert checkout.processes() == []
    assert "Warning:" not in checkout.said()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A headless Chromium of the system."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "The browser tests need Chromium: apt-get install chromium fonts-noto-cjk"
    # Django takes Playwright's event loop for an async view otherwise
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page in a browser that remembers nothing, 1280 × 800; fails the test on an uncaught error or a CSP violation."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None
    )
    yield page
    context.close()
    assert faults == []
