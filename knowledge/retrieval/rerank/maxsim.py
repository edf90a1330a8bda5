"""MaxSim late interaction over stored token vectors of the bundled embedder: exact enough in 128 bytes a token.

256 rotated dimensions of 4 bits rank like 384 of 32, once the direction that all token vectors share is gone (see
`token_vectors`). ADR 0004 has what was measured.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.retrieval.rerank.base import Finalist, RerankQuery
from knowledge.retrieval.token_vectors import Floats, centre_tokens, load_calibration

TOKEN_BYTES = 128  # two of the 256 dimensions in each byte
MIDDLE = np.float32(7.5)  # of the 16 levels
BLOCK = 8  # tokens; a window is two neighbouring blocks, about a clause
MAX_TOKENS = 64  # of a question; the heaviest are kept, which bounds the time
LEXICAL_SHARE = np.float32(0.05)  # of the lexical score beside the cover; ADR 0004


def pack_tokens(tokens: Floats) -> bytes:
    """Pack (tokens, 384) unit vectors into 128 bytes each: dimension d in the low half of byte d, d + 128 in the high."""
    if not len(tokens):
        return b""
    levels = centre_tokens(tokens) @ load_calibration().rotation
    levels /= load_calibration().step
    levels += 8
    nibbles = np.clip(levels, 0, 15, out=levels).astype(np.uint8)  # cuts off what is behind the point
    return bytes((nibbles[:, :TOKEN_BYTES] | nibbles[:, TOKEN_BYTES:] << 4).tobytes())


def compute_maxsim(question: RerankQuery, packed: Sequence[bytes]) -> Floats:
    """Return how well each passage covers the question's tokens: (passages,), in -1 … 1, higher is better.

    A token is covered as well as its best cosine in the passage says; the mean over the tokens is by weight, and by how
    far the passages differ in it. Half of the score is the whole passage's, half its best window's, which rewards what
    stands together. -1 for a passage without vectors and for a question without tokens.
    Source: Khattab and Zaharia, ColBERT, SIGIR 2020; packing, windows and spread are ours.
    """
    scores = np.full(len(packed), -1.0, np.float32)
    filled = [index for index, one in enumerate(packed) if one]
    if question.tokens is None or not len(question.tokens) or not filled:
        return scores
    tokens, weights = _select_heaviest_tokens(question)
    similar = _compute_similarities(tokens, b"".join(packed[index] for index in filled))
    lengths = np.array([len(packed[index]) // TOKEN_BYTES for index in filled])
    scores[filled] = _compute_mean_coverage(similar, lengths, weights)
    return scores


def _compute_similarities(tokens: Floats, packed: bytes) -> Floats:
    """Return the cosines of every packed token with every token of the question: (packed tokens, tokens)."""
    asked = (
        centre_tokens(tokens) @ load_calibration().rotation * load_calibration().step
    ).T  # steps here: levels stay small integers
    levels = np.frombuffer(packed, np.uint8).reshape(-1, TOKEN_BYTES)
    similar = (levels & 0x0F).astype(np.float32) @ asked[:TOKEN_BYTES]
    similar += (levels >> 4).astype(np.float32) @ asked[TOKEN_BYTES:]
    similar -= MIDDLE * asked.sum(axis=0)
    return similar


def _compute_mean_coverage(similar: Floats, lengths: NDArray[np.int_], weights: Floats) -> Floats:
    """Return the mean of the whole passage's cover and its best window's: (passages,).

    similar: (tokens of all passages, tokens of the question). lengths: (passages,), all > 0. weights: of the question's tokens.
    """
    covers, windows, passage = _compute_token_coverage(similar, lengths)
    weights = _weigh_by_spread(covers, weights)
    # not `@`: beside short rows BLAS reads what is no part of them, and NumPy then warns of invalid values
    whole = (covers * weights).sum(axis=1)
    densest = np.maximum.reduceat((windows * weights).sum(axis=1), np.flatnonzero(np.diff(passage, prepend=-1)))
    covered: Floats = ((whole + densest) / 2).astype(np.float32)
    return covered


def _compute_token_coverage(similar: Floats, lengths: NDArray[np.int_]) -> tuple[Floats, Floats, NDArray[np.int_]]:
    """Return how each passage, (passages, tokens), and window, (windows, tokens), covers the tokens, and each window's passage."""
    blocks = -(-lengths // BLOCK)
    first = np.cumsum(blocks) - blocks  # of each passage, among all blocks
    passage = np.repeat(np.arange(len(lengths)), blocks)
    starts = (np.cumsum(lengths) - lengths)[passage] + (np.arange(len(passage)) - first[passage]) * BLOCK
    best = np.maximum.reduceat(similar, starts, axis=0)
    windows = best.copy()
    together = passage[1:] == passage[:-1]
    windows[:-1][together] = np.maximum(best[:-1][together], best[1:][together])
    return np.maximum.reduceat(best, first, axis=0), windows, passage


def _weigh_by_spread(covers: Floats, weights: Floats) -> Floats:
    """Return the weights times the root of each token's spread over the passages, sum 1: tokens that all cover alike, such as the
    name of the product that a whole manual is about, tells none from another.

    covers: (passages, tokens). With one passage, or alike ones, the weights alone.
    """
    spread = weights * np.sqrt(covers.std(axis=0))
    chosen = spread if spread.sum() > 0 else weights
    telling: Floats = chosen / chosen.sum()
    return telling


def _select_heaviest_tokens(question: RerankQuery) -> tuple[Floats, Floats]:
    assert question.tokens is not None
    weights = np.ones(len(question.tokens), np.float32) if question.weights is None else question.weights
    if not weights.any():
        weights = np.ones_like(weights)
    kept = np.argsort(-weights, kind="stable")[:MAX_TOKENS]
    return question.tokens[kept], weights[kept]


class MaxSimReranker:
    """Late interaction over the token vectors that were kept at ingestion; needs no model but the embedder's own."""

    depth = 50
    needs_text = False
    needs_tokens = True

    def rerank(self, question: RerankQuery, candidates: Sequence[Finalist]) -> Floats:
        lexical = np.array([candidate.lexical for candidate in candidates], np.float32)
        return compute_maxsim(question, [candidate.tokens for candidate in candidates]) + LEXICAL_SHARE * lexical
