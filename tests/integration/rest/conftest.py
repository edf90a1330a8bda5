"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.agent.conversations import Judged
    from tests.integration.rest.world import World


@pytest.fixture
def world(db: None) -> "World":
    from tests.integration.rest.world import make_world

    return make_world()


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> "Judged":
    """What is found confirms what is asked, until a test says otherwise."""
    from tests.integration.agent.conversations import judging

    return judging(monkeypatch)
