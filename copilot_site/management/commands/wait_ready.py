"""Wait until a system that starts can be used, and say where it is: `up` runs it, and people can."""

import urllib.error
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.core.cache import cache
from django.core.management.base import BaseCommand, CommandError

from copilot_site.celery import HEARTBEAT_KEY, app
from copilot_site.embedded.process import wait_until
from copilot_site.embedded.serve import WORKERS

READY_TIMEOUT_S = 300.0  # for each part; a machine that is busy with other programs takes minutes, and a part that ends is noticed at once


class Command(BaseCommand):
    """`manage.py wait_ready http://127.0.0.1:8000`."""

    help = "Wait until the web server, beat and the workers answer; then print where the system is."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the address of the web server."""
        parser.add_argument("url", help="Address of the web server, without a path.")
        parser.add_argument("--demo", action="store_true", help="Print who can sign in to the demo company.")

    def handle(self, *, url: str, demo: bool, **_: Any) -> None:
        """Wait until ready; exit code 1 with a sentence where a part does not answer."""
        parts = {
            "The web server": lambda: fetch_status(f"{url}/readyz") == 200,
            "Beat": lambda: cache.get(HEARTBEAT_KEY) is not None,
            "A worker": lambda: len(app.control.ping(timeout=0.5) or []) >= len(WORKERS),
        }
        for name, answers in parts.items():
            if not wait_until(answers, timeout_s=READY_TIMEOUT_S, interval_s=0.25):
                raise CommandError(f"{name} does not answer after {READY_TIMEOUT_S:.0f} s: see `manage.py doctor`.")
        self._print_welcome(url, demo=demo)

    def _print_welcome(self, url: str, *, demo: bool) -> None:
        self.stdout.write(f"\nReady: {url}/")
        if demo:
            from demo.logins import list_logins

            for login in list_logins():
                self.stdout.write(f"  {login}")
        self.stdout.write("Ctrl-C stops everything; the next start keeps all data.\n")


def fetch_status(url: str) -> int | None:
    """Return the HTTP status of an address of our own; None without an answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - always http://<our host>
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None
