"""Look for rows, files, passages and rights that do not fit together, after a fault or a restore."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from copilot_site.consistency import check_consistency
from copilot_site.management.commands.doctor import format_result


class Command(BaseCommand):
    """`manage.py check_consistency`. It changes nothing."""

    help = (
        "Check that files, rows, passages, rights and the audit log fit together; exit code 1 when something does not."
    )

    def handle(self, **options: Any) -> None:
        """Print a line for each check."""
        results = list(check_consistency())
        for result in results:
            self.stdout.write(format_result(result))
        if not all(result.ok for result in results):
            sys.exit(1)
