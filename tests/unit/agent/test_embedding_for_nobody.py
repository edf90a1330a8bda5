"""`/v1/embeddings` embeds no more texts once the program that asked has left."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.openai_api.views import AT_ONCE, _embed_in_batches
from copilot_site.lib.load import waiting
from copilot_site.lib.load.waiting import HAS_LEFT, NobodyWaits


@pytest.fixture
def scope() -> Iterator[dict[str, Any]]:
    """Of the request that is being served."""
    served = SimpleNamespace(scope={})
    token = waiting._served.set(served)  # type: ignore[arg-type]
    yield served.scope
    waiting._served.reset(token)


class Counting:
    """An embedder whose asker leaves when it has embedded so many texts."""

    def __init__(self, scope: dict[str, Any], *, leaves_after: int) -> None:
        self._scope, self._leaves_after, self.embedded = scope, leaves_after, 0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        if self.embedded >= self._leaves_after:
            self._scope[HAS_LEFT] = True
        return np.array([[float(len(text))] for text in texts], np.float32)


def test_no_more_is_embedded_when_the_program_has_left(scope: dict[str, Any]) -> None:
    embedder: Any = Counting(scope, leaves_after=1)
    with pytest.raises(NobodyWaits):
        list(_embed_in_batches(embedder, ["text"] * 64))
    assert embedder.embedded == AT_ONCE


def test_each_text_has_its_vector_in_order(scope: dict[str, Any]) -> None:
    texts = ["x" * number for number in range(11)]
    embedder: Any = Counting(scope, leaves_after=100)
    assert [float(vector[0]) for vector in _embed_in_batches(embedder, texts)] == [
        float(number) for number in range(11)
    ]
