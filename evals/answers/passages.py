"""Measures the best passages on questions with gold answers: is the right one first, and is the answer in a highlighted sentence?"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from agent.passages.best import best_passages
from agent.question_sets.judging import plain
from authz.principal import Principal
from evals.search.corpus import LoadedCorpus, hidden
from evals.search.datasets import Dataset, Query
from evals.search.metrics import mean
from evals.search.retrieval import Languages, scope_of
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
    """What became of one question.

    places: from 1, of the first passage shown that is of a relevant document, and of the first with a gold answer in it; 0 for none.
    highlighted: from 1, of the first passage shown whose highlighted sentences hold a gold answer; 0 for none. shown: passages.
    """

    id: str
    shown: int
    right: int = 0
    holds: int = 0
    highlighted: int = 0


@dataclass(frozen=True)
class AnswerEvaluation:
    """The questions of a set, and everything that answers them."""

    dataset: Dataset
    corpus: LoadedCorpus
    reader: Principal
    languages: Languages

    def ask_all(self, *, asking: Asking, hide_relevant: bool = False) -> list[Judged]:
        """Ask every question; with `hide_relevant` as one who may not read what answers it."""
        embedder = CachedEmbedder(engine().embedder, most=KEPT_SENTENCES)
        asked = [query for query in self.dataset.queries if query.text.strip() and query.answerable is not False]
        return [self._ask(query, embedder, is_hidden=hide_relevant) for query in asking(asked)]

    def _ask(self, query: Query, embedder: Embedder, *, is_hidden: bool) -> Judged:
        relevant = sorted(self.dataset.qrels.get(query.id, {}))
        with hidden(self.corpus, self.reader, relevant) if is_hidden else nullcontext():
            scope = scope_of(query, self.dataset, self.corpus, self.languages)
            found = search(self.reader, query.text, scope=scope, top_k=TOP_K)
            best = best_passages(query.text, found, embedder)
        gold = [plain(answer) for answer in query.answers]
        documents = [self.corpus.external_ids.get(each.hit.passage.document_id) for each in best]
        passages = [plain(each.hit.passage.text) for each in best]
        sentences = [plain(" ".join(one.text for one in each.sentences)) for each in best]
        return Judged(
            query.id,
            len(best),
            right=_first(document in relevant for document in documents),
            holds=_first(any(one in text for one in gold) for text in passages),
            highlighted=_first(any(one in text for one in gold) for text in sentences),
        )


def report_of(dataset: Dataset, judged: Sequence[Judged]) -> dict[str, Any]:
    """The report, shares in 0 … 1 of all questions asked; of those with gold answers for what a text holds."""
    has_gold = {query.id for query in dataset.queries if query.answers}
    told = [each for each in judged if each.id in has_gold]
    return {
        "dataset": dataset.name,
        "queries": len(judged),
        "nothing": _share(each.shown == 0 for each in judged),
        "document_first": _share(each.right == 1 for each in judged),
        "document_in_three": _share(0 < each.right <= SHOWN for each in judged),
        "passage_first": _share(each.holds == 1 for each in told),
        "passage_in_three": _share(0 < each.holds <= SHOWN for each in told),
        "highlighted_first": _share(each.highlighted == 1 for each in told),
        "highlighted": _share(each.highlighted > 0 for each in told),
    }


def _first(flags: Iterable[bool]) -> int:
    return next((place for place, flag in enumerate(flags, 1) if flag), 0)


def _share(flags: Iterable[bool]) -> float:
    return round(mean([float(flag) for flag in flags]), 4)
