"""Coverage of the tests by package, and the floor under it: `tests/coverage_floor.json`, in percent of lines and branches.

`make coverage` measures and calls this: it prints each package and fails where one has fallen below its floor.
`python -m scripts.coverage_floor --raise` writes what the last measurement found higher; nothing here lowers a floor. Child processes
(parsers, workers, end-to-end tests) are not measured, and modules that only they run are left out (`pyproject.toml`).
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from math import floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FLOOR = ROOT / "tests" / "coverage_floor.json"


def by_package(files: Mapping[str, Any]) -> dict[str, float]:
    """Percent of lines and branches that were reached, one decimal, rounded down. files: of coverage's JSON report."""
    reached: defaultdict[str, int] = defaultdict(int)
    there: defaultdict[str, int] = defaultdict(int)
    for name, file in files.items():
        package, summary = name.split("/")[0], file["summary"]
        reached[package] += summary["covered_lines"] + summary.get("covered_branches", 0)
        there[package] += summary["num_statements"] + summary.get("num_branches", 0)
    return {
        package: floor(1000 * reached[package] / there[package]) / 10 for package in sorted(there) if there[package]
    }


def fallen(found: Mapping[str, float], floors: Mapping[str, float]) -> list[str]:
    """A sentence for each package below its floor, and for each that is not measured any more."""
    return [
        f"{package}: {found.get(package, 0.0)} % of lines and branches are reached, {least} % were before."
        for package, least in floors.items()
        if found.get(package, 0.0) < least
    ]


def raised(found: Mapping[str, float], floors: Mapping[str, float]) -> dict[str, float]:
    return {package: max(found.get(package, 0.0), floors.get(package, 0.0)) for package in sorted({*found, *floors})}


def measured() -> dict[str, float]:
    """What the last run of the tests left. Raises CoverageException where there is nothing."""
    from coverage import Coverage  # of the development requirements

    with TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage = Coverage()
        coverage.load()
        coverage.json_report(outfile=str(report))
        return by_package(json.loads(report.read_text())["files"])


def main(arguments: list[str]) -> int:
    found, floors = measured(), json.loads(FLOOR.read_text())
    for package, percent in found.items():
        sys.stdout.write(f"{package:<16}{percent:6.1f} %  (floor {floors.get(package, 0.0):.1f})\n")
    if "--raise" in arguments:
        FLOOR.write_text(json.dumps(raised(found, floors), indent=2) + "\n")
        return 0
    problems = fallen(found, floors)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
