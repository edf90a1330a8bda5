"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from knowledge.models import KnowledgeBase
    from tests.integration.governance.world import World


@pytest.fixture(scope="module")
def shared_world(share: Share) -> "Callable[[], World]":
    from tests.integration.governance.world import World

    return share(World)


@pytest.fixture(scope="module")
def shared_library(share: Share) -> "Callable[[], tuple[KnowledgeBase, User]]":
    from tests.integration.agent.conversations import make_library, make_reader

    def make() -> "tuple[KnowledgeBase, User]":
        base, _manual, _secret = make_library()
        return base, make_reader(base)

    return share(make)


@pytest.fixture
def library(shared_library: "Callable[[], tuple[KnowledgeBase, User]]", db: None) -> "tuple[KnowledgeBase, User]":
    """A base with a manual, and somebody who may read it."""
    return shared_library()


@pytest.fixture
def world(shared_world: "Callable[[], World]", db: None) -> "World":
    return shared_world()
