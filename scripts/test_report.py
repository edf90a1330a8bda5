"""What came of a run of the tests: one line that names the missing programs, and with `--stamp` one for the note of a release.

`python -m scripts.test_report TALLY [--stamp PART]`; `pytest --tally` (tests/tiers.py) writes TALLY, a line of JSON for each process.
The stamp names the commit, the part, the time, and the counts; it is also added to `.copilot-tests/stamps.txt`.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / ".copilot-tests" / "stamps.txt"


def missing(tallies: list[dict[str, Any]]) -> str:
    """The closing line about what was skipped and why; "" where nothing was."""
    skipped: Counter[str] = Counter()
    for tally in tallies:
        skipped.update(tally["skipped"])
    named = "; ".join(f"{reason} ({count})" for reason, count in sorted(skipped.items()))
    return f"Skipped here: {named}." if named else ""


def stamp(tallies: list[dict[str, Any]], part: str, seconds: int) -> str:
    """One line: when, commit, part, seconds, counts."""
    commit = _git("rev-parse", "--short=8", "HEAD") + ("+" if _git("status", "--porcelain") else "")
    passed, failed = (sum(tally[name] for tally in tallies) for name in ("passed", "failed"))
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC  {commit}  part {part}  {seconds} s  {passed} passed  {failed} failed"
    )


def _git(*words: str) -> str:
    if not shutil.which("git"):
        return ""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    tally, *rest = sys.argv[1:]
    lines = Path(tally).read_text(encoding="utf-8").splitlines()
    tallies = [json.loads(line) for line in lines]
    if message := missing(tallies):
        print(message)
    if rest:
        part, seconds = rest[1], int(rest[2])
        line = stamp(tallies, part, seconds)
        STAMPS.parent.mkdir(exist_ok=True)
        with STAMPS.open("a", encoding="utf-8") as stamps:
            stamps.write(line + "\n")
        print(line)


if __name__ == "__main__":
    main()
