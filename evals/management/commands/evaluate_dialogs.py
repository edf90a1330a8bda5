"""`manage.py evaluate_dialogs FILE [--json OUT]`: conversations with gold answers; what was wrong is listed."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from business.jsonl import read_jsonl
from copilot_site.lib.commands import file_to_write, one_sentence, read_text
from evals.answers.dialogs import Dialog, measured


class Command(BaseCommand):
    help = "Ask the questions of a file of dialogs, each as its person, and count right, wrong and declined answers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one dialog a line, as JSON")
        parser.add_argument("--json", type=file_to_write, help="write the counts and every turn to this file")
        parser.add_argument(
            "--today", type=date.fromisoformat, default=date(2026, 11, 21), help="the day that gold statements name"
        )

    def handle(self, *, file: Path, json: Path | None, today: date, **options: Any) -> None:
        with one_sentence():
            rows = read_jsonl(read_text(file).splitlines(), keys=("id", "lang", "as", "turns"), name=file.name)
            report = measured([Dialog.model_validate(row) for row in rows], today=today).as_json()
        if json is not None:
            json.write_text(_dumped(report), encoding="utf-8")
        for name, counts in [*report["groups"].items(), ("all", report)]:
            told = "  ".join(f"{key} {counts[key]:>3}" for key in ("turns", "right", "wrong", "declined"))
            self.stdout.write(f"{name:<14} {told}")
        for turn in report["details"]:
            if turn["verdict"] == "wrong":
                self.stdout.write(f"{turn['id']}: {turn['ask']} → {turn['understood']} → {turn['said']}")


def _dumped(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, indent=1)
