"""Word overlap of a sentence and a text: used to locate a possible source, never to judge it."""

from functools import lru_cache

from agent.text.sentences import split
from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.terms import terms


def share_covered(sentence: str, text: str) -> float:
    """Return the share of a sentence's terms that a text contains, in 0 … 1; 1 for a sentence without terms."""
    asked = set(terms(sentence))
    return len(asked & _terms(text)) / len(asked) if asked else 1.0


@lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def nearest(sentence: str, text: str, blocks: tuple[PassageBlock, ...] = ()) -> tuple[int, int]:
    """Return the span of the sentence in a text with most terms in common; the whole text where there is none."""
    best = max(split(text, blocks), key=lambda piece: share_covered(sentence, piece.text), default=None)
    if best is None or not set(terms(sentence)) & _terms(best.text):
        return 0, len(text)
    return best.start, best.end
