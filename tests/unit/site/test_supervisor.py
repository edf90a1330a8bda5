"""What ends is started again: at once, then ever later; what never lasts is named once and stops nothing else."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from copilot_site.embedded import supervisor as module
from copilot_site.embedded.process import ServiceFailed, wait_for_exit
from copilot_site.embedded.supervisor import MAX_ENDS, PAUSES_S, SLOW_S, WINDOW_S, Supervisor, _KeptPart
from tests.waiting import wait_for

# Starts a child of its own in its process group, as a worker does, says both numbers and waits.
POOL = (
    "import os, subprocess as s, sys; c = s.Popen([sys.executable, '-c', 'import signal; signal.pause()']); "
    "print(os.getpid(), c.pid, flush=True); c.wait()"
)


class Flighty:
    """A part that ends whenever it is looked at, and can be started, or not."""

    name = "flighty"

    def __init__(self, *, starts: bool = True, ends: bool = True) -> None:
        self.starts, self.ends, self.started_at = starts, ends, list[float]()
        self.now = 0.0

    def ended(self) -> str | None:
        return "ended by itself" if self.ends else None

    def start(self) -> None:
        self.started_at.append(self.now)
        if not self.starts:
            raise ServiceFailed("the disk is full")


def watched(part: Flighty, *, until_s: float, each_s: float = 0.5) -> list[str]:
    """What is said of the part in that time, looked at so often."""
    kept, said = _KeptPart(part, begun_at=0.0), []
    while part.now < until_s:
        part.now += each_s
        said.append(kept.look(part.now))
    return [sentence for sentence in said if sentence]


def test_a_part_that_never_lasts_is_tried_ever_later_and_named_once_as_broken() -> None:
    part = Flighty()
    said = watched(part, until_s=200)
    assert said[:-1] == ["flighty ended by itself; it is started again."] * (MAX_ENDS - 1)
    assert said[-1].startswith("flighty ended 5 times within a minute, at last it ended by itself: it is tried again")
    pauses = [after - before for before, after in zip(part.started_at, part.started_at[1:], strict=False)]
    quick, slow = pauses[: MAX_ENDS - 2], pauses[MAX_ENDS - 2 :]
    assert quick == [pause + 0.5 for pause in PAUSES_S[1:]]
    assert len(slow) >= 4
    assert min(slow) >= SLOW_S


def test_a_part_that_cannot_be_started_says_why_and_is_tried_on() -> None:
    part = Flighty(starts=False)
    said = watched(part, until_s=200)
    assert said[1] == "flighty could not be started: the disk is full; it is started again."
    assert "at last it could not be started: the disk is full: it is tried again every 30 s" in said[-1]
    assert len(part.started_at) > MAX_ENDS


def test_a_part_that_lasted_begins_anew() -> None:
    part = Flighty()
    kept = _KeptPart(part, begun_at=0.0)
    for place in range(MAX_ENDS):
        part.now = place * 10.0
        kept.look(part.now)
        kept.look(part.now + 9)
    assert kept.is_slow
    part.ends = False
    kept.look(200.0)
    part.ends = True
    assert kept.look(201.0) == ""
    kept.look(231.0 + SLOW_S)
    kept.begun_at -= WINDOW_S
    assert kept.look(240.0 + SLOW_S) == "flighty ended by itself; it is started again."


@pytest.mark.parametrize("is_starting", [True, False])
def test_what_never_lasts_while_the_system_starts_ends_it_and_later_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], is_starting: bool
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    monkeypatch.setattr(module, "PAUSES_S", (0.0,) * (MAX_ENDS - 1))
    supervisor, part = Supervisor(tmp_path / "processes.json"), Flighty()
    stop = threading.Timer(0.5, supervisor._stopping.set)
    stop.start()
    failed = supervisor.keep([part], is_starting=lambda: is_starting)
    stop.cancel()
    assert len(part.started_at) == MAX_ENDS - 1
    assert failed == (
        "flighty ended 5 times before the system was ready; the lines above say why." if is_starting else None
    )
    assert ("it is tried again every" in capfd.readouterr().out) == (not is_starting)


@contextmanager
def keeping(supervisor: Supervisor) -> Iterator[None]:
    thread = threading.Thread(target=supervisor.keep)
    thread.start()
    try:
        yield
    finally:
        supervisor._stopping.set()
        thread.join()
        supervisor.stop()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.02)


@pytest.mark.usefixtures("quick")
def test_a_killed_child_is_started_again_after_its_pool_has_ended(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "processes.json"
    supervisor = Supervisor(ledger)
    supervisor.start("pool", [sys.executable, "-c", POOL], os.environ)
    pids = _said(capfd)
    with keeping(supervisor):
        wait_for("two processes", lambda: len(pids()) == 2)
        leader, member = pids()
        os.kill(leader, signal.SIGKILL)
        wait_for("four processes", lambda: len(pids()) == 4)
        assert wait_for_exit(member, timeout_s=10)
        wait_for("the ledger names the third", lambda: list(json.loads(ledger.read_text())) == [str(pids()[2])])
    assert all(wait_for_exit(pid, timeout_s=10) for pid in pids())
    assert not ledger.exists()


@pytest.mark.usefixtures("quick")
def test_a_pool_that_lost_its_worker_just_before_the_end_ends_with_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor(tmp_path / "processes.json")
    supervisor.start("pool", [sys.executable, "-c", POOL], os.environ)
    pids = _said(capfd)
    wait_for("two processes", lambda: len(pids()) == 2)
    os.kill(pids()[0], signal.SIGKILL)
    supervisor.stop()
    assert wait_for_exit(pids()[1], timeout_s=10)


def _said(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[int]]:
    """The numbers that the children printed so far."""
    kept: list[int] = []

    def read() -> list[int]:
        for line in capfd.readouterr().out.splitlines():
            kept.extend(map(int, line.partition(" | ")[2].split()))
        return kept

    return read
