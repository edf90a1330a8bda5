"""`manage.py import_grants FILE`: rights from a file, all lines or none."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from authz.principal import Principal
from copilot_site.lib.commands import report_command_errors
from knowledge.services.grant_files import COLUMNS, import_grants


class Command(BaseCommand):
    help = f"Give and deny rights as a CSV file says, all lines or none. Columns: {', '.join(COLUMNS)}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--as", dest="username", default="", help="who is recorded as giver, and must manage each place"
        )

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            by = Principal.named(options["username"]) if options["username"] else None
            count = import_grants(by, options["file"])
        self.stdout.write(f"Lines applied: {count}.")
