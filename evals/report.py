"""Define the rows and the report of `manage.py benchmark NAME`, and read what the machine says of itself."""

import json
import os
import platform
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
from django.conf import settings

BUSY = 0.2  # of the cores in use before we began: times then say little, ratios still do


@dataclass(frozen=True)
class Row:
    """A number of ours and, from the same run, the peer's; None where the peer has no such number.

    aim: the most that ours may be, in words, "2,000" or "1.5 ×" of the peer's; "" where nothing is aimed at.
    """

    name: str
    unit: str
    ours: float
    peer: float | None = None
    aim: str = ""


@dataclass(frozen=True)
class Report:
    """The result of a benchmark. peer: in words. facts: sizes and counts that the rows depend on. parts: further parts of the JSON."""

    peer: str
    rows: Sequence[Row]
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)


class Benchmark(Protocol):
    """Measures one thing of the running system beside a peer. It asserts nothing and leaves nothing behind but what `help` says."""

    @property
    def help(self) -> str: ...

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of this benchmark."""

    def run(self, options: Mapping[str, Any]) -> Report:
        """Measure. Raises the errors that are meant for people (`copilot_site.lib.errors`)."""


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile; 0 of no values."""
    return float(np.percentile(values, share)) if len(values) else 0.0


def percentile_rows(name: str, ours_ms: Sequence[float], peer_ms: Sequence[float] | None = None) -> Iterator[Row]:
    """Give p50 and p95 of milliseconds."""
    for share in (50, 95):
        peer = None if peer_ms is None else percentile(peer_ms, share)
        yield Row(f"{name}, p{share}", "ms", percentile(ours_ms, share), peer)


def this_machine() -> dict[str, Any]:
    """Describe this machine. busy: other work took the cores when we began."""
    cores = os.cpu_count() or 1
    busy = psutil.cpu_percent(interval=1.0) / 100
    return {
        "processor": _processor(),
        "cores": cores,
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores_in_use_before": round(busy * cores, 2),
        "busy": busy > BUSY,
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def system_cpu_s() -> float:
    """Return the processor seconds that this process, workers, web, PostgreSQL and Valkey of this home used, with their ended children.

    A busy machine does not change it. Services that somebody else runs (`DATABASE_URL`) on another machine are not seen.
    """
    root, pids = settings.HOME.root, {os.getpid()}
    if (root / "processes.json").exists():
        pids |= {int(pid) for pid in json.loads((root / "processes.json").read_text())}
    if (root / "services.json").exists():
        services = json.loads((root / "services.json").read_text())
        pids |= {pid for pid in (services["postgres_pid"], services["valkey_pid"]) if pid}
    return sum(_with_children(pid) for pid in pids)


def _with_children(pid: int) -> float:
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for item in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # ended just now: counted by whoever waited for it
                total += sum(item.cpu_times()[:4])  # user and system, and both of its ended children
    return total
