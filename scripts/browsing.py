"""A demo that runs, a browser, and people of the demo company who are signed in and ask: for pictures."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

from copilot_site.embedded.process import find_free_port, wait_until
from demo.company import load_company

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
PAGE_MS = 90_000  # on a busy machine
ANSWER_MS = 90_000  # the first question loads the model
START_S = 600.0  # converts the model and ingests the demo company


class Screen(NamedTuple):
    """Options of the browser that takes a picture. language: as browsers send it; scale: pixels of the picture for one of the page."""

    width: int
    height: int
    language: str
    theme: str = "light"
    scale: float = 1.0


@contextmanager
def demo_in_browser() -> Iterator[tuple[Browser, str]]:
    """A browser and the address of a demo."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("The pictures need Chromium and CJK fonts: apt-get install chromium fonts-noto-cjk")
    expect.set_options(timeout=PAGE_MS)
    with running_demo() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        yield browser, url
        browser.close()


@contextmanager
def signed_in(browser: Browser, url: str, screen: Screen, username: str) -> Iterator[Page]:
    """A page in a fresh browser, on the empty chat page of this person of the demo company."""
    size = {"width": screen.width, "height": screen.height}
    context = browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        locale=screen.language,
        color_scheme=screen.theme,  # type: ignore[arg-type]
        device_scale_factor=screen.scale,
    )
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    page.goto(url)
    page.locator("input[name=username]").fill(username)
    page.locator("input[name=password]").fill(load_company().password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/")  # loaded: its script listens
    yield page
    context.close()


def ask(page: Page, question: str, *, place: int = 0) -> None:
    """Ask, and wait until the answer, or the honest no, stands as the server renders it."""
    page.get_by_role("textbox").fill(question)
    page.keyboard.press("Enter")
    answer = page.locator("li.message.answer[id^=m-]").nth(place)
    expect(answer.locator(".answer-foot")).to_be_visible(timeout=ANSWER_MS)


@contextmanager
def running_demo() -> Iterator[str]:
    """The address of a demo: the one on PORT, or a fresh one that is gone afterwards."""
    url = f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
    if answers(url):
        yield url
        return
    dropped = ("DATABASE_URL", "REDIS_URL", "COPILOT_HOME", "PORT")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    with tempfile.TemporaryDirectory(prefix="copilot-screenshots-") as folder:
        port = str(find_free_port())
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--demo", "--port", port]
        process = subprocess.Popen(command, env={**environment, "COPILOT_HOME": f"{folder}/home"})
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: process.poll() is not None or answers(url), timeout_s=START_S, interval_s=1.0)
            if not answers(url):
                sys.exit("The demo did not start; the lines above say why.")
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def answers(url: str) -> bool:
    """Tell whether a system is ready there."""
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=30) as answer:  # noqa: S310 - our own address
            return int(answer.status) == 200
    except OSError:
        return False
