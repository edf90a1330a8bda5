"""tests/golden/surface.md lists the doors that the code has."""

from tests.goldens import assert_golden
from tests.integration.routes.surface import page


def test_every_door_has_its_line() -> None:
    assert_golden("surface.md", page())
