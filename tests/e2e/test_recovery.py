"""Each process of a running system is killed in turn: it comes back, and so does everybody's work."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import httpx
import psutil
import pytest
from playwright.sync_api import Page, expect

from copilot_site.embedded.process import wait_until
from tests.demo_home import READY, START_TIMEOUT_S, Database, share_models, with_port
from tests.e2e.conftest import System
from tests.homes import Checkout

PASSWORD = "rebuild-the-lighthouse"
SET_UP = f"""
import json
from django.contrib.auth.models import User
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from knowledge.services.folders import create_knowledge_base, find_root_folder
keeper = Principal.of(User.objects.create_superuser("keeper", "", "{PASSWORD}"))
folder = find_root_folder(create_knowledge_base(keeper, name="Lighthouse"))
print(json.dumps([issue_token(keeper, name="test", scopes=TokenScope.values)[1], str(folder.pk)]))
"""
ANSWER_MS = 180_000
# What each of them is called on the command line, or in services.json.
PROCESSES = {
    "web": "uvicorn",
    "interactive": "interactive@",
    "bulk": "bulk@",
    "beat": "copilot_site.beat",
    "postgres": "postgres_pid",
    "valkey": "valkey_pid",
}


@dataclass(frozen=True)
class Lighthouse:
    """A running system with one knowledge base, and a program that may do everything there. client: of its API."""

    system: System
    client: httpx.Client
    folder: str
    start_again: Callable[[], object]

    def upload(self, name: str, *, pages: int = 40) -> str:
        """Upload a page about a lamp of this name; the document's id."""
        text = (
            f"# Lamp {name}\n\nThe lamp {name} shines {len(name)} nights and is looked after by the keeper of {name}.\n"
            * pages
        )
        answer = self.client.post(f"folders/{self.folder}/documents", files={"file": (f"{name}.md", text)})
        assert answer.status_code in {201, 202}, answer.text
        return str(answer.json()["document"]["id"])

    def is_read(self, document: str) -> bool:
        status: str = self.client.get(f"documents/{document}/status").raise_for_status().json()["parse_status"]
        return status == "completed"

    def ask(self, question: str) -> str:
        """The answer to a question, in a conversation of its own."""
        session = self.client.post("sessions").raise_for_status().json()["id"]
        answer = self.client.post(f"sessions/{session}/messages", json={"query": question}).raise_for_status()
        return str(answer.json()["content"])

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.system.url}/readyz", timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def require_whole(self) -> None:
        done = self.system.checkout.manage("check_consistency")
        assert done.returncode == 0, done.stdout

    def kill(self, name: str) -> None:
        """Kill a process as the kernel does where memory is short, and wait until its successor runs."""
        before = self.process(name)
        os.kill(before.pid, signal.SIGKILL)
        assert wait_until(lambda: self._successor(name, before), timeout_s=120), self.system.checkout.said()

    def process(self, name: str) -> psutil.Process:
        home, word = self.system.checkout.home, PROCESSES[name]
        if word.endswith("_pid"):
            return psutil.Process(json.loads(home.state.read_text())[word])
        pids = map(int, json.loads((home.root / "processes.json").read_text()))
        return next(found for found in map(psutil.Process, pids) if word in " ".join(found.cmdline()))

    def _successor(self, name: str, before: psutil.Process) -> bool:
        try:
            return bool(self.process(name).pid != before.pid)
        except (psutil.Error, StopIteration):
            return False


def workers_of(front: psutil.Process) -> list[psutil.Process]:
    return [child for child in front.children() if "spawn_main" in " ".join(child.cmdline())]


@pytest.fixture(scope="module")
def lighthouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lighthouse]:
    checkout = with_port(Checkout(tmp_path_factory.mktemp("lighthouse") / "home"))
    share_models(checkout)
    checkout.extra["WEB_CONCURRENCY"] = "2"
    ups = []
    with ExitStack() as stack:

        def start() -> None:
            ups.append(stack.enter_context(checkout.started("up", until=READY, timeout_s=START_TIMEOUT_S)))

        start()
        done = checkout.manage("shell", "-v0", "-c", SET_UP)
        assert done.returncode == 0, done.stderr
        token, folder = json.loads(done.stdout)
        system = System(checkout, f"http://127.0.0.1:{checkout.extra['PORT']}")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{system.url}/api/v1/", headers=headers, timeout=120) as client:
            yield Lighthouse(system, client, folder, start)
        ups[-1].send_signal(signal.SIGINT)
        assert ups[-1].wait(30) == 0
    assert checkout.processes() == []


