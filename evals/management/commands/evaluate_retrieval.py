"""`manage.py evaluate_retrieval DIR [--split dev] --as USER`: measure how well the search finds, stage by stage.

Peer: bm25s on the same passages (`--peer`). Nothing of ours is in its tokens: words in lower case without their endings, Chinese in
characters and neighbouring pairs.
"""

import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import Stemmer
from django.core.management.base import CommandParser
from django.db.models import F

from authz.principal import Principal
from copilot_site.lib.progress import show_progress_bar
from evals.command import Detail, by_group
from evals.corpus import CorpusCommand, Dataset, Judgements, LoadedCorpus, Query
from evals.report import percentile
from knowledge.models import Chunk
from knowledge.retrieval.plan import Scope
from knowledge.retrieval.ranking import Ranked, rank_passages
from knowledge.selectors import SHOWN_WITH, build_shown_passage

PEER = "bm25s"
DEPTH = 100  # passages of the peer, as many as our own stage gives
_RUN = re.compile(r"(?P<han>[\u3400-\u9fff]+)|(?P<word>[^\W_\u3400-\u9fff]+)")
_STEMMER = Stemmer.Stemmer("english")
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


class Command(CorpusCommand):
    help = "Load a corpus into a knowledge base of its own and measure the search on its questions."
    packages = ("ir_measures", PEER)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--other-language",
            action="store_true",
            help="search in the language of the corpus that is not the question's",
        )
        parser.add_argument("--peer", action="store_true", help="rank the same passages with bm25s, too")

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        """Return `{dataset, split, queries, stages: {stage: {all, groups}}, latency_ms: {p50, p95}}`, metrics in 0 … 1.

        A document outside the language that is searched is not judged; a question that no document is judged for is left out.
        """
        languages = {query.id: dataset.language_of(query, other=options["other_language"]) for query in dataset.queries}
        qrels = _judgements(dataset, languages)
        queries = [query for query in dataset.queries if query.id in qrels]
        bm25 = LexicalPeer(corpus, reader) if options["peer"] else None
        names = [*STAGES]
        if bm25:
            names.insert(names.index("lexical") + 1, PEER)
        runs: dict[str, Runs] = {name: {} for name in names}
        latencies = []
        for query in show_progress_bar(queries, desc="ask", unit="question"):
            began = time.perf_counter()
            scope = Scope(knowledge_base_ids=(corpus.base.pk,), language=languages[query.id])
            # a set may hold a question without a word, which the search refuses
            ranked = rank_passages(reader, query.text, scope=scope).ranked if query.text.strip() else []
            latencies.append((time.perf_counter() - began) * 1000)
            for stage, key in STAGES.items():
                keyed = [(corpus.external_ids[row.document_id], key(row)) for row in ranked]
                part = [(document, score) for document, score in keyed if score is not None]
                runs[stage][query.id] = _scores(ranked_documents(part, exclude=query.exclude_ids))
            if bm25:
                found = bm25.rank(query.text, languages[query.id])
                runs[PEER][query.id] = _scores(ranked_documents(found, exclude=query.exclude_ids))
        return {
            "dataset": dataset.name,
            "split": options["split"],
            "queries": len(queries),
            "stages": {stage: _summary(queries, qrels, run) for stage, run in runs.items()},
            "latency_ms": {f"p{share}": round(percentile(latencies, share), 1) for share in (50, 95)},
        }

    def print_report(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"{report['dataset']} {report['split']}: {report['queries']} questions, %")
        self.stdout.write(f"{'':<34}{'n':>6}" + "".join(f"{name:>14}" for name in METRICS))
        for stage, summary in report["stages"].items():
            self._print_line(stage, {"n": report["queries"], **summary["all"]})
            for group, metrics in summary["groups"].items():
                self._print_line(f"  {group}", metrics)
        self.stdout.write("latency p50 {p50} ms, p95 {p95} ms".format(**report["latency_ms"]))

    def _print_line(self, label: str, metrics: dict[str, float]) -> None:
        shares = "".join(f"{100 * metrics[name]:>14.1f}" for name in METRICS)
        self.stdout.write(f"{label:<34}{metrics['n']:>6}{shares}")


