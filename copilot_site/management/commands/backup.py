"""`manage.py backup FOLDER`: everything the product keeps, beside a running system."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.backup import back_up
from copilot_site.lib.commands import one_sentence


class Command(BaseCommand):
    help = "Back up databases, files, secrets and the audit log's keys into a new folder, readable by this user only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *, folder: Path, **options: Any) -> None:
        with one_sentence():
            for line in back_up(folder):
                self.stdout.write(line)
        self.stdout.write(f"{folder} is whole. Keep {folder / 'audit'} in another place than the dumps.")
