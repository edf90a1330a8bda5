"""Ask every question of a dataset through the real search, and measure each stage of the ranking beside the others."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from authz.principal import Principal
from evals.search import bm25_peer as peer
from evals.search.corpus import Languages, LoadedCorpus, language_of, scope_of
from evals.search.datasets import Dataset, Judgements, Query
from knowledge.retrieval.ranking import Ranked, rank

Asking = Callable[[Sequence[Query]], Iterable[Query]]
Metrics = dict[str, float]
Runs = dict[str, dict[str, float]]  # of one stage: {query id: {document id: score}}

STAGES: dict[str, Callable[[Ranked], tuple[float, ...] | None]] = {
    "dense": lambda row: (row.scores.dense,) if row.scores.dense_rank else None,
    "lexical": lambda row: (row.scores.lexical,) if row.scores.lexical_rank else None,
    "fused": lambda row: (row.scores.fused,),
    "reranked": lambda row: (0.0 if row.scores.rerank is None else 1.0, row.scores.final),
}
METRICS = {
    "recall_at_1": "R@1",
    "recall_at_5": "R@5",
    "recall_at_10": "R@10",
    "precision_at_5": "P@5",
    "precision_at_10": "P@10",
    "map_at_10": "AP@10",
    "mrr_at_10": "RR@10",
    "ndcg_at_10": "nDCG@10",
}


def evaluate_retrieval(
    dataset: Dataset,
    corpus: LoadedCorpus,
    reader: Principal,
    *,
    languages: Languages,
    split: str,
    asking: Asking,
    with_peer: bool = False,
) -> dict[str, Any]:
    """Return `{dataset, split, queries, stages: {stage: {all, groups}}, latency_ms: {p50, p95}}`, metrics in 0 … 1.

    A document outside the language that is searched is not judged; a question that no document is judged for is left out.
    asking: wraps the list of questions, such as tqdm. with_peer: a stage "bm25s" after the lexical one, see `peer`.
    """
    qrels = _judgements(dataset, languages)
    queries = [query for query in dataset.queries if query.id in qrels]
    bm25 = peer.LexicalPeer(corpus, reader) if with_peer else None
    names = [*STAGES]
    if bm25:
        names.insert(names.index("lexical") + 1, peer.NAME)
    runs: dict[str, Runs] = {name: {} for name in names}
    latencies = []
    for query in asking(queries):
        began = time.perf_counter()
        scope = scope_of(query, dataset, corpus, languages)
        # a set may hold a question without a word, which the search refuses
        ranked = rank(reader, query.text, scope=scope).ranked if query.text.strip() else []
        latencies.append((time.perf_counter() - began) * 1000)
        for stage, key in STAGES.items():
            runs[stage][query.id] = _scores(_documents(ranked, key, corpus, query))
        if bm25:
            found = bm25.rank(query.text, language_of(query, dataset, languages))
            runs[peer.NAME][query.id] = _scores(ranked_documents(found, exclude=query.exclude_ids))
    return {
        "dataset": dataset.name,
        "split": split,
        "queries": len(queries),
        "stages": {stage: _summary(queries, qrels, run) for stage, run in runs.items()},
        "latency_ms": {name: round(float(np.percentile(latencies, q)), 1) for name, q in (("p50", 50), ("p95", 95))},
    }


def ranked_documents(chunks: Iterable[tuple[str, float]], *, exclude: Collection[str] = ()) -> list[str]:
    """Rank documents by scored chunks, best first: a document counts once, by its best chunk.

    chunks: (document id, score) in any order; equal scores keep the order they came in.
    exclude: documents that the question was taken from.
    """
    best: dict[str, float] = {}
    for document, score in chunks:
        if document not in exclude:
            best[document] = max(score, best.get(document, -math.inf))
    return sorted(best, key=best.__getitem__, reverse=True)


def _judgements(dataset: Dataset, languages: Languages) -> Judgements:
    """Return the judgements of each question about documents of the language that is searched, without questions that have none."""
    spoken = {document.id: document.language or "" for document in dataset.corpus}
    judgements: Judgements = {}
    for query in dataset.queries:
        language = language_of(query, dataset, languages)
        for document, grade in dataset.qrels.get(query.id, {}).items():
            if language in {"", spoken[document]}:
                judgements.setdefault(query.id, {})[document] = grade
    return judgements


def _documents(
    ranked: Sequence[Ranked], key: Callable[[Ranked], tuple[float, ...] | None], corpus: LoadedCorpus, query: Query
) -> list[str]:
    """Rank the documents of one stage; a row without a key is not part of it."""
    keyed = [(corpus.external_ids[row.document_id], score) for row in ranked if (score := key(row)) is not None]
    keyed.sort(key=lambda pair: pair[1], reverse=True)
    places = ((document, -float(place)) for place, (document, _score) in enumerate(keyed))
    return ranked_documents(places, exclude=query.exclude_ids)


def _scores(documents: Sequence[str]) -> dict[str, float]:
    """Turn a ranking into scores without ties, as trec_eval reads it."""
    return {document: -float(place) for place, document in enumerate(documents)}


def _summary(queries: Sequence[Query], qrels: Judgements, run: Runs) -> dict[str, Any]:
    """Average the metrics over all questions and over each group of them, by the definitions of trec_eval."""
    import ir_measures  # part of the development requirements

    names = {str(ir_measures.parse_measure(measure)): name for name, measure in METRICS.items()}
    values: dict[str, Metrics] = {query.id: {} for query in queries}
    for found in ir_measures.iter_calc(map(ir_measures.parse_measure, METRICS.values()), qrels, run):
        values[found.query_id][names[str(found.measure)]] = found.value
    grouped = groupby(sorted(queries, key=_group), key=_group)
    groups = {name: [values[query.id] for query in group] for name, group in grouped}
    return {
        "all": _means(list(values.values())),
        "groups": {name: {"n": len(group), **_means(group)} for name, group in groups.items()},
    }


def _group(query: Query) -> str:
    """Name the group of a question: its language, the other one where it names one, and its kind."""
    language = query.language or "-"
    way = f"{language}→{query.target_language}" if query.target_language else language
    return f"{way}/{query.kind or '-'}"


def _means(rows: Sequence[Metrics]) -> Metrics:
    return {name: round(math.fsum(row[name] for row in rows) / len(rows), 4) for name in METRICS} if rows else {}
