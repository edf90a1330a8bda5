"""`manage.py evaluate_dialogs FILE [--json OUT]`: measure conversations with gold answers, and list the wrong ones."""

from typing import Any

from evals.answers.dialogs import COUNTS, Dialog, evaluate_dialogs
from evals.command import QuestionFileCommand, read_rows


class Command(QuestionFileCommand):
    help = "Ask the questions of a file of dialogs, each as its person, and count right, wrong and declined answers."

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        return evaluate_dialogs(read_rows(options["file"], Dialog), options["today"])

    def print_report(self, report: dict[str, Any]) -> None:
        self.print_counts(report, COUNTS)
        for turn in report["details"]:
            if turn["verdict"] == "wrong":
                self.stdout.write(f"{turn['id']}: {turn['ask']} → {turn['understood']} → {turn['said']}")
