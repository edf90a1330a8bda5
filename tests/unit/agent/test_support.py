"""Where a sentence of the model passes its check, and where it does not any more: the point of the curve that ADR 0017 chose."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.attribution.support import Support, is_chinese, share_said, strength, supported

SENTENCE = "Pumps need yearly inspection by qualified engineers."
EVIDENCE = "Pumps need care. Whoever looks at them is one of our engineers."
ACROSS = "水泵由工程师检查。"
CLOSE = 0.004  # of the threshold: a hundredth up or down decides otherwise


class Alike:
    """An embedder in whose space every passage has the same cosine with the first."""

    space, dimensions, max_tokens = "alike-v1", 2, 512

    def __init__(self, cosine: float) -> None:
        self._other = (cosine, sqrt(1 - cosine**2))

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([(1.0, 0.0), *[self._other] * (len(texts) - 1)], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.array((1.0, 0.0), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("found", "passes"), [(0.5, True), (0.5 - 1e-9, False), (0.5 + CLOSE, True), (0.5 - CLOSE, False)]
)
def test_a_sentence_passes_from_half_the_strength_on(found: float, passes: bool) -> None:
    assert Support(found).ok is passes
    assert not Support(found, "12").ok


@pytest.mark.parametrize("evidence", [EVIDENCE, ACROSS], ids=["one language", "two languages"])
def test_meaning_decides_for_a_sentence_at_the_edge(evidence: str) -> None:
    """The same words, a little nearer and a little farther in meaning."""
    said, across = share_said(SENTENCE, evidence), is_chinese(evidence)
    low, high = (0.74, 0.84) if across else (0.80, 0.95)
    needed = 0.5 if across else (0.5 - 0.8 * said) / 0.2  # of meaning
    assert 0.05 < needed < 0.95
    for aside, passes in ((CLOSE, True), (-CLOSE, False)):
        meaning = needed + aside / (1.0 if across else 0.2)
        cosine = low + meaning * (high - low)
        assert strength(said, said, cosine, across=across) == pytest.approx(0.5 + aside)
        assert supported(SENTENCE, [evidence], Alike(cosine)).ok is passes
