"""The interface of embedders, their registry and their errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from copilot_site.lib.registry import Registry


class EmbeddingError(Exception):
    """Root of an embedder's errors; the text is one sentence for the operator."""


class EmbedderUnavailable(EmbeddingError):
    """The embedder does not answer now; the same call may succeed later. Tasks retry this and nothing else."""


class EmbedderMisconfigured(EmbeddingError):
    """The operator must change a setting, a key or an installation first."""


class ModelMissing(EmbedderMisconfigured):
    """The model's files or its library are not there, or damaged."""


class Embedder(Protocol):
    """Texts to vectors. Thread safe; up to rounding a text has one vector, whatever else is in the batch.

    space: names the vector space; stored with every chunk. Vectors of two spaces are never compared.
    dimensions: length of a vector.
    max_tokens: what lies behind this many tokens of a text is not seen.
    Every string is a valid text, the empty one included: no text raises.
    """

    @property
    def space(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages, (n, dimensions), L2-normalised, in the order of `texts`."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query, (dimensions,), L2-normalised."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text before truncation, without prefix and special tokens."""


@runtime_checkable
class LateInteraction(Protocol):
    """An embedder that also gives one vector per token, for MaxSim.

    Rows belong to the tokens of the text itself, in order, cut at `max_tokens`: prefix and special tokens are left out.
    """

    def query_tokens(self, text: str) -> NDArray[np.float32]:
        """Return (tokens, dimensions), each row L2-normalised; (0, dimensions) for a text without tokens."""

    def passage_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return one array like that for each text."""

    def token_weights(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the weight of each of the same tokens, > 0, (tokens,) for each text: the rarer in the language, the higher."""


@dataclass(frozen=True)
class EmbedderOptions:
    """The options of embedders; each takes what it needs.

    model: a model's name or path; base_url, api_key: of a served model; cache_dir: where converted and fetched models
    live; threads: CPU threads for one call; release_after: seconds without use until a loaded model leaves the memory.
    """

    cache_dir: Path
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    threads: int = 1
    release_after: float | None = None


embedders: Registry[Callable[[EmbedderOptions], Embedder]] = Registry("embedder")


def sanitise_text(text: str, *, characters: int) -> str:
    """Return the first `characters` of any string as one that tokenizers and JSON accept: no lone surrogates, no NUL."""
    cut = text[:characters]
    return cut.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", " ")


def prefixes_of(model: str) -> tuple[str, str]:
    """Return the prefixes of a query and a passage that `model` (name or path) was trained with and does not add by itself.

    Only the E5 family needs them and rarely says so in its files; without them it loses several points of recall.
    """
    words = PurePath(model).name.lower().replace("_", "-").split("-")
    return ("query: ", "passage: ") if "e5" in words and "instruct" not in words else ("", "")
