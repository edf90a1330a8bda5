"""Print the verified queries of a data source as cases for `evaluate_sql`."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agent.verified_answers.selectors import iterate_evaluation_cases
from business.sources.checks import find_source
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Print the verified queries of a data source as cases for evaluate_sql, JSON lines, the oldest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="name of the data source")

    def handle(self, *, source: str, **_options: Any) -> None:
        with report_command_errors():
            for case in iterate_evaluation_cases(find_source(source)):
                self.stdout.write(json.dumps(case, ensure_ascii=False))
