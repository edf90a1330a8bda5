"""`manage.py evaluate_linking DIR`: measure schema linking on sets of questions with their databases."""

from typing import Any

from django.core.management.base import CommandParser

from business.linking.linker import WHOLE_COLUMNS
from evals.data.linking import evaluate_linking, report_of, stored_linker
from evals.data.questions import QuestionSetCommand, loaded, questions_by_database


class Command(QuestionSetCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--whole-columns",
            type=int,
            default=WHOLE_COLUMNS,
            help="a layer of no more columns is shown whole; 0: none is",
        )

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        details = list[dict[str, Any]]()
        for name, asked in questions_by_database(options):
            with loaded(name, options["folder"], options["databases"]) as (_address, found):
                layer = found
            with stored_linker(layer, whole_columns=options["whole_columns"]) as linker:
                linker.link("warm up")
                details += evaluate_linking(asked, layer, linker.link)
        return report_of(details)
