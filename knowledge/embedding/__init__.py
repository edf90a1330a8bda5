"""Texts to vectors: one file per embedder, found by name."""

from pathlib import Path

from knowledge.embedding import bundled, openai_compatible, sentence_transformers  # noqa: F401 - they register themselves
from knowledge.embedding.base import Embedder, EmbedderOptions, embedders


def build_embedder(
    name: str,
    *,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    cache_dir: Path,
    threads: int = 1,
    release_after: float | None = None,
) -> Embedder:
    """Return the embedder registered as `name`, built with the options it needs.

    Building does no I/O: models are loaded and services asked on first use. Raises UnknownName, and
    EmbedderMisconfigured when a needed value is absent. Keep the result: a process wants one.
    """
    options = EmbedderOptions(
        model=model,
        base_url=base_url,
        api_key=api_key,
        cache_dir=cache_dir,
        threads=threads,
        release_after=release_after,
    )
    return embedders.get(name)(options)
