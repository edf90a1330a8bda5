"""Judge what protects business data by a file of cases."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from business.execute import Protection
from copilot_site.lib.commands import file_to_write, one_sentence
from evals.data.guard_cases import arena, judge_all, read_case_file


class Command(BaseCommand):
    help = "Run cases {id, sql, expect} on a seed as a person of one org unit, and judge what each lets out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cases", type=Path, help="JSON lines: id, sql, expect (allow or deny)")
        parser.add_argument("--seed", type=Path, required=True, help="SQL file that fills an empty database")
        parser.add_argument("--unit", required=True, help="org unit of the person, as the rows name it")
        parser.add_argument("--protection", choices=[each.value for each in Protection], default=Protection.BOTH.value)
        parser.add_argument("--json", type=file_to_write, help="write the report to this file, too")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            cases = read_case_file(options["cases"])
            with arena(options["seed"], options["unit"]) as place:
                report = judge_all(cases, place, Protection(options["protection"])).as_json()
        text = json.dumps(report, ensure_ascii=False, indent=2)
        if options["json"]:
            options["json"].write_text(text + "\n")
        self.stdout.write(text)
