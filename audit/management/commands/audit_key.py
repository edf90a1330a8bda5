"""`manage.py audit_key [--new]`: make the key that signs checkpoints, or show its public half."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from audit.chain.keys import create_signing_key, ensure_signing_key
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Make the key that signs audit checkpoints where there is none, and print its public half for auditors."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new", action="store_true", help="sign with a new key from now on; recorded")

    def handle(self, *, new: bool, **options: Any) -> None:
        with report_command_errors():
            self.stdout.write(create_signing_key() if new else ensure_signing_key())
