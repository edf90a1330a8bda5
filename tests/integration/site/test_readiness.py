"""`/readyz` at once, whatever is gone or hangs, and `/healthz` whatever is; what is gone comes back where it was."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from copilot_site.embedded.process import wait_until
from copilot_site.health import ANSWER_S
from tests.demo_home import share_models
from tests.homes import ROOT, Checkout
from tests.ports import own_port

PATIENCE_S = 10.0  # on a busy machine; who waited for a service would wait for ever
SERVICES = {"postgres": ["database", "pgvector", "migrations"], "valkey": ["broker"]}


@dataclass(frozen=True)
class Site:
    """A web server on the services of an `up --services-only`."""

    checkout: Checkout
    up: "subprocess.Popen[str]"
    url: str

    def failing(self) -> list[str]:
        """What `/readyz` names."""
        answer = httpx.get(f"{self.url}/readyz", timeout=PATIENCE_S)
        failing: list[str] = answer.json()["failing"]
        assert answer.status_code == (503 if failing else 200)
        return failing

    def wait_sound(self) -> None:
        """Until nothing fails but the model, which who runs these tests alone may not have."""
        sound = wait_until(lambda: set(self.failing()) <= {"model"}, timeout_s=60)
        assert sound, (self.checkout.said(), _log(self.checkout).read_text()[-2000:])

    def is_alive(self) -> bool:
        return httpx.get(f"{self.url}/healthz", timeout=PATIENCE_S).status_code == 200

    def state(self) -> dict[str, int]:
        """Ports and process ids of the services."""
        state: dict[str, int] = json.loads(self.checkout.home.state.read_text())
        return state

    def process(self, service: str) -> psutil.Process:
        return psutil.Process(self.state()[f"{service}_pid"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    checkout = Checkout(tmp_path_factory.mktemp("ready") / "home")
    share_models(checkout)
    with checkout.started("up", "--services-only", until="Ctrl-C stops them") as up:
        assert checkout.manage("migrate", "-v0").returncode == 0
        port = own_port()
        command = [sys.executable, "-m", "uvicorn", "copilot_site.asgi:application", "--port", str(port)]
        with _log(checkout).open("wb") as log:
            web = subprocess.Popen(
                command, cwd=ROOT, env=checkout.environment() | {"PORT": str(port)}, stdout=log, stderr=log
            )
        found = Site(checkout, up, f"http://127.0.0.1:{port}")
        try:
            assert wait_until(lambda: "running on" in _log(checkout).read_text(), timeout_s=120)
            yield found
        finally:
            web.kill()
            web.wait(30)


def _log(checkout: Checkout) -> Path:
    return checkout.root.parent / "web.log"


def test_the_limit_is_less_than_a_second() -> None:
    assert ANSWER_S < 1


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_hangs_is_named_and_found_again(site: Site, service: str) -> None:
    site.wait_sound()
    process = site.process(service)
    process.suspend()
    try:
        for _again in range(3):
            assert set(site.failing()) - {"model"} == set(SERVICES[service])
            assert site.is_alive()
    finally:
        process.resume()
    site.wait_sound()


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_is_gone_is_named_and_comes_back_where_it_was(site: Site, service: str) -> None:
    site.wait_sound()
    before, said = site.state(), site.checkout.said()
    site.up.send_signal(signal.SIGSTOP)  # nobody starts it again
    try:
        os.kill(before[f"{service}_pid"], signal.SIGKILL)
        assert wait_until(lambda: set(SERVICES[service]) <= set(site.failing()), timeout_s=60)
        assert site.is_alive()
    finally:
        site.up.send_signal(signal.SIGCONT)
    site.wait_sound()
    after = site.state()
    assert {name for name in before if before[name] != after[name]} == {f"{service}_pid"}
    assert site.checkout.said().removeprefix(said) == f"{service} ended by itself; it is started again.\n"


def test_what_a_killed_postgres_left_ends_before_the_next_begins(site: Site) -> None:
    """A statement that keeps a processor busy does not look whether its postmaster lives."""
    site.wait_sound()
    busy = "from django.db import connection as c; c.cursor().execute('SELECT count(*) FROM generate_series(1, 1e10::bigint)')"
    command = site.checkout.command("shell", "-v0", "-c", busy)
    server = site.process("postgres")
    with subprocess.Popen(command, env=site.checkout.environment(), stderr=subprocess.DEVNULL) as asker:
        try:
            assert wait_until(lambda: _busy(server) != [], timeout_s=60)
            backends = _busy(server)
            server.kill()
            assert wait_until(lambda: site.state()["postgres_pid"] != server.pid, timeout_s=60)
            site.wait_sound()
            assert not any(_lives(backend) for backend in backends)
        finally:
            asker.kill()


def _lives(process: psutil.Process) -> bool:
    """Not so what has ended and waits for an init to notice."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _busy(server: psutil.Process) -> list[psutil.Process]:
    """Its children that have computed for a while."""
    found = []
    for child in server.children():
        with suppress(psutil.NoSuchProcess):
            found += [child] if child.cpu_times().user > 1 else []
    return found
