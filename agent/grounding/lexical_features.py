"""How a sentence and its passage say the words of a question: side by side, in its order, denied, or the opposite.

A neighbouring paragraph, and a question that was turned on purpose, use the words of the text that answers; what differs is how
they stand to each other. No model: two languages' negations and a list of common opposites.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from agent.extractive.candidates import TermShares
from knowledge.retrieval.proximity import said_together
from knowledge.retrieval.terms import term_id, terms

NEAR = 4  # terms apart, at most, of words that belong together
UNPAIRED = 0.5  # of a question without two neighbouring terms, which says nothing either way
DETAILS = (
    "pairs_in_sentence",  # share of the question's neighbouring terms that are near each other in the sentence,
    "pairs_in_passage",  # … in the passage,
    "order_in_passage",  # … in the passage and in the question's order
    "together",  # largest share of the question's idf in one breath
    "negation_differs",  # either the question or the sentence denies, not both
    "negation_unsaid",  # the question denies and the sentence does not
    "opposite",  # the sentence says the opposite of a word of the question, and not the word,
    "opposite_in_passage",  # … which the passage does not say either
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|except|unlike|lack\w*|fail\w*)\b|[不没未无非]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")
_OPPOSITE_PAIRS = """
before/after first/last north/south east/west northern/southern eastern/western increase/decrease
increased/decreased more/less more/fewer most/least highest/lowest high/low higher/lower largest/smallest
larger/smaller large/small early/late earlier/later earliest/latest best/worst above/below over/under win/lose
won/lost male/female men/women start/end began/ended beginning/end old/new oldest/youngest older/newer many/few
strong/weak positive/negative rise/fall buy/sell import/export upper/lower left/right long/short
internal/external maximum/minimum public/private always/never all/none accept/reject support/oppose
allow/prevent common/rare open/close inside/outside war/peace major/minor simple/complex finite/infinite
same/different active/inactive
"""
_OPPOSITES: dict[str, set[str]] = defaultdict(set)
for _pair in _OPPOSITE_PAIRS.split():
    _one, _other = _pair.split("/")
    _OPPOSITES[_one].add(_other)
    _OPPOSITES[_other].add(_one)


def details(question: str, shares: TermShares, sentence: str, heading: str, text: str) -> dict[str, float]:
    """The DETAILS of a sentence of the passage `text`, which stands under `heading`: shares in 0 … 1, or 0 and 1."""
    asked = [term_id(term) for term in terms(question)]
    pairs = [(one, other) for one, other in pairwise(asked) if one != other and one in shares and other in shares]
    own, around = _places(_ids(sentence)), _places(_ids(f"{heading}\n{text}"))
    differs = _denies(question) != _denies(sentence)
    words, said, anywhere = _words(question), _words(sentence), _words(f"{heading}\n{text}")
    turned = {word for word in words - said if _OPPOSITES.get(word, set()) & said}
    return {
        "pairs_in_sentence": _kept(pairs, shares, own, range(-NEAR, NEAR + 1)),
        "pairs_in_passage": _kept(pairs, shares, around, range(-NEAR, NEAR + 1)),
        "order_in_passage": _kept(pairs, shares, around, (1, 2)),
        "together": said_together(shares, _ids(heading), _ids(text)),
        "negation_differs": float(differs),
        "negation_unsaid": float(differs and _denies(question)),
        "opposite": float(bool(turned)),
        "opposite_in_passage": float(bool(turned - anywhere)),
    }


def _kept(
    pairs: Sequence[tuple[int, int]], shares: TermShares, places: Mapping[int, set[int]], apart: Iterable[int]
) -> float:
    """Share of the pairs, by idf, whose terms stand `apart` somewhere."""
    if not pairs:
        return UNPAIRED
    steps = list(apart)
    weight = {pair: shares[pair[0]] + shares[pair[1]] for pair in pairs}
    near = [
        pair
        for pair in weight
        if any(place + step in places.get(pair[1], ()) for place in places.get(pair[0], ()) for step in steps)
    ]
    return sum(weight[pair] for pair in near) / (sum(weight.values()) or 1.0)


def _ids(text: str) -> list[int]:
    return [term_id(term) for term in terms(text)]


def _places(ids: Sequence[int]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for place, term in enumerate(ids):
        found[term].add(place)
    return found


def _denies(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
