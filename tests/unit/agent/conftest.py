from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from knowledge.embedding.base import Embedder


@pytest.fixture(scope="session")
def embedder() -> "Embedder":
    """The bundled one; Django is not loaded yet when pytest reads this file."""
    from tests.embedders import bundled

    return bundled()