def ranked_documents(chunks: Iterable[tuple[str, Any]], *, exclude: Collection[str] = ()) -> list[str]:
    """Rank documents by scored chunks, best first: a document counts once, by its best chunk.

    chunks: (document id, score) in any order; equal scores keep the order they came in.
    exclude: documents that the question was taken from.
    """
    best = sorted(chunks, key=lambda pair: pair[1], reverse=True)
    return [document for document in dict.fromkeys(document for document, _score in best) if document not in exclude]


def _judgements(dataset: Dataset, languages: Mapping[str, str]) -> Judgements:
    """Return the judgements of each question about documents of its language, without questions that have none."""
    spoken = {document.id: document.language or "" for document in dataset.corpus}
    judged = {
        query.id: {
            document: grade
            for document, grade in dataset.qrels.get(query.id, {}).items()
            if languages[query.id] in {"", spoken[document]}
        }
        for query in dataset.queries
    }
    return {query: grades for query, grades in judged.items() if grades}


def _scores(documents: Sequence[str]) -> dict[str, float]:
    """Turn a ranking into scores without ties, as trec_eval reads it."""
    return {document: -float(place) for place, document in enumerate(documents)}


def _summary(queries: Sequence[Query], qrels: Judgements, run: Runs) -> dict[str, Any]:
    """Average the metrics over all questions and over each group of them, by the definitions of trec_eval."""
    import ir_measures  # part of the development requirements

    names = {str(ir_measures.parse_measure(measure)): name for name, measure in METRICS.items()}
    values: dict[str, dict[str, Any]] = {query.id: {"group": _group(query)} for query in queries}
    for found in ir_measures.iter_calc(map(ir_measures.parse_measure, METRICS.values()), qrels, run):
        values[found.query_id][names[str(found.measure)]] = found.value
    rows = list(values.values())
    return {"all": _means(rows), "groups": by_group(rows, lambda group: {"n": len(group), **_means(group)})}


def _group(query: Query) -> str:
    """Name the group of a question: its language, the other one where it names one, and its kind."""
    language = query.language or "-"
    way = f"{language}→{query.target_language}" if query.target_language else language
    return f"{way}/{query.kind or '-'}"


def _means(rows: Sequence[Detail]) -> dict[str, float]:
    return {name: round(math.fsum(row[name] for row in rows) / len(rows), 4) for name in METRICS} if rows else {}


class LexicalPeer:
    """Indexes the passages of a corpus by bm25s, with its own constants (k1 1.5, b 0.75)."""

    def __init__(self, corpus: LoadedCorpus, reader: Principal) -> None:
        import bm25s  # part of the development requirements

        rows = Chunk.objects.visible_to(reader).filter(
            knowledge_base=corpus.base, version_id=F("document__current_version_id"), is_retired=False
        )
        passages = [build_shown_passage(row) for row in rows.select_related(*SHOWN_WITH)]
        self.documents = np.array([corpus.external_ids[passage.document_id] for passage in passages])
        self.languages = np.array([passage.language for passage in passages])
        self.index = bm25s.BM25()
        self.index.index([list(_tokens(passage.embedded_text)) for passage in passages], show_progress=False)

    def rank(self, question: str, language: str) -> list[tuple[str, float]]:
        """Return (document, score) of the best passages, best first. language: "" for all."""
        asked = [token for token in _tokens(question) if token in self.index.vocab_dict]
        if not asked:
            return []
        scores = self.index.get_scores(asked)
        if language:
            scores = np.where(self.languages == language, scores, 0.0)
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return [(str(self.documents[place]), float(scores[place])) for place in best if scores[place] > 0]


def _tokens(text: str) -> Iterator[str]:
    """Split a text into stems of words, and into the characters and neighbouring pairs of Chinese."""
    for run in _RUN.finditer(text.lower()):
        if han := run["han"]:
            yield from han
            yield from map("".join, pairwise(han))
        else:
            yield _STEMMER.stemWord(run["word"])
