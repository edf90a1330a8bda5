"""Any sentence-transformers model, by name or path. Its library is the extra `models` and is imported on first use."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.base import (
    Embedder,
    EmbedderMisconfigured,
    EmbedderOptions,
    ModelMissing,
    embedders,
    prefixes_of,
    sanitise_text,
)

BATCH_TEXTS = 16
CHARACTERS_PER_TOKEN = 16  # no tokenizer in use has longer pieces on average: what is cut would not be seen anyway


def load_library() -> Any:
    """Return the library sentence-transformers. Raises ModelMissing, saying how to install it."""
    try:
        import sentence_transformers
    except ImportError as error:
        raise ModelMissing(
            "The library sentence-transformers is not installed; install the extra `models` with `make models`, "
            "or choose another embedder."
        ) from error
    return sentence_transformers


class SentenceTransformersEmbedder:
    """A model of the hub or of a folder, on the CPU or the GPU that torch finds.

    Prompts written in the model's own configuration are used; for models that lack theirs see `prefixes_of`.
    One call at a time: the tokenizers behind the library may not be shared.
    """

    def __init__(self, model: str, *, cache_dir: Path, threads: int = 1) -> None:
        self.space = f"sentence_transformers:{model}"
        self._name = model
        self._cache_dir = cache_dir
        self._threads = threads
        self._lock = threading.RLock()
        self._loaded: Any = None

    @property
    def dimensions(self) -> int:
        return int(self._find_or_load_model().get_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        return int(self._find_or_load_model().max_seq_length or 512)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        with self._lock:
            model = self._find_or_load_model()
            prefix = "" if model.prompts.get("document") or model.prompts.get("passage") else prefixes_of(self._name)[1]
            return self._compute_vectors(model.encode_document, [prefix + text for text in self._sanitise_texts(texts)])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        with self._lock:
            model = self._find_or_load_model()
            prefix = "" if model.prompts.get("query") else prefixes_of(self._name)[0]
            vector: NDArray[np.float32] = self._compute_vectors(
                model.encode_query, [prefix + self._sanitise_texts([text])[0]]
            )[0]
            return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        with self._lock:
            tokenizer = self._find_or_load_model().tokenizer
            cleaned = [sanitise_text(text, characters=len(text)) for text in texts]
            return [len(tokenizer.encode(text, add_special_tokens=False, verbose=False)) for text in cleaned]

    def _sanitise_texts(self, texts: Sequence[str]) -> list[str]:
        return [sanitise_text(text, characters=self.max_tokens * CHARACTERS_PER_TOKEN) for text in texts]

    def _compute_vectors(self, encode: Any, texts: list[str]) -> NDArray[np.float32]:
        vectors = encode(
            texts,
            batch_size=BATCH_TEXTS,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, np.float32)

    def _find_or_load_model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_model()
            return self._loaded

    def _load_model(self) -> Any:
        library = load_library()
        import torch

        torch.set_num_threads(self._threads)
        try:
            return library.SentenceTransformer(self._name, cache_folder=str(self._cache_dir / "hub"))
        except (OSError, ValueError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise ModelMissing(f"The embedding model {self._name!r} could not be loaded: {reason}") from error


def _build_sentence_embedder(options: EmbedderOptions) -> Embedder:
    if not options.model:
        raise EmbedderMisconfigured("The embedder sentence_transformers needs the name or path of a model.")
    return SentenceTransformersEmbedder(options.model, cache_dir=options.cache_dir, threads=options.threads)


embedders.add("sentence_transformers", _build_sentence_embedder)
