from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.cached import CachedEmbedder
from tests.embedders import bundled
from tests.unit.embedding.test_bundled import TEXTS


class Counting:
    """The bundled embedder, which counts the texts that it embeds."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        inner = bundled()
        self.space, self.dimensions, self.max_tokens = inner.space, inner.dimensions, inner.max_tokens
        self.count_tokens = inner.count_tokens

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.embedded.append(text)
        return bundled().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return bundled().embed_passages(texts)


def test_a_sentence_is_embedded_once_and_has_the_embedders_own_vector() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner)
    asked = [TEXTS[0], TEXTS[1], TEXTS[0]]
    first, again = cached.embed_passages(asked), cached.embed_passages(TEXTS[:3])
    assert inner.embedded == TEXTS[:3]
    assert np.array_equal(first, bundled().embed_passages(asked))
    assert np.array_equal(again, bundled().embed_passages(TEXTS[:3]))


def test_a_question_is_embedded_once_and_is_no_passage() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner)
    for _again in range(3):
        assert np.array_equal(cached.embed_query(TEXTS[0]), bundled().embed_query(TEXTS[0]))
    assert not np.array_equal(cached.embed_passages(TEXTS[:1])[0], cached.embed_query(TEXTS[0]))
    assert inner.embedded == [TEXTS[0], TEXTS[0]]


def test_what_was_not_asked_for_longest_goes_first() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, most=2)
    for asked in ([TEXTS[0]], [TEXTS[1]], [TEXTS[0]], [TEXTS[2]], [TEXTS[0]], [TEXTS[1]]):
        cached.embed_passages(asked)
    assert inner.embedded == [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[1]]


def test_more_sentences_than_are_kept_come_back_whole_and_none_gives_no_rows() -> None:
    cached = CachedEmbedder(Counting(), most=2)
    assert np.array_equal(cached.embed_passages(TEXTS), bundled().embed_passages(TEXTS))
    assert cached.embed_passages([]).shape == (0, cached.dimensions)


def test_threads_that_ask_at_once_get_their_own_rows() -> None:
    cached = CachedEmbedder(Counting(), most=3)
    orders = [TEXTS[n:] + TEXTS[:n] for n in range(len(TEXTS))]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(cached.embed_passages, orders))
    for order, vectors in zip(orders, found, strict=True):
        assert np.array_equal(vectors, bundled().embed_passages(order))
