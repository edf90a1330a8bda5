"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: measure the passages that questions are answered with.

Is the right one first, and is the answer in a highlighted sentence?
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from agent.passages.best import Best, select_best_passages
from agent.question_sets.runner import normalise_for_comparison
from authz.principal import Principal
from copilot_site.lib.progress import show_progress_bar
from evals.corpus import CorpusCommand, Dataset, LoadedCorpus, Query, hidden
from knowledge.embedding.cached import CachedEmbedder
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.plan import Scope
from knowledge.retrieval.search import search

TOP_K = 8
SHOWN = 3  # passages that a person looks at first
KEPT_SENTENCES = 200_000  # 0.3 GB: the questions of a set are read in the same sentences again and again
# The places of one question, from 1, 0 for none. document: the first passage shown that is of a relevant document. passage: the first
# with a gold answer in it. highlighted: the first whose highlighted sentences hold one. shown: how many passages.
Places = Mapping[str, int]


class Command(CorpusCommand):
    help = (
        "Load a corpus into a knowledge base of its own and measure the passages that its questions are answered with."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hide-relevant", action="store_true", help="ask without the documents that answer")

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        """Ask every question, and return the shares of them; those of answers are of the questions that have gold answers."""
        embedder = CachedEmbedder(load_engine().embedder, most=KEPT_SENTENCES)
        asked = [query for query in dataset.queries if query.text.strip() and query.answerable is not False]
        judged, with_gold = list[Places](), list[Places]()
        for query in show_progress_bar(asked, desc="ask", unit="question"):
            relevant = sorted(dataset.qrels.get(query.id, {}))
            scope = Scope(knowledge_base_ids=(corpus.base.pk,), language=dataset.language_of(query))
            with hidden(corpus, reader, relevant) if options["hide_relevant"] else nullcontext():
                found = search(reader, query.text, scope=scope, top_k=TOP_K)
                best = select_best_passages(query.text, found, embedder)
            places = _places(query, relevant, best, corpus.external_ids)
            judged.append(places)
            with_gold += [places] if query.answers else []
        return {
            "dataset": dataset.name,
            "queries": len(judged),
            "nothing": _share(item["shown"] == 0 for item in judged),
            "document_first": _share(item["document"] == 1 for item in judged),
            "document_in_three": _share(0 < item["document"] <= SHOWN for item in judged),
            "passage_first": _share(item["passage"] == 1 for item in with_gold),
            "passage_in_three": _share(0 < item["passage"] <= SHOWN for item in with_gold),
            "highlighted_first": _share(item["highlighted"] == 1 for item in with_gold),
            "highlighted": _share(item["highlighted"] > 0 for item in with_gold),
        }

    def print_report(self, report: dict[str, Any]) -> None:
        for key, value in report.items():
            self.stdout.write(f"{key:<18} {value}")


def _places(query: Query, relevant: Collection[str], best: Sequence[Best], names: Mapping[UUID, str]) -> Places:
    """Return the places of one question. names: in the set, of each document."""
    gold = [normalise_for_comparison(answer) for answer in query.answers]
    documents = [names.get(item.hit.passage.document_id) for item in best]
    passages = [normalise_for_comparison(item.hit.passage.text) for item in best]
    sentences = [normalise_for_comparison(" ".join(one.text for one in item.sentences)) for item in best]
    return {
        "shown": len(best),
        "document": _first(document in relevant for document in documents),
        "passage": _first(any(one in text for one in gold) for text in passages),
        "highlighted": _first(any(one in text for one in gold) for text in sentences),
    }


def _first(flags: Iterable[bool]) -> int:
    """Return the place of the first true one, from 1; 0 for none."""
    return next((place for place, flag in enumerate(flags, 1) if flag), 0)


def _share(flags: Iterable[bool]) -> float:
    known = list(flags)
    return round(sum(known) / len(known), 4) if known else 0.0
