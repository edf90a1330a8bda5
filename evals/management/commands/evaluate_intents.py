"""`manage.py evaluate_intents FILE [--json OUT]`: questions with the way each should go and the right answer; what was wrong is listed."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from business.jsonl import read_jsonl
from copilot_site.lib.commands import file_to_write, one_sentence, read_text
from evals.answers.intents import COUNTS, Intent, measured


class Command(BaseCommand):
    help = "Ask the questions of a file, each as its person, and count which way they went and what was answered."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one question a line, as JSON")
        parser.add_argument("--json", type=file_to_write, help="write the counts and every turn to this file")
        parser.add_argument(
            "--today", type=date.fromisoformat, default=date(2026, 11, 21), help="the day that gold statements name"
        )

    def handle(self, *, file: Path, json: Path | None, today: date, **options: Any) -> None:
        with one_sentence():
            rows = read_jsonl(read_text(file).splitlines(), keys=("id", "lang", "as", "ask", "way"), name=file.name)
            report = measured([Intent.model_validate(row) for row in rows], today=today).as_json()
        if json is not None:
            json.write_text(_dumped(report), encoding="utf-8")
        for name, counts in [*report["groups"].items(), ("all", report)]:
            told = "  ".join(f"{key} {counts[key]:>3}" for key in COUNTS)
            self.stdout.write(f"{name:<16} {told}")
        for one in report["details"]:
            if one["verdict"] == "wrong" or one["way"] != one["meant"]:
                self.stdout.write(
                    f"{one['id']}: {one['ask']} → {one['way']} ({one['meant']}), {one['verdict']}: {one['said']}"
                )


def _dumped(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, indent=1)
