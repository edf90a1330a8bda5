import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.fusion import fuse, reciprocal_rank_fusion, supported


def test_lexical_evidence_decides_between_equal_cosines() -> None:
    fused = fuse(np.array([0.8, 0.8, 0.9], np.float32), np.array([0.0, 1.5, 0.0], np.float32), weight=0.2)
    assert np.argsort(-fused).tolist() == [1, 2, 0]


def test_a_stage_that_knows_nothing_has_no_vote() -> None:
    dense = np.array([0.3, 0.7, 0.5], np.float32)
    np.testing.assert_array_equal(fuse(dense, np.zeros(3, np.float32), weight=0.2), dense)


def test_reciprocal_ranks_follow_the_source() -> None:
    assert reciprocal_rank_fusion([[1, 2], [2, 3]]) == [(2, 1 / 62 + 1 / 61), (1, 1 / 61), (3, 1 / 62)]
    assert reciprocal_rank_fusion([]) == []


@given(st.lists(st.integers(0, 30), unique=True))
def test_reciprocal_rank_fusion_of_one_ranking_keeps_its_order(ranking: list[int]) -> None:
    assert [item for item, _ in reciprocal_rank_fusion([ranking])] == ranking


def test_a_passage_gains_from_the_rest_of_its_document_and_nothing_from_itself() -> None:
    scores = np.array([0.7, 0.69, 0.6, 0.6, 0.2, 0.1, 0.1, 0.1], np.float32)
    documents = ["page", "alone", "page", "page", "stranger", "stranger", "other", "third"]
    gained = supported(documents, scores)
    assert gained == pytest.approx([0.125, 0, 0.1375, 0.1375, 0, 0.0125, 0, 0], abs=1e-6)
    assert (scores + gained)[0] > (scores + gained)[2], "the best passage of a document stays its best"
    assert len(supported([], np.zeros(0, np.float32))) == 0
