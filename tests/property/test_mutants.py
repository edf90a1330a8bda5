"""The property test can fail: the great mistakes in the statement of rights are caught by it, as all are in test_statement."""

import pytest

from tests import mistakes
from tests.property.test_visibility import run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("mistake", ["no inheritance", "or for and"])
def test_a_statement_with_a_mistake_is_caught(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    mistakes.make(monkeypatch, mistake)
    with pytest.raises(AssertionError, match="instead of"):
        run(examples=8, steps=40)
