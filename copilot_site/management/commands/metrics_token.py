"""`manage.py metrics_token`: print the token that Prometheus sends to `/metrics`."""

from typing import Any

from django.core.management.base import BaseCommand

from copilot_site.metrics import derive_metrics_token


class Command(BaseCommand):
    help = "Print the token that Prometheus sends to /metrics; it changes with the secret key."

    def handle(self, **options: Any) -> None:
        self.stdout.write(derive_metrics_token())
