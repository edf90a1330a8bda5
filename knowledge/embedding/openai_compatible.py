"""Any service that answers POST {base_url}/embeddings as OpenAI does: vLLM, TEI, Ollama, Xinference, OpenAI itself."""

import threading
from collections.abc import Sequence

import numpy as np
import tenacity
from numpy.typing import NDArray

from knowledge.embedding.base import (
    Embedder,
    EmbedderMisconfigured,
    EmbedderOptions,
    EmbedderUnavailable,
    embedders,
    prefixes_of,
    sanitise_text,
)

BATCH_TEXTS = 32
MAX_CHARACTERS = 6_000  # of one text; below the 8,191 tokens of common services in every script
CONNECT_TIMEOUT_S = 5.0
ATTEMPTS, MAX_WAIT_S = 4, 8.0
WIDE = 0x2E80  # from here on (CJK and what follows) a character is about a token; before it four are


class OpenAICompatibleEmbedder:
    """A served model. The number of dimensions is learnt from the first answer and every later one must keep it.

    max_tokens and count_tokens are estimates, since a service does not share its tokenizer.
    timeout_s: for one answer; connecting has CONNECT_TIMEOUT_S.
    first_wait_s: pause before the second attempt; it doubles up to MAX_WAIT_S.
    Raises EmbedderUnavailable when all attempts fail, EmbedderMisconfigured for what a retry will
    not change: a wrong key, an unknown model, an invalid answer.
    """

    max_tokens = MAX_CHARACTERS // 4

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        first_wait_s: float = 0.5,
    ) -> None:
        import openai  # here: a second and 13 MB of every process that never speaks to a service

        # time-outs are of the first
        self._temporary = (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError)
        self.space = f"openai_compatible:{model}"
        self._model = model
        self._base_url = base_url
        self._query_prefix, self._passage_prefix = prefixes_of(model)
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=openai.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S),
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),  # passages go where they were meant to go
        )
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(self._temporary),
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_exponential_jitter(multiplier=first_wait_s, max=MAX_WAIT_S, jitter=first_wait_s),
            reraise=True,
        )
        self._learning = threading.Lock()
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self._embed_texts(["dimensions"])
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        batches = [texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS)]
        vectors = [
            self._embed_texts([self._passage_prefix + self._prepare_text(text) for text in batch]) for batch in batches
        ]
        return np.concatenate(vectors) if vectors else np.zeros((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed_texts([self._query_prefix + self._prepare_text(text)])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        wide = [sum(ord(character) >= WIDE for character in text) for text in texts]
        return [count + -(-(len(text) - count) // 4) for text, count in zip(texts, wide, strict=True)]

    @staticmethod
    def _prepare_text(text: str) -> str:
        """Return the text to send: never empty, since most services refuse that."""
        return sanitise_text(text, characters=MAX_CHARACTERS).strip() or "-"

    def _embed_texts(self, texts: list[str]) -> NDArray[np.float32]:
        import openai

        try:
            answer = self._retrying(
                self._client.embeddings.create, input=texts, model=self._model, encoding_format="float"
            )
        except self._temporary as error:
            raise EmbedderUnavailable(
                f"The embedding service at {self._base_url} did not answer after {ATTEMPTS} attempts: {_format_error(error)}"
            ) from error
        except openai.APIStatusError as error:
            raise EmbedderMisconfigured(
                f"The embedding service at {self._base_url} refused the model {self._model!r} "
                f"with status {error.status_code}: {_format_error(error)}"
            ) from error
        except (openai.OpenAIError, ValueError) as error:
            raise EmbedderMisconfigured(
                f"The address {self._base_url} does not answer as an embedding service: {_format_error(error)}"
            ) from error
        rows = sorted(answer.data or [], key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))):
            raise EmbedderMisconfigured(
                f"The embedding service at {self._base_url} sent {len(rows)} vectors for {len(texts)} texts."
            )
        return self._normalise_rows([row.embedding for row in rows])

    def _normalise_rows(self, rows: list[list[float]]) -> NDArray[np.float32]:
        """Return the rows as unit vectors of the one known length."""
        with self._learning:
            self._dimensions = self._dimensions or len(rows[0])
        if lengths := {len(row) for row in rows} - {self._dimensions}:
            raise EmbedderMisconfigured(
                f"The embedding service at {self._base_url} sent a vector of {lengths.pop()} dimensions "
                f"where {self._dimensions} were expected."
            )
        vectors = np.array(rows, np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise EmbedderMisconfigured(f"The embedding service at {self._base_url} sent a vector without a direction.")
        normalised: NDArray[np.float32] = vectors / norms
        return normalised


def _format_error(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _build_openai_embedder(options: EmbedderOptions) -> Embedder:
    if not options.base_url or not options.model:
        raise EmbedderMisconfigured("The embedder openai_compatible needs a base URL and the name of a model.")
    return OpenAICompatibleEmbedder(base_url=options.base_url, model=options.model, api_key=options.api_key)


embedders.add("openai_compatible", _build_openai_embedder)
