"""`manage.py purge_audit --days N`: delete old audit entries behind a signed cut."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from audit.retention import purge_entries
from copilot_site.lib.commands import report_command_errors

MAX_DAYS = 36_525  # a hundred years


def parse_days(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_DAYS:
        raise ArgumentTypeError(f"{text} is not a number of days from 0 to {MAX_DAYS}.")
    return int(text)


class Command(BaseCommand):
    help = (
        "Delete the oldest audit entries. The rest verifies from a signed cut; a legal hold refuses it; it is recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        age = parser.add_mutually_exclusive_group(required=True)
        age.add_argument("--days", type=parse_days, help="keep this many days")
        age.add_argument(
            "--before", type=datetime.fromisoformat, help="keep what is from this day (UTC) on, e.g. 2026-01-01"
        )

    def handle(self, *, days: int | None, before: datetime | None, **options: Any) -> None:
        limit = before.replace(tzinfo=before.tzinfo or UTC) if before else timezone.now() - timedelta(days=days or 0)
        with report_command_errors():
            count = purge_entries(None, before=limit)
        self.stdout.write(f"Purged {count} entries.")
