"""Define the rows and the report of `manage.py benchmark NAME`, and describe the machine they come from."""

import os
import platform
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil

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

    def as_json(self, name: str, machine: Mapping[str, Any]) -> dict[str, Any]:
        """Return `{benchmark, machine, peer, rows: [{name, unit, ours, peer, aim}], facts}` and the further parts."""
        rows = [asdict(row) for row in self.rows]
        found = {"benchmark": name, "machine": machine, "peer": self.peer, "rows": rows, "facts": self.facts}
        return found | dict(self.parts)


class Benchmark(Protocol):
    """Measures one thing of the running system beside a peer. It asserts nothing and leaves nothing behind but what `help` says."""

    @property
    def help(self) -> str: ...

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of this benchmark."""

    def run(self, options: Mapping[str, Any]) -> Report:
        """Measure. Raises the errors that are meant for people (`copilot_site.lib.errors`)."""


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
