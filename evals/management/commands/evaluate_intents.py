"""`manage.py evaluate_intents FILE [--json OUT]`: measure which way questions go and how they are answered, and list the wrong ones."""

from typing import Any

from evals.answers.intents import COUNTS, Intent, evaluate_intents
from evals.command import QuestionFileCommand, read_rows


class Command(QuestionFileCommand):
    help = "Ask the questions of a file, each as its person, and count which way they went and what was answered."

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        return evaluate_intents(read_rows(options["file"], Intent), options["today"])

    def print_report(self, report: dict[str, Any]) -> None:
        self.print_counts(report, COUNTS)
        for one in report["details"]:
            if one["verdict"] == "wrong" or one["way"] != one["meant"]:
                way = f"{one['way']} ({one['meant']}), {one['verdict']}"
                self.stdout.write(f"{one['id']}: {one['ask']} → {way}: {one['said']}")
