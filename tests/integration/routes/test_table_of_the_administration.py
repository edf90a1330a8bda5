"""The addresses of the administration × everybody who may come: see test_table.py."""

import pytest

from tests.integration.routes.table import assert_lines
from tests.integration.routes.test_table import ADMINISTRATION, AREAS, whole_lines
from tests.integration.routes.world import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("area", [area for area in AREAS if area.startswith(ADMINISTRATION)])
def test_whole_table(world: World, area: str) -> None:
    assert_lines(whole_lines(world, area))
