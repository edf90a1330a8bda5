from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from tests.integration.routes.world import World


@pytest.fixture(scope="module")
def shared_world(share: Share) -> "Callable[[], World]":
    from tests.integration.routes.world import World

    return share(World)


@pytest.fixture
def world(shared_world: "Callable[[], World]", db: None) -> "World":
    return shared_world()
