from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.agent.conversations import Judged


@pytest.fixture(autouse=True)
def always_judged(judged: "Judged") -> None:
    """Every test here has what is found confirm what is asked."""
