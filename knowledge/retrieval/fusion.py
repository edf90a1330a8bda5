"""Two rankings made one: scores on their absolute scales, or reciprocal ranks as the baseline of the evaluation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

# Of a lexical score of 1 against a cosine; both are flat from half to double, see ADR 0004.
SENTENCE_WEIGHT = 0.1  # an embedder's own vectors: cosines lie close together
POOLED_WEIGHT = 0.2  # vectors of `token_vectors.pooled`: cosines spread


def fuse(dense: Scores, lexical: Scores, *, weight: float) -> Scores:
    """Cosine plus a share of the lexical score, (candidates,), higher is better.

    dense: cosines, of every candidate. lexical: BM25 over the sum of the question's idf, 0 … 2.2 (see `terms`); 0 for
    a candidate without a common term. Both keep how sure they are: across languages BM25 knows nothing, scores near 0
    everywhere and so has no vote, which a fusion of ranks would give it.
    """
    fused: Scores = dense + np.float32(weight) * lexical
    return fused


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], *, k: int = 60) -> list[tuple[int, float]]:
    """Reciprocal rank fusion of ranked ids, best first: the baseline of the evaluation.

    rankings: one list per retriever, each best first; an id may be missing from some. Empty in, empty out.
    k: damping; larger trusts deep ranks more. 60 is the value of the source.
    Returns (id, score), score in (0, len(rankings) / (k + 1)], ties by id so that runs repeat.
    Source: Cormack, Clarke, Büttcher, SIGIR 2009.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
