"""The property test can fail: every mistake in the statement of rights is caught by it, and on a fixed case in authz/test_visibility.py."""

import pytest

from tests import mistakes
from tests.property.test_visibility import EXAMPLES, STEPS, run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("mistake", mistakes.MISTAKES)
def test_a_statement_with_a_mistake_is_caught(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    mistakes.make(monkeypatch, mistake)
    with pytest.raises(AssertionError, match="instead of"):
        run(examples=EXAMPLES, steps=STEPS)
