"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: measure the passages that questions are answered with."""

from typing import Any

from django.core.management.base import CommandParser

from authz.principal import Principal
from evals.answers.passages import AnswerEvaluation
from evals.search.corpus import LoadedCorpus
from evals.search.corpus_command import CorpusCommand
from evals.search.datasets import Dataset


class Command(CorpusCommand):
    help = (
        "Load a corpus into a knowledge base of its own and measure the passages that its questions are answered with."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hide-relevant", action="store_true", help="ask without the documents that answer")

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        evaluation = AnswerEvaluation(dataset, corpus, reader, options["languages"], options["hide_relevant"])
        return evaluation.ask_all(self.asking)

    def print_report(self, report: dict[str, Any]) -> None:
        for key, value in report.items():
            self.stdout.write(f"{key:<18} {value}")
