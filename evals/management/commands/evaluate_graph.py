"""`manage.py evaluate_graph FILE [--corpus DIR] --as USER`: measure questions over two documents, with the graph and without it."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from authz.principal import Principal
from evals.command import ReportCommand, read_rows
from evals.search.corpus import load_corpus
from evals.search.datasets import load_dataset
from evals.search.two_hops import TwoHopQuestion, evaluate_two_hops
from knowledge.graph.building import fill
from knowledge.retrieval.search import Scope


class Command(ReportCommand):
    help = "Count how often both documents that a question needs are among the first passages, with the graph and without it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one question a line, as JSON: id, query, documents, as")
        parser.add_argument("--corpus", type=Path, help="a folder with corpus.jsonl; default: what the person may read")
        parser.add_argument("--only", default="", help="load only the documents of the corpus whose id begins so")
        parser.add_argument("--as", dest="username", default="", help="who asks where the file names nobody")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        questions, scope, ids = read_rows(options["file"], TwoHopQuestion), Scope(), dict[UUID, str]()
        if options["corpus"]:
            scope, ids = _load_graph(options["corpus"], options["only"], Principal.named(options["username"]))
        return evaluate_two_hops(
            questions, options["username"], scope, lambda row: {ids.get(row.pk, row.filename), row.filename}
        )

    def print_report(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"{report['questions']} questions, first {report['top_k']} passages")
        for way in ("search", "graph"):
            both, each = 100 * report[way]["both"], 100 * report[way]["recall"]
            self.stdout.write(f"{way:<8} both {both:5.1f} %  each {each:5.1f} %  p50 {report[way]['ms_p50']:.0f} ms")
        self.stdout.write(f"the graph knew something in {report['graph']['answered_by_graph']}")


def _load_graph(folder: Path, only: str, reader: Principal) -> tuple[Scope, dict[UUID, str]]:
    """Load a corpus, and build its graph; return where to ask, and the ids of its documents in the set."""
    dataset = load_dataset(folder)
    kept = replace(dataset, corpus=tuple(row for row in dataset.corpus if row.id.startswith(only)))
    loaded = load_corpus(kept, reader, name=f"evaluation graph {dataset.name} {only}".strip())
    fill(loaded.base.pk)
    return Scope(knowledge_base_ids=(loaded.base.pk,)), loaded.external_ids
