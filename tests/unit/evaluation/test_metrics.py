import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG

from evals.search.metrics import (
    average_precision_at_k,
    mean,
    mrr_at_k,
    ndcg_at_k,
    precision_at_k,
    ranked_documents,
    recall_at_k,
)

DOCUMENTS = [f"d{number}" for number in range(15)]


@given(
    ranking=st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1),
    judgements=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1).filter(
        lambda grades: any(grades.values())
    ),
)
def test_metrics_equal_those_of_trec_eval(ranking: list[str], judgements: dict[str, int]) -> None:
    run = [ir_measures.ScoredDoc("q", document, -float(rank)) for rank, document in enumerate(ranking)]
    qrels = [ir_measures.Qrel("q", document, grade) for document, grade in judgements.items()]
    expected = ir_measures.calc_aggregate([nDCG @ 10, RR @ 10, R @ 5, R @ 10, P @ 5, P @ 10, AP @ 10], qrels, run)
    assert ndcg_at_k(ranking, judgements) == pytest.approx(expected[nDCG @ 10])
    assert mrr_at_k(ranking, judgements) == pytest.approx(expected[RR @ 10])
    assert recall_at_k(ranking, judgements, 5) == pytest.approx(expected[R @ 5])
    assert recall_at_k(ranking, judgements, 10) == pytest.approx(expected[R @ 10])
    assert precision_at_k(ranking, judgements, 5) == pytest.approx(expected[P @ 5])
    assert precision_at_k(ranking, judgements, 10) == pytest.approx(expected[P @ 10])
    assert average_precision_at_k(ranking, judgements) == pytest.approx(expected[AP @ 10])


def test_graded_judgements_prefer_the_better_document_first() -> None:
    grades = {"good": 2, "fair": 1}
    assert ndcg_at_k(["good", "fair"], grades) == 1.0
    assert ndcg_at_k(["fair", "good"], grades) < 1.0


def test_document_counts_once_by_its_best_chunk_and_excluded_ones_never() -> None:
    chunks = [("a", 0.2), ("b", 0.5), ("a", 0.9), ("source", 1.0), ("c", 0.5)]
    assert ranked_documents(chunks, exclude={"source"}) == ["a", "b", "c"]
    assert ranked_documents(chunks) == ["source", "a", "b", "c"]


def test_query_without_relevant_document_scores_zero() -> None:
    assert precision_at_k(["a"], {}, 10) == average_precision_at_k(["a"], {}) == 0.0
    assert recall_at_k(["a"], {}, 10) == mrr_at_k(["a"], {}) == ndcg_at_k(["a"], {"a": 0}) == mean([]) == 0.0
