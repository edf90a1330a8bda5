"""The whole system as a newcomer starts it, and a real browser to look at it."""

import json
import os
import shutil
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.demo_home import READY, demo_home
from tests.homes import Checkout
from tests.programs import BROWSERS, skip_without

if TYPE_CHECKING:
    from tests.e2e.talking import Talk

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

    def sign_in(self, page: Page, username: str) -> None:
        """Sign somebody of the company in by the form; the chat page is open then, and its script runs."""
        from demo.company import load_company

        page.goto(f"{self.url}/sign-in/")
        page.fill("#id_username", username)
        page.fill("#id_password", load_company().password)
        page.locator("main form button[type=submit]").first.click()
        page.wait_for_url(f"{self.url}/")
        page.wait_for_load_state()

    @contextmanager
    def signed_in(self, username: str) -> Iterator[httpx.Client]:
        """The API as somebody of the company uses it in a browser."""
        from demo.company import load_company

        with httpx.Client(base_url=self.url, timeout=120, trust_env=False) as client:
            client.get("/sign-in/")
            form = {"username": username, "password": load_company().password}
            client.post("/sign-in/", data=form | {"csrfmiddlewaretoken": _csrf(client)})
            client.headers["X-CSRFToken"] = _csrf(client)
            yield client

    def ask(self, username: str, *questions: str) -> None:
        """Have questions answered in one conversation; a process of its own would load the model for it."""
        with self.signed_in(username) as client:
            session = client.post("/api/v1/sessions", json={}).raise_for_status().json()["id"]
            for question in questions:
                client.post(f"/api/v1/sessions/{session}/messages", json={"query": question}).raise_for_status()


def _csrf(client: httpx.Client) -> str:
    return next(value for name, value in client.cookies.items() if "csrf" in name)


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
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
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
    """A page in a browser that remembers nothing, 1280 × 800; fails the test on an uncaught error or a CSP violation.

    Nothing moves in it: to draw an animation frame by frame without a GPU takes a core as long as an answer is waited for.
    """
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en", reduced_motion="reduce")
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None
    )
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def talk(page: Page) -> "Iterator[Talk]":
    """A running chat with a scripted model, in which `nina` is signed in. The test is one of `django_db(transaction=True)`."""
    from tests.e2e.talking import sign_in, talking

    with talking() as talk:
        sign_in(page, talk.url)
        yield talk
