"""The embedder that needs no network and no setting: multilingual-e5-small as int8 ONNX, Chinese and English alike."""

import ctypes
import gc
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.base import Embedder, EmbedderOptions, embedders
from knowledge.embedding.model_files import INPUT, MODEL, SENTENCE, SPACE, TOKENS, find_intact_model
from knowledge.embedding.tokenizer import Tokenizer
from knowledge.text.chinese_script import simplify_chinese

QUERY, PASSAGE = "query:", "passage:"  # what the model was trained with; the space after it is part of the next word
COMMON, MIN_WEIGHT = 4.0, 0.05  # what is as common as "." tells next to nothing; ADR 0004
RECENT_TEXTS = 64  # a text is asked for its vectors, then for the weights of its tokens: a batch and its neighbour
READ_CHARACTERS = 32_768  # more than 512 tokens of the longest pieces (16 characters); what follows is never seen


class _Runtime:
    """The loaded session and tokenizer; both may be used by several threads at once."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # texts run side by side instead: no threads to lose in a fork, none spinning
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        # the graph is fused by hand; the extended level would replace fast layer norms by a slow fused one
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self.session: Any = onnxruntime.InferenceSession(
            folder / MODEL, sess_options=options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = Tokenizer(folder)
        self.prefixes = {prefix: self.tokenizer.encode(prefix) for prefix in (QUERY, PASSAGE)}


class BundledEmbedder:
    """multilingual-e5-small out of the folder that `prepare_model` filled.

    threads: texts of one call embedded side by side.
    release_after: seconds without use after which the model leaves the memory, until it is used again; None: it stays.
    Traditional characters are read as simplified ones: both scripts have one vector.
    The files are opened on first use, once for all threads; that raises ModelMissing when they are absent or damaged.
    """

    space = SPACE
    dimensions = 384
    max_tokens = 512

    def __init__(self, cache_dir: Path, *, threads: int = 1, release_after: float | None = None) -> None:
        self._cache_dir = cache_dir
        self._threads = threads
        self._release_after = release_after
        self._used = 0.0  # by the monotonic clock
        self._loading = threading.Lock()
        self._loaded: _Runtime | None = None
        self._encoded = lru_cache(RECENT_TEXTS)(self._encode_text)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._embed_in_parallel(partial(self._embed_sentence, PASSAGE), texts)
        return np.array(vectors, np.float32).reshape(len(vectors), self.dimensions)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embed_sentence(QUERY, text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        runtime = self._load_runtime()
        return [len(runtime.tokenizer.encode(simplify_chinese(text))) for text in texts]

    def passage_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return self._embed_in_parallel(partial(self._embed_tokens, PASSAGE), texts)

    def query_tokens(self, text: str) -> NDArray[np.float32]:
        return self._embed_tokens(QUERY, text)

    def token_weights(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        rarity = self._load_runtime().tokenizer.rarity
        return [
            np.maximum(np.array(rarity(ids), np.float32) - COMMON, MIN_WEIGHT)
            for ids in (self._content(PASSAGE, text) for text in texts)
        ]

    def _embed_sentence(self, prefix: str, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._run_session(SENTENCE, prefix, self._content(prefix, text))
        return vector

    def _embed_tokens(self, prefix: str, text: str) -> NDArray[np.float32]:
        content = self._content(prefix, text)
        return self._select_own_rows(self._run_session(TOKENS, prefix, content), prefix, content)

    def _select_own_rows(self, rows: NDArray[np.float32], prefix: str, content: list[int]) -> NDArray[np.float32]:
        """Return the rows of the text's own tokens, normalised."""
        start = 1 + len(self._load_runtime().prefixes[prefix])
        own = rows[start : start + len(content)]
        normalised: NDArray[np.float32] = own / np.linalg.norm(own, axis=1, keepdims=True)
        return normalised

    def _content(self, prefix: str, text: str) -> list[int]:
        """Return the ids of the text's own tokens, cut so that prefix and special tokens still fit."""
        room = self.max_tokens - 2 - len(self._load_runtime().prefixes[prefix])
        return self._encoded(text)[:room]

    def _encode_text(self, text: str) -> list[int]:
        return self._load_runtime().tokenizer.encode(simplify_chinese(text[:READ_CHARACTERS]))[: self.max_tokens]

    def _run_session(self, output: str, prefix: str, content: list[int]) -> Any:
        runtime = self._load_runtime()
        tokenizer = runtime.tokenizer
        ids = np.array([[tokenizer.bos, *runtime.prefixes[prefix], *content, tokenizer.eos]], np.int64)
        return runtime.session.run([output], {INPUT: ids})[0][0]

    def _embed_in_parallel(self, embed: Any, texts: Sequence[str]) -> list[Any]:
        """Embed every text, in order, on `threads` threads; the longest start first so that they end together."""
        self._load_runtime()
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        if self._threads == 1 or len(texts) < 2:
            results = [embed(texts[index]) for index in order]
        else:
            with ThreadPoolExecutor(self._threads, thread_name_prefix="embed") as pool:
                results = list(pool.map(embed, (texts[index] for index in order)))
        return [result for _, result in sorted(zip(order, results, strict=True), key=lambda pair: pair[0])]

    def _load_runtime(self) -> _Runtime:
        self._used = time.monotonic()
        runtime = self._loaded
        if runtime is None:
            with self._loading:
                runtime = self._loaded
                if runtime is None:
                    runtime = self._loaded = _Runtime(find_intact_model(self._cache_dir))
                    if self._release_after is not None:
                        threading.Thread(target=self._release_when_idle, name="release-model", daemon=True).start()
        return runtime

    def _release_when_idle(self) -> None:
        """Release the model once it was unused for `release_after`; a thread that holds it then finishes with it."""
        assert self._release_after is not None
        while (left := self._used + self._release_after - time.monotonic()) > 0:
            time.sleep(left)
        with self._loading:
            self._loaded = None
        gc.collect()
        _give_back_memory()


def _give_back_memory() -> None:
    """Return memory that the C library keeps for later to the system. Only glibc keeps it, and has a call for it."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _build_bundled_embedder(options: EmbedderOptions) -> Embedder:
    return BundledEmbedder(options.cache_dir, threads=options.threads, release_after=options.release_after)


embedders.add("bundled", _build_bundled_embedder)
