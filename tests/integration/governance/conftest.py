"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_django import DjangoDbBlocker

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from knowledge.models import KnowledgeBase
    from tests.integration.governance.world import World


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> "Iterator[Callable[[], World]]":
    from tests.integration.governance.world import World
    from tests.sharing import shared

    with shared(django_db_blocker, World) as copied:
        yield copied


@pytest.fixture
def library(db: None) -> "tuple[KnowledgeBase, User]":
    """A base with a manual, and somebody who may read it."""
    from tests.integration.agent.conversations import make_library, make_reader

    base, _manual, _secret = make_library()
    return base, make_reader(base)


@pytest.fixture
def world(db: None, worlds: "Callable[[], World]") -> "World":
    return worlds()
