"""Rank documents by the passages that a search finds."""

from evals.search.retrieval import ranked_documents


def test_document_counts_once_by_its_best_chunk_and_excluded_ones_never() -> None:
    chunks = [("a", 0.2), ("b", 0.5), ("a", 0.9), ("source", 1.0), ("c", 0.5)]
    assert ranked_documents(chunks, exclude={"source"}) == ["a", "b", "c"]
    assert ranked_documents(chunks) == ["source", "a", "b", "c"]
