"""Two tiers. `make test` leaves out what `tests/exhaustive.txt` lists, and what needs a program that only `make test-all` installs.

`make test-all` runs everything, in parts where asked.

Options: `--tier quick` leaves those tests out, `--part 3/8` takes the third of eight equal parts of the files, `--tally FILE` adds a
line of JSON with what came of the run (`scripts/test_report.py` reads it).
"""

import json
import time
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.programs import EXHAUSTIVE, needed

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tests" / "exhaustive.txt"
STARTED = time.monotonic()


@cache
def exhaustive() -> tuple[str, ...]:
    """The beginnings of node ids that the quick tier leaves out."""
    lines = (line.split("#")[0].strip() for line in LISTED.read_text(encoding="utf-8").splitlines())
    return tuple(line for line in lines if line)


def is_exhaustive(node: str) -> bool:
    """Whether the test, its function, file, or folder is listed. `a.py::test_b` covers `a.py::test_b[c]`, and not `a.py::test_bc`."""
    return any(
        node.startswith(entry) and (entry[-1] == "/" or "[" in entry or node[len(entry) :][:1] in ("", ":", "["))
        for entry in exhaustive()
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=("quick", "all"), default="all", help="quick: without tests/exhaustive.txt")
    group.addoption("--part", default="1/1", help="k/n: the k-th of n parts of the test files")
    group.addoption("--tally", default="", help="a file to which the counts of this run are added, as a line of JSON")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare the import of a file that is left out whole."""
    if config.getoption("--tier") != "quick" or not collection_path.is_relative_to(ROOT):
        return None
    name = str(collection_path.relative_to(ROOT)) + ("/" if collection_path.is_dir() else "")
    return True if is_exhaustive(name) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of this tier and this part."""
    wanted: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        wanted[_is_wanted(config, item)].append(item)
    if wanted[False]:
        config.hook.pytest_deselected(items=wanted[False])
        items[:] = wanted[True]


def _is_wanted(config: pytest.Config, item: pytest.Item) -> bool:
    if config.getoption("--tier") == "quick" and (is_exhaustive(item.nodeid) or EXHAUSTIVE & set(needed(item))):
        return False
    part, parts = map(int, config.getoption("--part").split("/"))
    return _places().get(item.nodeid.split("::")[0], 0) % parts == part - 1


@cache
def _places() -> dict[str, int]:
    """Number the test files, those of the exhaustive tier first: each part gets as many of them."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
    dear = {file for file in files if any(entry.startswith(file) or file.startswith(entry) for entry in exhaustive())}
    return {file: place for place, file in enumerate(sorted(files, key=lambda file: (file not in dear, file)))}


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Add the counts to the tally; the workers of xdist report to the process that started them, which does it."""
    if not config.getoption("--tally") or hasattr(config, "workerinput"):
        return
    stats = terminalreporter.stats
    reasons = [str(report.longrepr[2]) for report in stats.get("skipped", []) if isinstance(report.longrepr, tuple)]
    counts = {
        "passed": len(stats.get("passed", [])),
        "failed": len(stats.get("failed", [])) + len(stats.get("error", [])),
        "skipped": Counter(reason.removeprefix("Skipped: ") for reason in reasons),
        "seconds": round(time.monotonic() - STARTED),
    }
    with Path(config.getoption("--tally")).open("a", encoding="utf-8") as tally:
        tally.write(json.dumps(counts) + "\n")
