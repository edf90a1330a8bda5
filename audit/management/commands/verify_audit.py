"""`manage.py verify_audit [--json]`: check the audit log. Exit code 1 names the first bad sequence number."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.chain.verification import VerificationReport, verify_log

SHOWN = 20  # the most faults printed; the first says where to look


class Command(BaseCommand):
    help = "Check the audit log: contents, chain, signed checkpoints inside and outside the database, triggers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, json: bool, **options: Any) -> None:
        report = verify_log()
        if json:
            self._print_json(report)
        else:
            self._print_report(report)
        if report.faults:
            first = report.first_bad
            raise CommandError(
                f"First bad sequence number: {first}."
                if first is not None
                else "The entries are right, their guards are not."
            )

    def _print_json(self, report: VerificationReport) -> None:
        found = asdict(report) | {"ok": not report.faults, "first_bad": report.first_bad}
        self.stdout.write(json.dumps(found, ensure_ascii=False))

    def _print_report(self, report: VerificationReport) -> None:
        self.stdout.write(
            f"{report.entries} entries, {report.first} to {report.last}; {report.checkpoints} checkpoints, {report.outside} of "
            f"them outside the database; {report.erased} erased names or addresses."
        )
        for fault in report.faults[:SHOWN]:
            self.stdout.write(f"BAD {'-' if fault.seq is None else fault.seq}: {fault.sentence}.")
        if len(report.faults) > SHOWN:
            self.stdout.write(f"… and {len(report.faults) - SHOWN} more; --json lists them.")
        if not report.faults:
            self.stdout.write("Every hash and every signature is right.")
