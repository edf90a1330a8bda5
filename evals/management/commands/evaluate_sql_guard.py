"""`manage.py evaluate_sql_guard CASES --seed SEED --unit UNIT`: judge what protects business data by a file of cases."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from business.execute import Protection
from evals.command import ReportCommand
from evals.guard_cases import arena, judge_all, read_case_file


class Command(ReportCommand):
    help = "Run cases {id, sql, expect} on a seed as a person of one org unit, and judge what each lets out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cases", type=Path, help="JSON lines: id, sql, expect (allow or deny)")
        parser.add_argument("--seed", type=Path, required=True, help="SQL file that fills an empty database")
        parser.add_argument("--unit", required=True, help="org unit of the person, as the rows name it")
        parser.add_argument("--protection", choices=[item.value for item in Protection], default=Protection.BOTH.value)
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        cases = read_case_file(options["cases"])
        with arena(options["seed"], options["unit"]) as place:
            return asdict(judge_all(cases, place, Protection(options["protection"])))
