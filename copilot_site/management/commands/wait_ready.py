"""Wait until a system that starts can be used, and say where it is: `up` runs it, and people can."""

import json
import os
import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.core.management.base import BaseCommand

from copilot_site.celery import HEARTBEAT_KEY, app
from copilot_site.embedded.serve import WORKERS
from copilot_site.lib.logs import OUTAGES

TOLD_AFTER_S = 60.0  # a first start takes less, but on a machine that other programs keep busy
LOOK_S = 0.25  # between two looks


class Command(BaseCommand):
    """`manage.py wait_ready http://127.0.0.1:8000`."""

    help = "Wait until the web server, beat and the workers answer; then print where the system is."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the address of the web server."""
        parser.add_argument("url", help="Address of the web server, without a path.")
        parser.add_argument("--demo", action="store_true", help="Print who can sign in to the demo company.")

    def handle(self, *, url: str, demo: bool, **_: Any) -> None:
        """Wait until all is ready, and say what is missing where that takes long."""
        if not wait_until_ready(lambda: list_missing(url), self.stdout.write):
            return
        self.stdout.write(f"\nReady: {settings.SITE_URL or url}/")
        if demo:
            from demo.logins import list_logins

            for login in list_logins():
                self.stdout.write(f"  {login}")
        self.stdout.write("Ctrl-C stops everything; the next start keeps all data.\n")


def wait_until_ready(look: Callable[[], list[str]], tell: Callable[[str], None]) -> bool:
    """Look until nothing is missing; from TOLD_AFTER_S on tell what is, when it changes. False where our parent, `up`, was killed."""
    parent, began, told = os.getppid(), time.monotonic(), list[str]()
    while missing := look():
        if os.getppid() != parent:
            return False
        if missing != told and time.monotonic() - began > TOLD_AFTER_S:
            told = missing
            tell(f"Not ready yet: {', '.join(missing)}. What runs goes on; `manage.py doctor` says what to do.")
        time.sleep(LOOK_S * (20 if told else 1))
    return True


def list_missing(url: str) -> list[str]:
    """Return what does not answer yet, by its name in `/readyz` or in the output of `up`; nothing when all is ready."""
    if failing := ask_readyz(url):
        return failing
    try:
        if cache.get(HEARTBEAT_KEY) is None:
            return ["beat"]
        answers = str(app.control.ping(timeout=2, limit=len(WORKERS)))
    except OUTAGES:
        return ["broker"]
    return [name for name in WORKERS if f"{name}@" not in answers]


def ask_readyz(url: str) -> list[str]:
    """Return what `/readyz` names. It is asked directly, past any proxy, with a host name that the site answers to."""
    name = next(iter(settings.ALLOWED_HOSTS), "").lstrip(".").replace("*", "") or "localhost"
    try:
        with closing(HTTPConnection(urlsplit(url).netloc, timeout=5)) as connection:
            connection.request("GET", "/readyz", headers={"Host": name})
            return list(json.loads(connection.getresponse().read()).get("failing", ["web"]))
    except (OSError, HTTPException, ValueError):
        return ["web"]
