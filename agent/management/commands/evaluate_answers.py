"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: how true and how honest the answers are."""

from typing import Any

from django.core.management.base import CommandParser

from agent.evaluation import evaluate_answers
from authz.principal import Principal
from knowledge.evaluation.command import EvaluationCommand
from knowledge.evaluation.corpus import LoadedCorpus
from knowledge.evaluation.datasets import Dataset


class Command(EvaluationCommand):
    help = "Load a corpus into a knowledge base of its own and measure the answers to its questions."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hide-relevant", action="store_true", help="ask again without the documents that answer")

    def measure(
        self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]
    ) -> dict[str, Any]:
        return evaluate_answers(
            dataset,
            corpus,
            reader,
            hide_relevant=options["hide_relevant"],
            languages=options["languages"],
            asking=self.asking,
        )

    def print_report(self, report: dict[str, Any]) -> None:
        for key, value in report.items():
            if not isinstance(value, list):
                self.stdout.write(f"{key:<18} {value}")
        for key in ("curve", "curve_hidden"):
            if key in report:
                self.stdout.write(f"{key}: refused → abstained")
                self.stdout.write("  ".join(f"{p['refused']:.0%}→{p['abstained']:.0%}" for p in report[key]))
