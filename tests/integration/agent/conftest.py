"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.agent.conversations import Judged


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> "Judged":
    """What is found confirms what is asked, until a test says otherwise."""
    from agent import grounding

    nothing = (0.0,) * (1 + len(grounding.SIGNALS))
    weights = {(language, covered): nothing for language in ("zh", "other") for covered in (True, False)}
    monkeypatch.setattr(grounding, "WEIGHTS", weights)

    def judged(*, confirms: bool) -> None:
        monkeypatch.setattr(grounding, "THRESHOLD", 0.0 if confirms else 1.1)

    judged(confirms=True)
    return judged
