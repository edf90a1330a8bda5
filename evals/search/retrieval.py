"""Asks every question of a dataset through the real search, and measures each stage of the ranking beside the others."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from authz.principal import Principal
from evals.search import bm25_peer as peer
from evals.search.corpus import LoadedCorpus
from evals.search.datasets import Dataset, Query
from evals.search.metrics import (
    average_precision_at_k,
    mean,
    mrr_at_k,
    ndcg_at_k,
    precision_at_k,
    ranked_documents,
    recall_at_k,
)
from knowledge.retrieval.plan import Scope
from knowledge.retrieval.ranking import Ranked, rank

Asking = Callable[[Sequence[Query]], Iterable[Query]]
Metrics = dict[str, float]

STAGES: dict[str, Callable[[Ranked], tuple[float, ...] | None]] = {
    "dense": lambda row: (row.scores.dense,) if row.scores.dense_rank else None,
    "lexical": lambda row: (row.scores.lexical,) if row.scores.lexical_rank else None,
    "fused": lambda row: (row.scores.fused,),
    "reranked": lambda row: (0.0 if row.scores.rerank is None else 1.0, row.scores.final),
}


class Languages(StrEnum):
    """In which language of the corpus a question is searched."""

    OWN = "own"  # the one it names, else its own
    OTHER = "other"  # the one that is not its own
    ALL = "all"


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
    """The report: `{dataset, split, queries, stages: {stage: {all, groups}}, latency_ms: {p50, p95}}`, metrics in 0 … 1.

    A document outside the language that is searched is not judged; a question that no document is judged for is left out.
    asking: wraps the list of questions, such as tqdm. with_peer: a stage "bm25s" after the lexical one, see `peer`.
    """
    spoken = {document.id: document.language or "" for document in dataset.corpus}
    judged, judgements = [], {}
    for query in dataset.queries:
        language = language_of(query, dataset, languages)
        grades = {
            name: grade for name, grade in dataset.qrels.get(query.id, {}).items() if language in {"", spoken[name]}
        }
        if grades:
            judged.append(query)
            judgements[query.id] = grades
    names = [
        name for stage in STAGES for name in ((stage, peer.NAME) if with_peer and stage == "lexical" else (stage,))
    ]
    values: dict[str, dict[str, list[Metrics]]] = {name: defaultdict(list) for name in names}
    beside = peer.LexicalPeer(corpus, reader) if with_peer else None
    latencies = []
    for query in asking(judged):
        began = time.perf_counter()
        ranked = _ranked(query, reader, scope_of(query, dataset, corpus, languages))
        latencies.append((time.perf_counter() - began) * 1000)
        for stage, key in STAGES.items():
            documents = _documents(ranked, key, corpus, query)
            values[stage][_group(query)].append(_measure(documents, judgements[query.id]))
        if beside is not None:
            found = beside.rank(query.text, language_of(query, dataset, languages))
            documents = ranked_documents(found, exclude=query.exclude_ids)
            values[peer.NAME][_group(query)].append(_measure(documents, judgements[query.id]))
    return {
        "dataset": dataset.name,
        "split": split,
        "queries": len(judged),
        "stages": {stage: _summary(groups) for stage, groups in values.items()},
        "latency_ms": {name: round(float(np.percentile(latencies, q)), 1) for name, q in (("p50", 50), ("p95", 95))},
    }


def _ranked(query: Query, reader: Principal, scope: Scope) -> list[Ranked]:
    """The ranking of a question; empty for a question without a word, which a set may hold and the search refuses."""
    return rank(reader, query.text, scope=scope).ranked if query.text.strip() else []


def scope_of(query: Query, dataset: Dataset, corpus: LoadedCorpus, languages: Languages) -> Scope:
    """The corpus, in the language that is searched."""
    return Scope(knowledge_base_ids=(corpus.base.pk,), language=language_of(query, dataset, languages))


def language_of(query: Query, dataset: Dataset, languages: Languages) -> str:
    """The language a question is searched in; "" for all, and where the corpus does not tell languages apart."""
    spoken = {document.language for document in dataset.corpus if document.language}
    own = query.target_language or query.language or ""
    if languages is Languages.ALL or own not in spoken:
        return ""
    others = sorted(spoken - {own})
    return others[0] if languages is Languages.OTHER and others else own


def _documents(
    ranked: Sequence[Ranked],
    key: Callable[[Ranked], tuple[float, ...] | None],
    corpus: LoadedCorpus,
    query: Query,
) -> list[str]:
    keyed = [(corpus.external_ids[row.document_id], score) for row in ranked if (score := key(row)) is not None]
    order = sorted(range(len(keyed)), key=lambda place: keyed[place][1], reverse=True)
    return ranked_documents(
        ((keyed[place][0], -float(rank)) for rank, place in enumerate(order)), exclude=query.exclude_ids
    )


def _measure(documents: list[str], judgements: dict[str, int]) -> Metrics:
    return {
        "recall_at_1": recall_at_k(documents, judgements, 1),
        "recall_at_5": recall_at_k(documents, judgements, 5),
        "recall_at_10": recall_at_k(documents, judgements, 10),
        "precision_at_5": precision_at_k(documents, judgements, 5),
        "precision_at_10": precision_at_k(documents, judgements, 10),
        "map_at_10": average_precision_at_k(documents, judgements, 10),
        "mrr_at_10": mrr_at_k(documents, judgements, 10),
        "ndcg_at_10": ndcg_at_k(documents, judgements, 10),
    }


def _group(query: Query) -> str:
    language = query.language or "-"
    return (
        f"{language}→{query.target_language}/{query.kind or '-'}"
        if query.target_language
        else f"{language}/{query.kind or '-'}"
    )


def _summary(groups: dict[str, list[Metrics]]) -> dict[str, Any]:
    everything = [metrics for group in groups.values() for metrics in group]
    return {
        "all": _means(everything),
        "groups": {name: {"n": len(group), **_means(group)} for name, group in sorted(groups.items())},
    }


def _means(rows: list[Metrics]) -> Metrics:
    return {name: round(mean([row[name] for row in rows]), 4) for name in rows[0]} if rows else {}
