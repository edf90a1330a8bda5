"""The whole system as a newcomer starts it, and a real browser to look at it."""

import json
import os
import shutil
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from copilot_site.embedded.process import free_port
from tests.homes import ROOT, Checkout
from tests.programs import skip_without

START_TIMEOUT_S = 300
READY = "Ctrl-C stops everything"
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
    """The demo system, started once for all end-to-end tests. Its model is its own: what it holds in memory is measured."""
    port = free_port()
    checkout = Checkout(tmp_path_factory.mktemp("system") / "home", extra={"PORT": str(port)})
    url = f"http://127.0.0.1:{port}"
    with checkout.started("up", "--demo", until=READY, timeout_s=START_TIMEOUT_S):
        yield System(checkout, url)
    assert "Warning:" not in checkout.said()


@pytest.fixture(scope="session")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A home whose database is complete, without a company, and whose system was stopped."""
    checkout = Checkout(tmp_path_factory.mktemp("stopped") / "home", extra={"PORT": str(free_port())})
    share_models(checkout)
    with checkout.started("up", until=READY):
        pass
    return checkout


@pytest.fixture
def checkout(stopped: Checkout, tmp_path: Path) -> Checkout:
    """A copy of that home with a free port."""
    return replace(stopped.copied(tmp_path / "home"), extra={"PORT": str(free_port())})


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A headless Chromium of the system."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        skip_without("Chromium")
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


def share_models(checkout: Checkout) -> None:
    """Let a home use the converted model that the tests keep."""
    models = ROOT / ".copilot-tests" / "models"
    models.mkdir(parents=True, exist_ok=True)
    checkout.root.mkdir(mode=0o700)
    checkout.home.models.symlink_to(models)
