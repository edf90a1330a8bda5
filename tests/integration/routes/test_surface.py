"""docs/SURFACE.md is what the code has."""

from pathlib import Path

from tests.goldens import assert_golden
from tests.integration.routes.surface import page

FILE = Path(__file__).parents[3] / "docs" / "SURFACE.md"


def test_every_door_has_its_line() -> None:
    assert_golden(str(FILE), page())
