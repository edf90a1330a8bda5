"""The interface of rerankers: they score the finalists of a search again, more carefully than an index can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Finalist:
    """One finalist.

    lexical: its lexical score, 0 … 2.2.
    text: what was embedded, title and headings in front; "" unless the reranker `needs_text`.
    tokens: its packed token vectors (`maxsim.pack_tokens`); b"" unless the reranker `needs_tokens`, or where none are kept.
    """

    lexical: float = 0.0
    text: str = ""
    tokens: bytes = b""


@dataclass(frozen=True)
class RerankQuery:
    """A question in the two forms that rerankers read.

    tokens: (tokens, dimensions) vectors of the question's tokens, each L2-normalised; None where the embedder has none.
    weights: (tokens,) how much each token counts, ≥ 0; None counts all alike.
    """

    text: str
    tokens: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None


class Reranker(Protocol):
    """Scores candidates for a question. It changes their order, never which there are.

    depth: how many candidates to hand over; the ones behind keep their order.
    """

    @property
    def depth(self) -> int: ...

    @property
    def needs_text(self) -> bool: ...

    @property
    def needs_tokens(self) -> bool: ...

    def rerank(self, question: RerankQuery, candidates: Sequence[Finalist]) -> NDArray[np.float32]:
        """Return new scores, (candidates,), higher is better, in the order of `candidates`; empty in, empty out.

        Raises RerankerUnavailable when it cannot answer now; the search then keeps the order it has, and says so.
        """


class RerankerUnavailable(Exception):
    """The reranker does not answer or is not installed; the text is one sentence for the operator."""
