"""An embedder that embeds a text once: people ask about the same pages, and one answer uses its question several times."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.base import Embedder

RECENT_SENTENCES = 8_192  # 12.6 MB at 384 dimensions, and their texts
RECENT_QUESTIONS = 256


class CachedEmbedder:
    """Another embedder with caches of recent vectors. Vectors depend on text alone, so no rights are cached.

    most: vectors of passages that are kept; the one that was not asked for longest goes first. Thread safe.
    """

    def __init__(self, embedder: Embedder, *, most: int = RECENT_SENTENCES) -> None:
        self._embedder = embedder
        self._most = most
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self.space, self.dimensions, self.max_tokens = embedder.space, embedder.dimensions, embedder.max_tokens
        self.embed_query = lru_cache(RECENT_QUESTIONS)(embedder.embed_query)
        self.count_tokens = embedder.count_tokens

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found |= zip(new, self._embedder.embed_passages(new), strict=True)
        with self._lock:
            for text in texts:
                self._vectors[text] = found[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return np.array([found[text] for text in texts], np.float32).reshape(len(texts), self.dimensions)
