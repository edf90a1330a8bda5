"""Measure the best passages on questions with gold answers: is the right one first, and is the answer in a highlighted sentence?"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from agent.passages.best import best_passages
from agent.question_sets.runner import plain
from authz.principal import Principal
from evals.search.corpus import Languages, LoadedCorpus, hidden, scope_of
from evals.search.datasets import Dataset, Query
from knowledge.embedding.base import Embedder
from knowledge.embedding.cached import CachedEmbedder
from knowledge.retrieval.engine import engine
from knowledge.retrieval.search import search

TOP_K = 8
SHOWN = 3  # passages that a person looks at first
KEPT_SENTENCES = 200_000  # 0.3 GB: the questions of a set are read in the same sentences again and again
Asking = Callable[[Sequence[Query]], Iterable[Query]]


@dataclass(frozen=True)
class Judged:
    """The result of one question. shown: passages.

    Places from 1, 0 for none. document: the first passage shown that is of a relevant document. passage: the first with a gold answer
    in it. highlighted: the first whose highlighted sentences hold a gold answer.
    """

    has_gold: bool
    shown: int
    document: int
    passage: int
    highlighted: int


@dataclass(frozen=True)
class AnswerEvaluation:
    """The questions of a set, and everything that answers them. hides_relevant: the reader may not read what answers."""

    dataset: Dataset
    corpus: LoadedCorpus
    reader: Principal
    languages: Languages
    hides_relevant: bool = False

    def ask_all(self, asking: Asking) -> dict[str, Any]:
        """Ask every question, and return the shares of them; those of answers are of the questions that have gold answers."""
        embedder = CachedEmbedder(engine().embedder, most=KEPT_SENTENCES)
        asked = [query for query in self.dataset.queries if query.text.strip() and query.answerable is not False]
        judged = [self._ask(query, embedder) for query in asking(asked)]
        with_gold = [item for item in judged if item.has_gold]
        return {
            "dataset": self.dataset.name,
            "queries": len(judged),
            "nothing": _share(item.shown == 0 for item in judged),
            "document_first": _share(item.document == 1 for item in judged),
            "document_in_three": _share(0 < item.document <= SHOWN for item in judged),
            "passage_first": _share(item.passage == 1 for item in with_gold),
            "passage_in_three": _share(0 < item.passage <= SHOWN for item in with_gold),
            "highlighted_first": _share(item.highlighted == 1 for item in with_gold),
            "highlighted": _share(item.highlighted > 0 for item in with_gold),
        }

    def _ask(self, query: Query, embedder: Embedder) -> Judged:
        relevant = sorted(self.dataset.qrels.get(query.id, {}))
        with hidden(self.corpus, self.reader, relevant) if self.hides_relevant else nullcontext():
            scope = scope_of(query, self.dataset, self.corpus, self.languages)
            found = search(self.reader, query.text, scope=scope, top_k=TOP_K)
            best = best_passages(query.text, found, embedder)
        gold = [plain(answer) for answer in query.answers]
        documents = [self.corpus.external_ids.get(item.hit.passage.document_id) for item in best]
        passages = [plain(item.hit.passage.text) for item in best]
        sentences = [plain(" ".join(one.text for one in item.sentences)) for item in best]
        return Judged(
            has_gold=bool(gold),
            shown=len(best),
            document=_first(document in relevant for document in documents),
            passage=_first(any(one in text for one in gold) for text in passages),
            highlighted=_first(any(one in text for one in gold) for text in sentences),
        )


def _first(flags: Iterable[bool]) -> int:
    """Return the place of the first true one, from 1; 0 for none."""
    return next((place for place, flag in enumerate(flags, 1) if flag), 0)


def _share(flags: Iterable[bool]) -> float:
    known = list(flags)
    return round(sum(known) / len(known), 4) if known else 0.0
