"""`manage.py export_grants [FILE]`: every right that counts, as `import_grants` reads it."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from copilot_site.lib.commands import check_output_file, report_command_errors
from knowledge.services.grant_files import export_grants


class Command(BaseCommand):
    help = "Write every grant, denial and break of inheritance as CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=check_output_file, nargs="?", help="else to standard output")

    def handle(self, **options: Any) -> None:
        if options["file"] is None:
            export_grants(None, sys.stdout)
            return
        with report_command_errors(), options["file"].open("w", encoding="utf-8", newline="") as out:
            count = export_grants(None, out)
        self.stdout.write(f"Lines written to {options['file']}: {count}.")
