"""Two rankings made one: scores on their absolute scales, or reciprocal ranks as the baseline of the evaluation.

And what is added to either: what the passages of one document do for each other, and a question said in one breath.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

# Of a lexical score of 1 against a cosine; both are flat from half to double, see ADR 0004.
SENTENCE_WEIGHT = 0.1  # an embedder's own vectors: cosines lie close together
POOLED_WEIGHT = 0.2  # vectors of `token_vectors.pool_tokens`: cosines spread


def fuse_scores(dense: Scores, lexical: Scores, *, weight: float) -> Scores:
    """Return the cosine plus a share of the lexical score, (candidates,), higher is better.

    dense: cosines, of every candidate. lexical: BM25 over the sum of the question's idf, 0 … 2.2 (see `terms`); 0 for
    a candidate without a common term. Both keep how sure they are: across languages BM25 knows nothing, scores near 0
    everywhere and so has no vote, which a fusion of ranks would give it.
    """
    fused: Scores = dense + np.float32(weight) * lexical
    return fused


SUPPORT = 0.25  # of the mean of a document's next best passages, above the common level; 0.1–0.4 tried, see ADR 0004
SUPPORTERS = 2


def compute_support(documents: Sequence[Hashable], scores: Scores) -> Scores:
    """Return each passage's gain from the rest of its document, (passages,), ≥ 0: a relevant page says it more than once.

    documents: of each passage. scores: of any scale, higher is better. A share of how far the SUPPORTERS best other passages
    of the document stand above the lower quartile of all scores, where a passage by chance stands; one that is missing, or
    stands below, adds nothing.
    """
    gained: Scores = np.zeros(len(scores), np.float32)
    if not len(scores):
        return gained
    level = np.sort(scores)[len(scores) // 4]
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place in np.argsort(-scores, kind="stable").tolist():
        places[documents[place]].append(place)
    for own in places.values():
        for place in own:
            others = [other for other in own if other != place][:SUPPORTERS]
            above = np.maximum(scores[others] - level, 0).sum() if others else 0.0
            gained[place] = SUPPORT * above / SUPPORTERS
    return gained


SPAN = 12  # terms, about half a sentence; ADR 0004
WEIGHT = 0.03  # of a question said in one breath, beside late interaction; 0.02–0.05 tried, see ADR 0004
FIRST = 10  # passages read again for it: their words must be segmented again


def compute_joint_coverage(shares: Mapping[int, float], heading: Iterable[int], text: Sequence[int]) -> float:
    """Return the largest share of the question's idf in SPAN neighbouring terms of the text under its heading, 0 … 1.

    shares: {term id: share of the question's idf}. heading, text: term ids; what the heading says, each place of the text takes
    for granted.
    """
    granted = shares.keys() & set(heading)
    window: deque[tuple[int, int]] = deque()  # (place, term) of the question's terms in the last SPAN places
    inside: Counter[int] = Counter()
    most = 0.0
    for place, term in enumerate(text):
        if term not in shares or term in granted:
            continue
        window.append((place, term))
        inside[term] += 1
        while window[0][0] <= place - SPAN:
            inside[window.popleft()[1]] -= 1
        most = max(most, sum(shares[one] for one, count in inside.items() if count))
    return min(1.0, sum(shares[term] for term in granted) + most)
