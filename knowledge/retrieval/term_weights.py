"""Weights of a question's terms: words of everyday speech are told from those of the subject, also in a small base.

In a base of sixty documents 自己 or "how long" is as rare as a name, for no document happens to say it. The frequencies of words in
books, news, subtitles and talk (`knowledge.text.everyday`) stand for passages that every base is imagined to hold besides
its own; in a large base they vanish.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from knowledge.text.everyday import load_everyday_rates
from knowledge.text.terms import compute_query_weights, extract_terms, hash_term, is_han

IMAGINED: Final = 1_000  # passages of ordinary text beside those of a base; 300 and 3,000 do much the same
WORDS: Final = 100  # of an ordinary passage
_LANGUAGES: Final = ("en", "zh")  # a word rarer than those of the lists is in a tenth of one imagined passage


@dataclass(frozen=True)
class _Rates:
    """The rates at which a word of ordinary text holds a term, and ends or begins with a Chinese character."""

    said: Mapping[str, float]
    last: Mapping[str, float]
    first: Mapping[str, float]


def weigh_subject_terms(question: str, frequencies: Mapping[int, int], passages: int) -> dict[int, float]:
    """Return {term id: share of the question's idf} as `compute_query_weights` gives it.

    It is taken among the passages of a base and the imagined ones.

    frequencies: {term id: passages of the base that hold it}, of those that occur: no other term is in the result.
    """
    asked = extract_terms(question)
    imagined = {hash_term(term): IMAGINED * estimate_passage_share(term) for term in set(asked)}
    together = {term: frequencies.get(term, 0) + usual for term, usual in imagined.items()}
    weights = compute_query_weights(map(hash_term, asked), together, passages + IMAGINED)
    return {term: weight for term, weight in weights.items() if term in frequencies}


def estimate_passage_share(term: str) -> float:
    """Return the share of ordinary passages that hold a term as `extract_terms` makes them, 0 … 1; 0 for a very rare one."""
    rates = _load_rates()
    rate = rates.said.get(term, 0.0)
    if len(term) == 2 and is_han(term):  # the end of one word and the beginning of the next
        rate += rates.last.get(term[0], 0.0) * rates.first.get(term[1], 0.0)
    return 1 - math.exp(-WORDS * rate)


@cache
def _load_rates() -> _Rates:
    rates, last, first = (defaultdict[str, float](float) for _ in range(3))
    for language in _LANGUAGES:
        for word, rate in load_everyday_rates(language).items():
            for term in extract_terms(word):
                rates[term] += rate
            if is_han(word):
                last[word[-1]] += rate
                first[word[0]] += rate
    return _Rates(dict(rates), dict(last), dict(first))
