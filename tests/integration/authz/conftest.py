"""Django is not loaded yet when pytest reads this file: what needs it is imported where it is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.integration.authz.steps import Actor


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
