"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.integration.sign_in.conftest import issuer  # noqa: F401  # a fixture

if TYPE_CHECKING:
    from tests.integration.client.desk import Desk


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> "Iterator[Desk]":
    """A reader with a token for chat and search, and the product behind HTTP."""
    from tests.integration.client.desk import Desk
    from tests.served import serving_site

    with serving_site() as url:
        yield Desk(url)
