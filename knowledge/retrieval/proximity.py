"""Whether a passage says the words of a question in one breath, or here and there."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

SPAN = 12  # terms, about half a sentence; ADR 0004
WEIGHT = 0.03  # of a question said in one breath, beside late interaction; 0.02–0.05 tried, see ADR 0004
FIRST = 10  # passages that are read again for it: their words must be cut once more


def said_together(shares: Mapping[int, float], heading: Iterable[int], text: Sequence[int]) -> float:
    """The largest share of the question's idf in SPAN neighbouring terms of the text under its heading, 0 … 1.

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
