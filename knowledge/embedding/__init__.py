"""Texts to vectors: one file per embedder, found by name."""

from typing import Any

from knowledge.embedding import bundled, openai_compatible, sentence_transformers  # noqa: F401 - they register themselves
from knowledge.embedding.base import Embedder, EmbedderOptions, embedders


def build_embedder(name: str, **options: Any) -> Embedder:
    """Return the embedder registered as `name`. options: of EmbedderOptions; each takes what it needs.

    Building does no I/O: models are loaded and services asked on first use. Raises UnknownName, and
    EmbedderMisconfigured when a needed value is absent. Keep the result: a process wants one.
    """
    return embedders.get(name)(EmbedderOptions(**options))
