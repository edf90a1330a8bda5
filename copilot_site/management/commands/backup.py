"""`manage.py backup FOLDER --keys FOLDER`: back up everything the product keeps, while it runs."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.backup import create_backup
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Back up databases, files and secrets into one new folder, the audit log's keys into another, readable by this user only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--keys", type=Path, required=True, help="new folder for the audit log's keys, kept elsewhere"
        )

    def handle(self, *, folder: Path, keys: Path, **options: Any) -> None:
        with report_command_errors():
            for line in create_backup(folder, keys):
                self.stdout.write(line)
        self.stdout.write(
            f"{folder} is whole. Keep {keys} in another place: who has both can write an audit log of their own."
        )
