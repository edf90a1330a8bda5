"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.integration.agent.conversations import Judged


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> "Judged":
    """What is found confirms what is asked, until a test says otherwise."""
    from tests.integration.agent.conversations import judging

    return judging(monkeypatch)


@pytest.fixture
def overseer(db: None) -> "User":
    from tests.integration.governance.world import make_overseer

    return make_overseer()
