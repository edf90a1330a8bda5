"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.governance.world import World


@pytest.fixture
def world(db: None) -> "World":
    from tests.integration.governance.world import World

    return World()
