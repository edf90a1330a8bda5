"""Runs a few long-lived processes side by side, prints what they say under their names, and ends all of them together.

Ours instead of honcho's: no extra process per child (each a fork of a loaded Django), and what outlived a killed
supervisor is found and ended by the next one.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

GRACE_S = 8.0  # a worker finishes its task or gives it back; leases bring the rest back later


class Supervisor:
    """Children of one `up`. Each runs in a session of its own: a Ctrl-C reaches them through us, in order, once."""

    def __init__(self, ledger: Path) -> None:
        """ledger: file with the running children, so that the next supervisor can end what a killed one left."""
        self._ledger = ledger
        self._children: dict[str, subprocess.Popen[str]] = {}
        self._stopping = threading.Event()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one child; its lines appear on our standard output as `name | line`."""
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=dict(environment),
            start_new_session=True,
        )
        self._children[name] = child
        threading.Thread(target=_relay, args=(name, child), daemon=True).start()
        ledger = {child.pid: psutil.Process(child.pid).create_time() for child in self._children.values()}
        self._ledger.write_text(json.dumps(ledger))

    def pids(self) -> dict[str, int]:
        """Process ids by name."""
        return {name: child.pid for name, child in self._children.items()}

    def ended(self) -> str | None:
        """The first child that ended by itself, as a sentence; None while all run."""
        for name, child in self._children.items():
            if child.poll() is not None:
                return f"{name} ended by itself (code {child.returncode}); its last lines above say why."
        return None

    def wait(self) -> str | None:
        """Wait for a signal (None) or for a child that ends by itself (a sentence that names it)."""
        while not self._stopping.wait(0.5):
            if sentence := self.ended():
                return sentence
        return None

    @property
    def stopping(self) -> bool:
        """Whether a signal asked us to stop."""
        return self._stopping.is_set()

    @contextmanager
    def until_signal(self) -> Iterator[None]:
        """SIGINT and SIGTERM end `wait` instead of this process; all children are stopped at the end of the block."""
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
        children = [psutil.Process(child.pid) for child in self._children.values() if child.poll() is None]
        _end(children[::-1])
        for child in self._children.values():
            child.wait()
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
        _end(leftovers)
        self._ledger.unlink()


def _relay(name: str, child: "subprocess.Popen[str]") -> None:
    assert child.stdout is not None
    for line in child.stdout:
        sys.stdout.write(f"{name:>11} | {line}")
        sys.stdout.flush()


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(processes, timeout=GRACE_S)
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # each leads a process group: this takes its pool along
