"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: is the best passage the right one, and its highlighted sentences?"""

from typing import Any

from django.core.management.base import CommandParser

from authz.principal import Principal
from evals.answers.passages import AnswerEvaluation, report_of
from evals.search.command import EvaluationCommand
from evals.search.corpus import LoadedCorpus
from evals.search.datasets import Dataset


class Command(EvaluationCommand):
    help = (
        "Load a corpus into a knowledge base of its own and measure the passages that its questions are answered with."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hide-relevant", action="store_true", help="ask without the documents that answer")

    def measure(
        self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]
    ) -> dict[str, Any]:
        evaluation = AnswerEvaluation(dataset, corpus, reader, options["languages"])
        return report_of(dataset, evaluation.ask_all(asking=self.asking, hide_relevant=options["hide_relevant"]))

    def print_report(self, report: dict[str, Any]) -> None:
        for key, value in report.items():
            self.stdout.write(f"{key:<18} {value}")
