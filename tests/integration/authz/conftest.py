"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.sharing import Share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.integration.authz.company import Company
    from tests.integration.authz.steps import Actor


@pytest.fixture(scope="module")
def shared_company(share: Share) -> "Callable[[], Company]":
    from tests.integration.authz.company import Company

    return share(Company.make)


@pytest.fixture
def company(shared_company: "Callable[[], Company]", db: None) -> "Company":
    return shared_company()


@pytest.fixture
def anna(db: None) -> "User":
    from tests.factories import make_user

    return make_user("anna")


@pytest.fixture
def actors() -> "Iterator[tuple[Actor, Actor]]":
    """Two connections that take turns."""
    from tests.integration.authz.steps import Actor

    pair = Actor(), Actor()
    yield pair
    for actor in pair:
        actor.close()
