"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.agent.conversations import Judged


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> "Judged":
    """What is found confirms what is asked, until a test says otherwise."""
    from tests.integration.agent.conversations import judging

    return judging(monkeypatch)
