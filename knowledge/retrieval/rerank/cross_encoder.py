"""A cross-encoder through sentence-transformers: reads question and passage together, for those who have such a model."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.base import ModelMissing, sanitise_text
from knowledge.embedding.sentence_transformers import load_library
from knowledge.retrieval.rerank.base import Finalist, RerankerUnavailable, RerankQuery

BATCH_TEXTS = 16
CHARACTERS = 16_384  # of one text; cross-encoders read 512 tokens, a few 8,192


def _keep_raw_output(logits: Any) -> Any:
    """Return a model's raw output, before the activation that only some models have."""
    return logits


class CrossEncoderReranker:
    """Scores are the model's own as probabilities, 0 … 1: that the text answers the query.

    model: name or path, for example BAAI/bge-reranker-v2-m3. Loaded on first use; that raises RerankerUnavailable when
    the library (extra `models`) or the model is not there. depth: 20 pairs of 300 tokens take a base model on a CPU
    seconds, not more. One call at a time.
    """

    needs_text = True
    needs_tokens = False

    def __init__(self, model: str, *, cache_dir: Path, threads: int = 1, depth: int = 20) -> None:
        self.depth = depth
        self._name = model
        self._cache_dir = cache_dir
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: Any = None

    def rerank(self, question: RerankQuery, candidates: Sequence[Finalist]) -> NDArray[np.float32]:
        return self.score(question.text, [candidate.text for candidate in candidates])

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each text answers the query, (n,), higher is better, in the order of `texts`; empty in, empty out."""
        if not texts:
            return np.zeros(0, np.float32)
        asked = sanitise_text(query, characters=CHARACTERS)
        pairs = [(asked, sanitise_text(text, characters=CHARACTERS)) for text in texts]
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_model()
            logits = self._loaded.predict(
                pairs, batch_size=BATCH_TEXTS, show_progress_bar=False, activation_fn=_keep_raw_output
            )
        scores = 1 / (1 + np.exp(-np.clip(np.asarray(logits, np.float32), -50, 50)))
        return np.asarray(scores, np.float32).reshape(len(texts))

    def _load_model(self) -> Any:
        try:
            library = load_library()
        except ModelMissing as error:
            raise RerankerUnavailable(str(error)) from error
        import torch

        torch.set_num_threads(self._threads)
        try:
            model = library.CrossEncoder(self._name, cache_folder=str(self._cache_dir / "hub"))
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise RerankerUnavailable(f"The reranking model {self._name!r} could not be loaded: {reason}") from error
        if model.num_labels != 1:
            raise RerankerUnavailable(
                f"The reranking model {self._name!r} gives {model.num_labels} scores a pair, not one."
            )
        return model
