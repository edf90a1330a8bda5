"""`manage.py audit_key [--new]`: make the key that signs checkpoints, or show its public half."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from audit.chain.keys import ensure_key, new_key
from copilot_site.lib.commands import one_sentence


class Command(BaseCommand):
    help = "Make the key that signs audit checkpoints where there is none, and print its public half for auditors."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new", action="store_true", help="sign with a new key from now on; recorded")

    def handle(self, *, new: bool, **options: Any) -> None:
        with one_sentence():
            self.stdout.write(new_key() if new else ensure_key())
