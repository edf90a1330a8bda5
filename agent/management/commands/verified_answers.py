"""Print the verified queries of a data source as cases for `evaluate_sql`."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agent.verified_answers.selectors import evaluation_cases
from business.sources.checks import source_named
from copilot_site.lib.commands import one_sentence


class Command(BaseCommand):
    help = "Print the verified queries of a data source as cases for evaluate_sql, JSON lines, the oldest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="name of the data source")

    def handle(self, *, source: str, **_options: Any) -> None:
        with one_sentence():
            for case in evaluation_cases(source_named(source)):
                self.stdout.write(json.dumps(case, ensure_ascii=False))
