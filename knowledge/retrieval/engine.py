"""The configured models of this process: made once, on first use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from knowledge.embedding import build_embedder
from knowledge.embedding.base import Embedder, LateInteraction
from knowledge.embedding.cached import CachedEmbedder
from knowledge.models import EmbeddingSpace
from knowledge.retrieval.fusion import POOLED_WEIGHT, SENTENCE_WEIGHT
from knowledge.retrieval.rerank.base import Reranker, RerankQuery
from knowledge.retrieval.rerank.cross_encoder import CrossEncoderReranker
from knowledge.retrieval.rerank.maxsim import MaxSimReranker, pack_tokens
from knowledge.retrieval.token_vectors import POOLING, SENTENCE_SCALE, pool_tokens


@dataclass(frozen=True)
class Engine:
    """An embedder and its vector space.

    space: its name, which the row of the space has. lexical_weight: what a lexical score of 1 counts beside the cosines of this
    space. scale: (offset, slope) that puts those cosines on the line of sentence vectors, which the weights of the reader are
    fitted on.
    """

    embedder: Embedder
    space: str
    lexical_weight: float = SENTENCE_WEIGHT
    scale: tuple[float, float] = (0.0, 1.0)

    @cached_property
    def space_id(self) -> int:
        """Return the row of the space, made when there is none; read once."""
        row, _created = EmbeddingSpace.objects.get_or_create(
            name=self.space, defaults={"dimensions": self.embedder.dimensions}
        )
        return row.pk

    def sentence_cosine(self, cosine: float) -> float:
        """Return a cosine of this space as sentence vectors would have it."""
        offset, slope = self.scale
        return offset + slope * cosine

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[bytes | None]]:
        """Return vectors (n, dimensions) and packed token vectors of passages, each None without any."""
        if not isinstance(self.embedder, LateInteraction):
            return self.embedder.embed_passages(texts), [None] * len(texts)
        tokens = self.embedder.passage_tokens(texts)
        weights = self.embedder.token_weights(texts)
        vectors = [pool_tokens(rows, heavy) for rows, heavy in zip(tokens, weights, strict=True)]
        return np.array(vectors, np.float32).reshape(len(texts), self.embedder.dimensions), [
            pack_tokens(rows) for rows in tokens
        ]

    def ask(self, text: str) -> tuple[NDArray[np.float32], RerankQuery]:
        """Return the vector (dimensions,) of a question, and the question for rerankers."""
        if not isinstance(self.embedder, LateInteraction):
            return self.embedder.embed_query(text), RerankQuery(text)
        tokens = self.embedder.query_tokens(text)
        # those of a passage: it has a shorter prefix and so room for a token more
        weights = self.embedder.token_weights([text])[0][: len(tokens)]
        return pool_tokens(tokens, weights), RerankQuery(text, tokens, weights)


def load_engine() -> Engine:
    """Return the engine of this process, as the settings say. Raises EmbedderMisconfigured, EmbedderUnavailable."""
    embedder = _load_embedder()
    if isinstance(embedder, LateInteraction):
        return Engine(embedder, f"{embedder.space}/{POOLING}", POOLED_WEIGHT, SENTENCE_SCALE)
    return Engine(embedder, embedder.space)


@cache
def _load_embedder() -> Embedder:
    return build_embedder(settings.EMBEDDER, **settings.EMBEDDER_OPTIONS)


@cache
def load_sentence_embedder() -> Embedder:
    """Return this process's embedder for sentences of retrieved passages; it caches the vectors of recent ones."""
    return CachedEmbedder(_load_embedder())


@cache
def load_reranker() -> Reranker | None:
    """Return the configured reranker; None when the settings say `none`. A cross-encoder is loaded at its first question."""
    if settings.RERANKER == "none":
        return None
    if settings.RERANKER == "cross_encoder":
        options = settings.EMBEDDER_OPTIONS
        return CrossEncoderReranker(settings.RERANKER_MODEL, cache_dir=options["cache_dir"], threads=options["threads"])
    return MaxSimReranker()
