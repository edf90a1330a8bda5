"""`manage.py audit_checkpoint`: sign the end of the audit log now, without waiting for beat."""

from typing import Any

from django.core.management.base import BaseCommand

from audit.chain.checkpoints import sign_checkpoint
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Sign a checkpoint at the end of the audit log, in the database and outside it."

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            made = sign_checkpoint()
        self.stdout.write(f"Signed at {made.seq}." if made else "Nothing was recorded since the last checkpoint.")
