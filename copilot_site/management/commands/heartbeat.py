"""The check of beat's heartbeat, for its container: exit code 1 when the last heartbeat is too old."""

import sys
from typing import Any

from django.core.cache import cache
from django.core.management.base import BaseCommand

from copilot_site.celery import HEARTBEAT_KEY, HEARTBEAT_TTL_S


class Command(BaseCommand):
    """`manage.py heartbeat`."""

    help = "Tell whether beat and a worker were alive within the last two minutes."
    requires_system_checks: list[str] = []

    def handle(self, **_: Any) -> None:
        """Print one sentence; exit code 1 without a heartbeat."""
        if cache.get(HEARTBEAT_KEY) is None:
            sys.exit(
                f"No heartbeat within {HEARTBEAT_TTL_S} s: beat does not run, or no worker serves the queue `watch`."
            )
        self.stdout.write("Beat and a worker are alive.")
