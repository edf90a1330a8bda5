"""Two connections that take turns. Django is not loaded yet when pytest reads this file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.authz.steps import Actor


@pytest.fixture
def actors() -> "Iterator[tuple[Actor, Actor]]":
    from tests.integration.authz.steps import Actor

    pair = Actor(), Actor()
    yield pair
    for actor in pair:
        actor.close()
