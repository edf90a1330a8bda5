"""A supervisor of a few long-lived processes: prints their output, restarts those that end, and ends all together.

Ours instead of honcho's: no extra process per child (each a fork of a loaded Django), and what outlived a killed
supervisor is found and ended by the next one.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from copilot_site.embedded.process import ServiceFailed

LOOK_S = 0.5  # between two looks at what runs
WINDOW_S = 60.0
MAX_ENDS = 5  # a part that ends more often within it is broken, and restarted only now and then
PAUSES_S = (0.0, 1.0, 2.0, 4.0)  # before it is started again, after the first, second … end within that time
SLOW_S = 30.0
GRACE_S = 8.0  # a worker finishes its task or gives it back; leases bring the rest back later


class SupervisedPart(Protocol):
    """Something to keep running as long as the system does."""

    @property
    def name(self) -> str: ...

    def ended(self) -> str | None:
        """Return how it ended, in words that follow its name; None while it lives."""

    def start(self) -> None:
        """Start it again. Raises ServiceFailed or OSError with the reason."""


class Child:
    """A process of ours in a session of its own: a Ctrl-C reaches it through us, in order, once."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], handed_on: Sequence[int] = ()
    ) -> None:
        self.name = name
        self._command, self._environment, self._handed_on = command, dict(environment), handed_on
        self.process = self._start_process()

    def ended(self) -> str | None:
        code = self.process.poll()
        if code is None:
            return None
        return f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended by itself (code {code})"

    def start(self) -> None:
        """Start it again, after ending its former children."""
        self.end_pool()
        self.process = self._start_process()

    def end_pool(self) -> None:
        """End the children that it left when killed, such as the processes of a worker."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def _start_process(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self._environment,
            pass_fds=self._handed_on,
            start_new_session=True,
        )
        threading.Thread(target=_relay_output, args=(self.name, process), daemon=True).start()
        return process


@dataclass
class _KeptPart:
    """A part, and when it began, when it ended within the last WINDOW_S, and when it is tried again once it ended (monotonic, s)."""

    part: SupervisedPart
    begun_at: float
    ends: list[float] = field(default_factory=list)
    next_at: float | None = None
    is_slow: bool = False

    def look(self, now: float) -> str:
        """Start it again when due; return a sentence where something happened, else ""."""
        if self.next_at is None:
            how = self.part.ended()
            return self._record_end(how, now) if how else ""
        if now < self.next_at:
            return ""
        self.next_at, self.begun_at = None, now
        try:
            self.part.start()
        except (ServiceFailed, OSError) as error:
            return self._record_end(f"could not be started: {error}", now)
        return ""

    def _record_end(self, how: str, now: float) -> str:
        if now - self.begun_at >= WINDOW_S:
            self.is_slow = False
        was_slow = self.is_slow
        self.ends = [*(at for at in self.ends if now - at < WINDOW_S), now]
        self.is_slow = was_slow or len(self.ends) >= MAX_ENDS
        self.next_at = now + (SLOW_S if self.is_slow else PAUSES_S[len(self.ends) - 1])
        if was_slow:
            return ""
        if self.is_slow:
            return (
                f"{self.part.name} ended {MAX_ENDS} times within a minute, at last it {how}: it is tried again every "
                f"{SLOW_S:.0f} s, and everything else goes on without it."
            )
        return f"{self.part.name} {how}; it is started again."


class Supervisor:
    """Children of one `up`, and other parts that it keeps alive."""

    def __init__(self, ledger: Path) -> None:
        """Prepare. ledger: file of the running children, so that the next supervisor can end those of a killed one."""
        self._ledger = ledger
        self._children: list[Child] = []
        self._stopping = threading.Event()

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], handed_on: Sequence[int] = ()
    ) -> None:
        """Start one child; its lines appear on our standard output as `name | line`. handed_on: open files that it gets, by number."""
        self._children.append(Child(name, command, environment, handed_on))
        self._write_ledger()

    def keep(self, others: Sequence[SupervisedPart] = (), is_starting: Callable[[], bool] | None = None) -> str | None:
        """Restart ended children and parts until a signal: at once, then ever later. A failing one stops no other.

        is_starting: while it holds, nobody works here yet, and one that ends again and again is returned as a sentence.
        """
        now = time.monotonic()
        kept = [_KeptPart(part, begun_at=now) for part in (*others, *self._children)]
        while not self._stopping.wait(LOOK_S):
            before = self._list_pids()
            for item in kept:
                if sentence := item.look(time.monotonic()):
                    if item.is_slow and is_starting and is_starting():
                        return f"{item.part.name} ended {MAX_ENDS} times before the system was ready; the lines above say why."
                    sys.stdout.write(f"{sentence}\n")
                    sys.stdout.flush()
            if self._list_pids() != before:
                self._write_ledger()
        return None

    @contextmanager
    def until_signal(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM end `keep` instead of this process; all children stop at the end of the block."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            signal.signal(number, lambda *_: self._stopping.set())
        try:
            yield
        finally:
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Ask every child to end, last started first; after GRACE_S kill it with everything it started."""
        _end_processes([psutil.Process(child.process.pid) for child in self._children[::-1] if not child.ended()])
        for child in self._children:
            child.end_pool()
            child.process.wait()
        self._ledger.unlink(missing_ok=True)

    def end_leftovers(self) -> None:
        """End children that outlived a supervisor which was killed."""
        if not self._ledger.exists():
            return
        leftovers = []
        for pid, created in json.loads(self._ledger.read_text()).items():
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(int(pid))
                if process.create_time() == created:  # not a newer process with the same number
                    leftovers.append(process)
        _end_processes(leftovers)
        self._ledger.unlink()

    def _list_pids(self) -> list[int]:
        return [child.process.pid for child in self._children]

    def _write_ledger(self) -> None:
        running = [child.process.pid for child in self._children if not child.ended()]
        fresh = self._ledger.with_suffix(".new")
        with suppress(OSError):  # a full disk: without it only a killed supervisor's children are not found
            fresh.write_text(json.dumps({pid: psutil.Process(pid).create_time() for pid in running}))
            fresh.replace(self._ledger)


def _relay_output(name: str, child: "subprocess.Popen[str]") -> None:
    assert child.stdout is not None
    with child.stdout:
        for line in child.stdout:
            sys.stdout.write(f"{name:>11} | {line}")
            sys.stdout.flush()


def _end_processes(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(processes, timeout=GRACE_S)
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # each leads a process group, which includes its pool
