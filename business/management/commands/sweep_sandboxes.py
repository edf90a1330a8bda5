"""Remove database roles and schemas that were made for rights which nobody has any more."""

from typing import Any

from django.core.management.base import BaseCommand

from business.cleanup import sweep_sandboxes
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Remove roles and schemas that the sandbox made for rights which nobody has any more; a task does so every hour."

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            swept = sweep_sandboxes()
        self.stdout.write(f"{swept.removed} removed")
        for sentence in swept.unreached:
            self.stderr.write(sentence)
