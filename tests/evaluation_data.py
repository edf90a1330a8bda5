"""Where the evaluation data lies: COPILOT_DATA, or ../shared/data beside the repository."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def data_folder(name: str) -> Path:
    """The folder `name` of the evaluation data. Without it the test is skipped, in CI it fails."""
    folder = Path(os.environ.get("COPILOT_DATA") or ROOT.parent / "shared" / "data") / name
    if not folder.is_dir():
        reason = f"{folder} is missing; set COPILOT_DATA to the folder of the evaluation data"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
