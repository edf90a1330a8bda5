"""Scores of a passage: fused, raised by the rest of its document, and by words that stand together."""

import numpy as np
import pytest

from knowledge.retrieval.fusion import SPAN, compute_joint_coverage, compute_support, fuse_scores


def test_lexical_evidence_decides_between_equal_cosines() -> None:
    fused = fuse_scores(np.array([0.8, 0.8, 0.9], np.float32), np.array([0.0, 1.5, 0.0], np.float32), weight=0.2)
    assert np.argsort(-fused).tolist() == [1, 2, 0]


def test_a_stage_that_knows_nothing_has_no_vote() -> None:
    dense = np.array([0.3, 0.7, 0.5], np.float32)
    np.testing.assert_array_equal(fuse_scores(dense, np.zeros(3, np.float32), weight=0.2), dense)


def test_a_passage_gains_from_the_rest_of_its_document_and_nothing_from_itself() -> None:
    scores = np.array([0.7, 0.69, 0.6, 0.6, 0.2, 0.1, 0.1, 0.1], np.float32)
    documents = ["page", "alone", "page", "page", "stranger", "stranger", "other", "third"]
    gained = compute_support(documents, scores)
    assert gained == pytest.approx([0.125, 0, 0.1375, 0.1375, 0, 0.0125, 0, 0], abs=1e-6)
    assert (scores + gained)[0] > (scores + gained)[2], "the best passage of a document stays its best"
    assert len(compute_support([], np.zeros(0, np.float32))) == 0


SHARES = {1: 0.5, 2: 0.3, 3: 0.2}


def filler(count: int) -> list[int]:
    return list(range(100, 100 + count))


def test_what_stands_together_counts_in_full_and_what_is_scattered_by_its_best_place() -> None:
    assert compute_joint_coverage(SHARES, [], [1, *filler(3), 2, 3]) == pytest.approx(1.0)
    assert compute_joint_coverage(SHARES, [], [1, *filler(SPAN), 2, 3]) == pytest.approx(0.5)


def test_a_span_has_so_many_terms_and_no_more() -> None:
    assert compute_joint_coverage(SHARES, [], [1, *filler(SPAN - 2), 2]) == pytest.approx(0.8)
    assert compute_joint_coverage(SHARES, [], [1, *filler(SPAN - 1), 2]) == pytest.approx(0.5)


def test_a_repeated_term_counts_once_and_leaves_with_its_last_place() -> None:
    assert compute_joint_coverage(SHARES, [], [2, 2, 2]) == pytest.approx(0.3)
    assert compute_joint_coverage(SHARES, [], [2, *filler(SPAN - 2), 2, 3]) == pytest.approx(0.5)


def test_the_heading_is_granted_to_each_place() -> None:
    assert compute_joint_coverage(SHARES, [1], [*filler(50), 2]) == pytest.approx(0.8)
    assert compute_joint_coverage(SHARES, [1], []) == pytest.approx(0.5)


def test_nothing_asked_or_nothing_said_is_nothing() -> None:
    assert compute_joint_coverage({}, [1], [1, 2]) == 0
    assert compute_joint_coverage(SHARES, [], filler(5)) == 0
