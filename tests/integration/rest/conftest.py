"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_django import DjangoDbBlocker

if TYPE_CHECKING:
    from tests.integration.rest.world import World


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> "Iterator[Callable[[], World]]":
    from tests.integration.rest.world import make_world
    from tests.sharing import shared

    with shared(django_db_blocker, make_world) as copied:
        yield copied


@pytest.fixture
def world(db: None, worlds: "Callable[[], World]") -> "World":
    return worlds()
