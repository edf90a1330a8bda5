"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from tests.integration.pages.house import House


@pytest.fixture(scope="module")
def shared_house(share: Share) -> "Callable[[], House]":
    from tests.integration.pages.house import House

    return share(House)


@pytest.fixture
def house(shared_house: "Callable[[], House]", db: None) -> "House":
    return shared_house()
