"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from tests.integration.rest.world import World


@pytest.fixture(scope="module")
def shared_world(share: Share) -> "Callable[[], World]":
    from tests.integration.rest.world import make_world

    return share(make_world)


@pytest.fixture
def world(shared_world: "Callable[[], World]", db: None) -> "World":
    return shared_world()
