"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.pages.house import House


@pytest.fixture
def house(db: None) -> "House":
    from tests.integration.pages.house import House

    return House()
