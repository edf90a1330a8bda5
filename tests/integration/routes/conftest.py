from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.routes.world import World


@pytest.fixture
def world() -> "World":
    from tests.integration.routes.world import World

    return World()
