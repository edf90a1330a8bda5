"""Does the evidence say what a sentence says? Facts to the letter first, then words, then meaning.

The threshold is a point of a measured curve (tests/benchmarks/measure_claims.py, docs/adr/0017-claims.md).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agent.attribution.facts import unsupported_fact
from agent.extractive.boilerplate import says_something
from agent.extractive.sentences import split
from knowledge.embedding.base import Embedder
from knowledge.retrieval.terms import terms

THRESHOLD: Final = 0.5  # of `strength`
NEWS, WORDS, MEANING = 0.5, 0.3, 0.2  # weights in one language: what a sentence adds to the question counts most
WORDY: Final = 0.8  # share of all of a sentence's terms, and of its new ones, from which meaning is not looked at
SAME: Final = (0.80, 0.95)  # cosines of unrelated and of equivalent sentences, in one language
ACROSS: Final = (0.74, 0.84)  # … and between Chinese and English
COMPARED = 8  # sentences of the evidence that meaning is compared with
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Support:
    """strength: in 0 … 1, for the threshold alone. missing: the fact that no evidence says, "" for none."""

    strength: float
    missing: str = ""

    @property
    def ok(self) -> bool:
        return not self.missing and self.strength >= THRESHOLD


def supported(
    sentence: str, evidence: Sequence[str], embedder: Embedder, *, question: str = "", also: str = ""
) -> Support:
    """How well these texts, taken together, support a sentence. It may repeat the question, and `also`: calculations."""
    together = "\n".join(evidence)
    if missing := unsupported_fact(sentence, together, also=f"{question}\n{also}"):
        return Support(0.0, missing)
    said = share_said(sentence, together)
    new = share_said(sentence, together, beside=f"{question}\n{also}")
    if min(said, new) >= WORDY:
        return Support(min(said, new))
    across = is_chinese(sentence) != is_chinese(together)
    return Support(strength(said, new, similarity(sentence, evidence, embedder), across=across))


def strength(said: float, new: float, cosine: float, *, across: bool) -> float:
    """Words, new words and meaning as one number in 0 … 1. across: between two languages only meaning is left."""
    low, high = ACROSS if across else SAME
    meaning = min(1.0, max(0.0, (cosine - low) / (high - low)))
    return meaning if across else NEWS * new + WORDS * said + MEANING * meaning


def is_chinese(text: str) -> bool:
    """Whether at least a fifth of it is Chinese characters."""
    return len(_HAN.findall(text)) * 5 >= len(text)


def share_said(sentence: str, evidence: str, *, beside: str = "") -> float:
    """The share of a sentence's terms that the evidence has, in 0 … 1; 1 for a sentence without terms.

    beside: a text whose terms do not count, such as the question that the sentence repeats.
    """
    asked = set(terms(sentence)) - _terms(beside)
    return len(asked & _terms(evidence)) / len(asked) if asked else 1.0


@lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def similarity(sentence: str, evidence: Sequence[str], embedder: Embedder) -> float:
    """The cosine of the sentence and the nearest sentence of the evidence, among those that share most with it."""
    pieces = [piece.text for text in evidence for piece in split(text) if len(piece.text) > 3]
    if not pieces:
        return 0.0
    same_script = [piece for piece in pieces if is_chinese(piece) == is_chinese(sentence)]
    if same_script:  # in one language the shared words tell which sentence it can be
        pieces = sorted(same_script, key=lambda piece: -share_said(sentence, piece))
    vectors = embedder.embed_passages([sentence, *pieces[:COMPARED]])
    return float((vectors[1:] @ vectors[0]).max())


def nearest(sentence: str, text: str) -> tuple[int, int]:
    """Where in a text the sentence stands that shares most with this one; all of the text where none does."""
    pieces = [piece for piece in split(text) if says_something(piece, "")]
    best = max(pieces, key=lambda piece: share_said(sentence, piece.text), default=None)
    if best is None or not set(terms(sentence)) & _terms(best.text):
        return 0, len(text)
    return best.start, best.end


def best_of(
    sentence: str, numbered: Mapping[int, str], embedder: Embedder, *, question: str, also: str
) -> tuple[tuple[int, ...], Support]:
    """The one piece of evidence that supports a sentence which cites none, or nothing."""
    ranked = sorted(numbered, key=lambda number: -share_said(sentence, numbered[number]))
    for number in ranked[:2]:
        support = supported(sentence, [numbered[number]], embedder, question=question, also=also)
        if support.ok:
            return (number,), support
    return (), Support(0.0, "evidence")
