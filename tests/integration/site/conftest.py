"""State folders of commands that run beside the tests."""

from pathlib import Path

import pytest

from tests.homes import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout whose COPILOT_HOME does not exist yet."""
    return Checkout(tmp_path / "home")
