"""Look at everything a running system needs and say how to mend what is missing."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from copilot_site.check_result import CheckResult
from copilot_site.doctor import run_all_checks


class Command(BaseCommand):
    """`manage.py doctor`. manage.py tries to start the embedded services first; where that fails this says why."""

    help = "Check every dependency of a running system; exit code 1 when something needed is missing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of the output."""
        parser.add_argument("--json", action="store_true", help="A list of objects instead of lines.")

    def handle(self, **options: Any) -> None:
        """Print the findings; exit code 1 when one that is not optional is bad."""
        findings = list(run_all_checks())
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
        else:
            for finding in findings:
                self.stdout.write(format_result(finding))
        if any(not finding.ok and not finding.optional for finding in findings):
            sys.exit(1)


def format_result(result: CheckResult) -> str:
    """Return a result as a line, and a second one that says how to mend it."""
    mark = "ok  " if result.ok else "note" if result.optional else "BAD "
    mend = "" if result.ok else f"\n{'':23} → {result.mend}"
    return f"{mark} {result.name:<22} {result.detail}{mend}"
