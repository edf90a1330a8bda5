"""`manage.py export_all FOLDER`: write everything a company owns in open formats."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.export_all import export_all
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = (
        "Write documents, rights, conversations, verified answers and the audit log into a new folder, in open formats."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *, folder: Path, **options: Any) -> None:
        with report_command_errors():
            for line in export_all(folder):
                self.stdout.write(line)
        self.stdout.write(f"{folder} holds everything; only this user can read it.")
