"""`manage.py evaluate_claims FILE [--judge NAME] [--json OUT]`: measure sentences that people judged, and list the wrong ones."""

from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser

from evals.answers.claims import COUNTS, JUDGES, Claim, evaluate_claims, open_judge
from evals.command import QuestionFileCommand, read_rows


class Command(QuestionFileCommand):
    help = "Check the sentences of a file of claims, and count which right and wrong ones would be shown."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--judge",
            choices=JUDGES,
            default="none",
            help="who judges what facts leave open: nobody, a script that is right, one that supports all, the configured model",
        )

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        claims = read_rows(options["file"], Claim)
        with open_judge(options["judge"], claims) as served:
            return async_to_sync(evaluate_claims)(claims, options["today"], served)

    def print_report(self, report: dict[str, Any]) -> None:
        for name, sides in [*report["groups"].items(), ("all", report)]:
            counts = [
                f"{side} " + " ".join(f"{key} {sides[side][key]:>3}" for key in COUNTS) for side in ("right", "wrong")
            ]
            self.stdout.write(f"{name:<16} {'   '.join(counts)}")
        for item in report["details"]:
            if item["is_wrong"]:
                side = "right" if item["supported"] else "wrong"
                why = item["why"] or item["trap"]
                self.stdout.write(f"{item['id']}: {side}, {item['outcome']} ({why}): {item['sentence']}")
