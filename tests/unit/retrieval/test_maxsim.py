import numpy as np
import pytest
from numpy.typing import NDArray

from knowledge.retrieval.rerank.base import Finalist, RerankQuery
from knowledge.retrieval.rerank.maxsim import MIDDLE, TOKEN_BYTES, MaxSimReranker, compute_maxsim, pack_tokens
from knowledge.retrieval.token_vectors import centre_tokens, load_calibration, pool_tokens

Floats = NDArray[np.float32]


def token_vectors(count: int, seed: int) -> Floats:
    """Vectors spread as those of the embedder: the shared direction and something of one's own."""
    own = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    own = own / np.linalg.norm(own, axis=1, keepdims=True) * 0.6 + load_calibration().mean
    vectors: Floats = (own / np.linalg.norm(own, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def unpack(packed: bytes) -> Floats:
    """(tokens, 256): the rotated vectors as they were kept, each value the middle of its level."""
    levels = np.frombuffer(packed, np.uint8).reshape(-1, TOKEN_BYTES)
    values = np.concatenate([levels & 0x0F, levels >> 4], axis=1).astype(np.float32)
    return (values - MIDDLE) * load_calibration().step


def test_packed_token_takes_128_bytes_and_keeps_its_direction() -> None:
    tokens = token_vectors(50, seed=1)
    packed = pack_tokens(tokens)
    assert len(packed) == 50 * TOKEN_BYTES
    kept, before = unpack(packed), centre_tokens(tokens) @ load_calibration().rotation
    cosines = (kept * before).sum(axis=1) / np.linalg.norm(kept, axis=1) / np.linalg.norm(before, axis=1)
    assert cosines.min() > 0.9


def test_passage_that_holds_the_asked_tokens_wins_whatever_its_length() -> None:
    asked = token_vectors(6, seed=2)
    long = np.concatenate([token_vectors(200, seed=3), asked, token_vectors(60, seed=4)])
    scores = compute_maxsim(
        RerankQuery("", asked),
        [pack_tokens(token_vectors(300, seed=5)), pack_tokens(long), pack_tokens(token_vectors(9, seed=6))],
    )
    assert scores.argmax() == 1


def test_score_equals_that_of_unpacked_vectors_for_a_passage_of_one_window() -> None:
    asked, passage = token_vectors(5, seed=7), token_vectors(16, seed=8)
    weights = np.array([1, 2, 3, 4, 5], np.float32)
    best = (centre_tokens(asked) @ load_calibration().rotation @ unpack(pack_tokens(passage)).T).max(axis=1)
    expected = float(best @ weights / weights.sum())
    assert compute_maxsim(RerankQuery("", asked, weights), [pack_tokens(passage)])[0] == pytest.approx(
        expected, abs=1e-5
    )


def test_tokens_that_stand_together_beat_scattered_ones() -> None:
    asked, filler = token_vectors(4, seed=9), token_vectors(240, seed=10)
    scattered, together = filler.copy(), filler.copy()
    scattered[[10, 80, 150, 220]] = asked
    together[100:104] = asked
    scores = compute_maxsim(RerankQuery("", asked), [pack_tokens(scattered), pack_tokens(together)])
    assert scores[1] > scores[0]


def test_what_all_passages_cover_alike_does_not_decide() -> None:
    asked = token_vectors(3, seed=11)
    fillers = [token_vectors(40, seed=seed) for seed in (20, 21, 22)]
    weights = np.array([9, 1, 1], np.float32)  # the first is the name of what all of them are about
    passages = [np.concatenate([asked[:1], filler]) for filler in fillers]
    passages[2] = np.concatenate([asked, fillers[2][:20]])
    of_all = compute_maxsim(RerankQuery("", asked, weights), [pack_tokens(passage) for passage in passages])
    alone = compute_maxsim(RerankQuery("", asked, weights), [pack_tokens(passages[0])])
    assert of_all.argmax() == 2
    assert of_all[0] < alone[0] - 0.1, "the common name, covered fully, counts little among passages that all cover it"


def test_heavy_token_of_the_question_decides() -> None:
    asked = token_vectors(2, seed=12)
    passages = [pack_tokens(asked[:1]), pack_tokens(asked[1:])]
    assert compute_maxsim(RerankQuery("", asked, np.array([1, 9], np.float32)), passages).argmax() == 1
    assert compute_maxsim(RerankQuery("", asked, np.array([9, 1], np.float32)), passages).argmax() == 0


def test_nothing_to_compare_scores_lowest() -> None:
    passage = pack_tokens(token_vectors(3, seed=13))
    assert pack_tokens(np.zeros((0, 384), np.float32)) == b""
    assert compute_maxsim(RerankQuery("", None), [passage]).tolist() == [-1]
    assert compute_maxsim(RerankQuery("", token_vectors(2, seed=14)), [b"", passage])[0] == -1
    assert compute_maxsim(RerankQuery("", token_vectors(2, seed=14)), []).shape == (0,)


def test_reranker_lets_words_decide_between_equals() -> None:
    passage = pack_tokens(token_vectors(30, seed=15))
    candidates = [Finalist(0.0, tokens=passage), Finalist(1.0, tokens=passage)]
    scores = MaxSimReranker().rerank(RerankQuery("", token_vectors(4, seed=16)), candidates)
    assert scores[1] > scores[0]


def test_pooled_vector_is_of_unit_length_and_leans_to_heavy_tokens() -> None:
    tokens = token_vectors(2, seed=17)
    vector = pool_tokens(tokens, np.array([9, 1], np.float32))
    near = centre_tokens(tokens) @ vector
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert near[0] > near[1]
    assert not pool_tokens(tokens[:0], np.zeros(0, np.float32)).any()
