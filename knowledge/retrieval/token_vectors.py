"""From the bundled embedder's token vectors to one vector of a text for the index.

The token vectors of e5 share one large direction. It says nothing about a text and a lot about its language, and the
model's own sentence vector is mostly made of it. Without it, the mean of what is left finds across languages what the
sentence vector misses, and is as good within one; see ADR 0004 for what was measured.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

CALIBRATION = Path(__file__).with_name("me5_small_tokens.npz")
POOLING = "tokens-1"  # names this way of making a vector; part of the vector space's name
# Sentence cosine ≈ 0.75 + 0.23 × pooled cosine: regression over the first ten passages of 2,034 questions of squad2_dev
# (0.70 + 0.27x, r 0.93) and cmrc2018 (0.79 + 0.19x, r 0.93).
SENTENCE_SCALE = (0.75, 0.23)


@dataclass(frozen=True)
class Calibration:
    """Fitted once, on 120,000 token vectors of Chinese and English Wikipedia paragraphs.

    mean: (384,), the shared direction. rotation: (384, 256), the main axes of what is left, orthonormal columns.
    step: (256,), the width of one of 16 levels along each axis.
    """

    mean: Floats
    rotation: Floats
    step: Floats


@cache
def load_calibration() -> Calibration:
    """Return the calibration that every stored vector was made with; 200 kB, read once."""
    with np.load(CALIBRATION) as arrays:
        return Calibration(*(arrays[name].astype(np.float32) for name in ("mean", "rotation", "step")))


def centre_tokens(tokens: Floats) -> Floats:
    """Return (tokens, 384) unit vectors without their shared direction, unit length again."""
    own: Floats = tokens - load_calibration().mean
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-9)
    return own


def pool_tokens(tokens: Floats, weights: Floats) -> Floats:
    """Return the vector of a text for the index, (384,): the weighted mean of its centred token vectors, unit length.

    weights: (tokens,), > 0. A text without tokens is the zero vector, which resembles nothing.
    """
    if not len(tokens):
        return np.zeros(len(load_calibration().mean), np.float32)
    total: Floats = weights @ centre_tokens(tokens)
    return total / max(float(np.linalg.norm(total)), 1e-9)
