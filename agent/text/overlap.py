"""Word overlap of a sentence and a text: used to locate a possible source, never to judge it."""

from functools import lru_cache

from agent.text.sentences import split_sentences
from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.terms import extract_terms


def compute_term_coverage(sentence: str, text: str) -> float:
    """Return the share of a sentence's terms that a text contains, in 0 … 1; 1 for a sentence without terms."""
    asked = set(extract_terms(sentence))
    return len(asked & _term_set_of(text)) / len(asked) if asked else 1.0


@lru_cache(maxsize=256)
def _term_set_of(text: str) -> frozenset[str]:
    return frozenset(extract_terms(text))


def find_nearest_sentence(sentence: str, text: str, blocks: tuple[PassageBlock, ...] = ()) -> tuple[int, int]:
    """Return the span of the sentence in a text with most terms in common; the whole text where there is none."""
    best = max(
        split_sentences(text, blocks), key=lambda piece: compute_term_coverage(sentence, piece.text), default=None
    )
    if best is None or not set(extract_terms(sentence)) & _term_set_of(best.text):
        return 0, len(text)
    return best.start, best.end
