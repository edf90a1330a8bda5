"""Find confirmed questions similar to the one asked, to show a model beside the tables."""

import re
from collections.abc import Sequence
from itertools import pairwise

from business.parsing.base import Example

MAX_EXAMPLES = 3
MIN_ALIKE = 0.1  # least overlap: examples of other things mislead
_UNIT = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_ARTICLES = "a an the of in on at by for to and or"
_QUESTIONS = "is are was were did do does we our us how many much what which who there have has any"
_EMPTY = frozenset(f"{_ARTICLES} {_QUESTIONS}".split())


def similar(question: str, examples: Sequence[Example], most: int = MAX_EXAMPLES) -> list[Example]:
    """Return the examples with the most words in common with this question, best last, next to the question."""
    wanted = _grams(question)
    scored = []
    for place, example in enumerate(examples):
        given = _grams(example.question)
        scored.append((len(wanted & given) / max(1, len(wanted | given)), -place))
    best = sorted(one for one in scored if one[0] >= MIN_ALIKE)[-most:]
    return [examples[-place] for _score, place in best]


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    """Return English words and Chinese character pairs, without function words."""
    units = [unit for unit in _UNIT.findall(text.lower()) if unit not in _EMPTY]
    words = [(unit,) for unit in units if unit.isascii()]
    return frozenset([*words, *pairwise(units)])
