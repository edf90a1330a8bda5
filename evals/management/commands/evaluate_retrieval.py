"""`manage.py evaluate_retrieval DIR [--split dev] --as USER`: measure how well the search finds, stage by stage."""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from authz.principal import Principal
from evals.search.corpus import Languages, LoadedCorpus
from evals.search.corpus_command import CorpusCommand
from evals.search.datasets import Dataset
from evals.search.retrieval import METRICS, evaluate_retrieval


class Command(CorpusCommand):
    help = "Load a corpus into a knowledge base of its own and measure the search on its questions."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--other-language",
            dest="languages",
            action="store_const",
            const=Languages.OTHER,
            help="search in the language of the corpus that is not the question's",
        )
        parser.add_argument("--peer", action="store_true", help="rank the same passages with bm25s, too")

    def required_packages(self, options: dict[str, Any]) -> Iterable[str]:
        return ("ir_measures", "bm25s") if options["peer"] else ("ir_measures",)

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        return evaluate_retrieval(
            dataset,
            corpus,
            reader,
            languages=options["languages"],
            split=options["split"],
            asking=self.asking,
            with_peer=options["peer"],
        )

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
