"""Files under tests/golden/ that a person has read. `REWRITE_GOLDEN=1 pytest …` writes them anew; read the diff."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def is_rewriting() -> bool:
    return os.environ.get("REWRITE_GOLDEN") == "1"


def assert_golden(name: str, found: str) -> None:
    """`found` is what tests/golden/<name> says."""
    path = FOLDER / name
    if is_rewriting():
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), f"{name} has changed: look at the diff of REWRITE_GOLDEN=1"
