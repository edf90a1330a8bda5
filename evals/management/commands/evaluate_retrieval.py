"""`manage.py evaluate_retrieval DIR [--split dev] --as USER`: how well the search finds, stage by stage."""

from typing import Any

from django.core.management.base import CommandParser

from authz.principal import Principal
from evals.search.bm25_peer import require_peer
from evals.search.command import EvaluationCommand
from evals.search.corpus import LoadedCorpus
from evals.search.datasets import Dataset
from evals.search.retrieval import Languages, evaluate_retrieval


class Command(EvaluationCommand):
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
        parser.add_argument(
            "--peer", action="store_true", help="rank the same passages with bm25s, too, beside the lexical stage"
        )

    def prepare(self, options: dict[str, Any]) -> None:
        if options["peer"]:
            require_peer()

    def measure(
        self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]
    ) -> dict[str, Any]:
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
        names = list(report["stages"]["fused"]["all"])
        self.stdout.write(f"{report['dataset']} {report['split']}: {report['queries']} questions, %")
        self.stdout.write(f"{'':<34}{'n':>6}" + "".join(f"{name:>14}" for name in names))
        for stage, summary in report["stages"].items():
            self._line(stage, {"n": report["queries"], **summary["all"]}, names)
            for group, metrics in summary["groups"].items():
                self._line(f"  {group}", metrics, names)
        self.stdout.write("latency p50 {p50} ms, p95 {p95} ms".format(**report["latency_ms"]))

    def _line(self, label: str, metrics: dict[str, float], names: list[str]) -> None:
        self.stdout.write(f"{label:<34}{metrics['n']:>6}" + "".join(f"{100 * metrics[name]:>14.1f}" for name in names))
