"""`manage.py up`: one command to a running system, and nothing left of it afterwards."""

import signal
from contextlib import suppress

import psutil
import pytest
from playwright.sync_api import Page

from copilot_site.embedded.process import wait_until
from copilot_site.lib.version import VERSION
from tests.demo_home import READY, demo_home
from tests.e2e.conftest import System
from tests.homes import Checkout
from tests.ports import own_port


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A home whose database is complete, and on which nothing runs before and after each test."""
    return demo_home(tmp_path_factory.mktemp("stopped") / "home")


@pytest.mark.browser
def test_system_is_ready_says_where_it_is_and_lists_its_operations(system: System, page: Page) -> None:
    """The page of the API runs under the site's own content security policy."""
    said = system.checkout.said()
    assert f"Ready: {system.url}/" in said
    assert "admin" in said
    assert system.get("/healthz") == (200, {"status": "ok", "version": VERSION})
    assert system.get("/readyz") == (200, {"status": "ok", "failing": []})
    page.goto(f"{system.url}/api/docs/")
    page.get_by_text("Search the passages you may read").wait_for()


def test_second_up_on_the_same_home_is_refused_with_one_sentence(system: System) -> None:
    again = Checkout(system.checkout.root, extra={"PORT": str(own_port())}).manage("up")
    assert again.returncode == 1
    assert "Already running: process" in again.stderr
    assert again.stderr.count("\n") == 1
    assert system.get("/readyz")[0] == 200


def test_process_that_ends_before_all_are_ready_is_started_again(checkout: Checkout) -> None:
    """As on a machine that other programs keep busy, or short of memory."""

    def workers(up: int) -> list[psutil.Process]:
        found = []
        for child in psutil.Process(up).children():
            with suppress(psutil.ZombieProcess):  # what has ended a moment ago
                found += [child] if "interactive@" in " ".join(child.cmdline()) else []
        return found

    with checkout.started("up", until="applying migrations") as up:
        assert wait_until(lambda: workers(up.pid) != [], timeout_s=120)
        workers(up.pid)[0].kill()
        assert wait_until(lambda: READY in checkout.said(), timeout_s=120), checkout.said()
        assert "interactive was killed (SIGKILL); it is started again." in checkout.said()
    assert checkout.processes() == []


def test_what_a_killed_up_left_is_ended_by_the_next_and_a_signal_stops_everything(checkout: Checkout) -> None:
    """SIGTERM; Ctrl-C is what ends the system that these tests share."""
    with checkout.started("up", until=READY) as up:
        assert len(checkout.processes()) > 5
        up.kill()
        up.wait(10)
        assert [line for line in checkout.processes() if "uvicorn" in line] != []
        with checkout.started("up", until=READY) as following:
            assert len([line for line in checkout.processes() if "uvicorn" in line]) == 1
            following.send_signal(signal.SIGTERM)
            assert following.wait(30) == 0
    assert checkout.processes() == []