@pytest.mark.parametrize("name", PROCESSES)
def test_a_killed_process_comes_back_and_nothing_is_lost(lighthouse: Lighthouse, name: str) -> None:
    document = lighthouse.upload(name)
    lighthouse.kill(name)
    assert wait_until(lighthouse.is_ready, timeout_s=120)
    assert wait_until(lambda: lighthouse.is_read(document), timeout_s=300, interval_s=1), (
        lighthouse.system.checkout.said()
    )
    assert f"the keeper of {name}" in lighthouse.ask(f"Who looks after the lamp {name}?")


def test_what_a_killed_worker_was_reading_is_read_on_at_once(lighthouse: Lighthouse) -> None:
    """As soon as its successor is ready, which takes some seconds on a quiet machine; its lease would be waited for 45 s more."""
    database, system = Database.of(lighthouse.system.checkout), lighthouse.system.checkout
    document = lighthouse.upload("Eddystone", pages=2_000)
    tried = f"knowledge_documentversion v WHERE document_id = '{document}' AND attempts ="
    begun = "EXISTS (SELECT FROM knowledge_stage WHERE version_id = v.id AND name = 'embed' AND items_done > 0)"
    assert wait_until(lambda: database.number(f"{tried} 1 AND {begun}") > 0, timeout_s=120), "it was not begun"
    ready = re.compile(r"interactive@\S+ ready")
    before = len(ready.findall(system.said()))
    lighthouse.kill("interactive")
    assert wait_until(lambda: len(ready.findall(system.said())) > before, timeout_s=120), system.said()
    assert wait_until(lambda: database.number(f"{tried} 2") > 0, timeout_s=15), system.said()
    assert wait_until(lambda: lighthouse.is_read(document), timeout_s=300, interval_s=1)
    lighthouse.require_whole()


def test_everything_is_killed_while_uploads_are_stored(lighthouse: Lighthouse) -> None:
    stored: list[str] = []

    def upload(part: int) -> None:
        with suppress(httpx.TransportError):
            for number in range(1_000):
                stored.append(lighthouse.upload(f"Bell {part} {number}"))  # noqa: PERF401 - what was told before the end counts

    threads = [threading.Thread(target=upload, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: len(stored) > 10, timeout_s=120)
    system = lighthouse.system.checkout
    ups = psutil.Process(int((system.home.root / "up.lock").read_text()))
    for process in [ups, *ups.children(recursive=True), *map(lighthouse.process, ("postgres", "valkey"))]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for thread in threads:
        thread.join()
    lighthouse.start_again()
    assert wait_until(lambda: all(map(lighthouse.is_read, stored)), timeout_s=300, interval_s=1), system.said()
    lighthouse.require_whole()


def test_a_web_process_that_is_held_up_for_ten_seconds_is_kept(lighthouse: Lighthouse) -> None:
    """As on a machine that other programs keep busy; it had answers under way."""
    held_up = workers_of(lighthouse.process("web"))[-1]
    held_up.suspend()
    time.sleep(10)
    held_up.resume()
    assert not wait_until(lambda: not held_up.is_running(), timeout_s=5)


def test_a_web_process_that_hangs_is_replaced_and_nobody_is_refused(lighthouse: Lighthouse) -> None:
    hung = workers_of(lighthouse.process("web"))[-1]
    hung.suspend()
    answers = [httpx.get(f"{lighthouse.system.url}/readyz", timeout=60).status_code for _ in range(10)]
    assert answers == [200] * 10
    assert wait_until(lambda: not hung.is_running(), timeout_s=60), lighthouse.system.checkout.said()
    assert f"Child process [{hung.pid}] died" in lighthouse.system.checkout.said()
    assert wait_until(lambda: len(workers_of(lighthouse.process("web"))) == 2, timeout_s=60)


@pytest.mark.browser
def test_a_question_that_is_asked_while_the_server_is_away_is_kept_and_answered(
    lighthouse: Lighthouse, page: Page
) -> None:
    document = lighthouse.upload("Pharos")
    assert wait_until(lambda: lighthouse.is_read(document), timeout_s=300, interval_s=1)
    page.goto(lighthouse.system.url)
    page.locator("input[name=username]").fill("keeper")
    page.locator("input[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    box = page.locator("#question")  # the page before has two boxes of text
    expect(box).to_be_visible()
    page.wait_for_load_state()
    for place in range(
        2
    ):  # the port stays open, so it waits for the next process; the first question begins the conversation, the second goes on with it
        lighthouse.process("web").kill()
        box.fill("Who looks after the lamp Pharos?")
        box.press("Enter")
        answer = page.locator("li.message.answer[id^=m-]").nth(place)
        expect(answer).to_contain_text("the keeper of Pharos", timeout=ANSWER_MS)
        expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("li.message.question")).to_have_count(2)
