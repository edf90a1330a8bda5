"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from pytest_django import DjangoDbBlocker

from tests.sharing import Share, in_order, shared

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.integration.agent.conversations import Floor, Handbook


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = in_order(items)


@pytest.fixture(scope="module")
def share(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Share]:
    """Makes a world that the tests of a file share: see tests/sharing.py."""
    with ExitStack() as stack:
        yield lambda make: stack.enter_context(shared(django_db_blocker, make))


@pytest.fixture
def floor(monkeypatch: pytest.MonkeyPatch) -> "Floor":
    """Sets the floor below which nothing is shown."""
    from tests.integration.agent.conversations import lifting

    return lifting(monkeypatch)


@pytest.fixture(scope="module")
def shared_handbook(share: Share) -> "Callable[[], Handbook]":
    from tests.integration.agent.conversations import make_library

    return share(make_library)


@pytest.fixture
def handbook(shared_handbook: "Callable[[], Handbook]", db: None) -> "Handbook":
    """A base with a manual and, in a folder of its own base, what few may read: see `make_library`."""
    return shared_handbook()


@pytest.fixture
def reader(handbook: "Handbook") -> "User":
    """Somebody who reads the base with the manual, and not what few may read."""
    from tests.integration.agent.conversations import make_reader

    return make_reader(handbook[0])


@pytest.fixture
def overseer(db: None) -> "User":
    from tests.integration.governance.world import make_overseer

    return make_overseer()
