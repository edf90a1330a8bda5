"""Retrieval metrics over graded judgements, the definitions of trec_eval.

A judgement maps document ids to grades: 0 or absent is irrelevant, higher is better. A ranking lists document ids,
best first, each once. All results are in 0 … 1, higher is better.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

Judgements = Mapping[str, int]


def ranked_documents(chunks: Iterable[tuple[str, float]], *, exclude: Collection[str] = ()) -> list[str]:
    """Document ids, best first, of scored chunks: a document counts once, by its best chunk.

    chunks: (document id, score) in any order; equal scores keep the order they came in.
    exclude: documents that the question was taken from.
    """
    best: dict[str, float] = {}
    for document, score in chunks:
        if document not in exclude:
            best[document] = max(score, best.get(document, -math.inf))
    return sorted(best, key=best.__getitem__, reverse=True)


def recall_at_k(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """The share of the relevant documents that are among the first k; 0 when none is relevant."""
    relevant = _relevant(judgements)
    return len(relevant & set(ranking[:k])) / len(relevant) if relevant else 0.0


def precision_at_k(ranking: Sequence[str], judgements: Judgements, k: int) -> float:
    """The share of the first k places that relevant documents hold; a place that is empty counts as one that is wrong."""
    return len(_relevant(judgements) & set(ranking[:k])) / k


def average_precision_at_k(ranking: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """Precision at the place of each relevant document among the first k, over the number of relevant ones; its mean is MAP@k."""
    relevant = _relevant(judgements)
    places = [rank for rank, document in enumerate(ranking[:k], start=1) if document in relevant]
    return math.fsum(found / rank for found, rank in enumerate(places, start=1)) / len(relevant) if relevant else 0.0


def mrr_at_k(ranking: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """1 / rank of the first relevant document, 0 when it is not among the first k."""
    relevant = _relevant(judgements)
    return next((1 / rank for rank, document in enumerate(ranking[:k], start=1) if document in relevant), 0.0)


def ndcg_at_k(ranking: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """Discounted gain over the gain of the best possible order; gain is the grade itself, discount log2(rank + 1).

    Source: Järvelin and Kekäläinen, TOIS 2002, with the linear gain of trec_eval.
    """
    ideal = _discounted(sorted(judgements.values(), reverse=True)[:k])
    return _discounted([judgements.get(document, 0) for document in ranking[:k]]) / ideal if ideal else 0.0


def mean(values: Collection[float]) -> float:
    """The arithmetic mean; 0 for no value."""
    return math.fsum(values) / len(values) if values else 0.0


def _relevant(judgements: Judgements) -> set[str]:
    return {document for document, grade in judgements.items() if grade > 0}


def _discounted(grades: Sequence[int]) -> float:
    return math.fsum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
