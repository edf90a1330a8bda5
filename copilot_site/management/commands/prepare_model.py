"""Convert the bundled model once into COPILOT_HOME; a step of `up` and of building the image."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from knowledge.embedding.convert import prepare_model


class Command(BaseCommand):
    """`manage.py prepare_model`: about 4 s the first time, 0.1 s after that."""

    help = "Convert the bundled embedding model into COPILOT_HOME, or check the copy that is there."
    requires_system_checks: list[str] = []

    def handle(self, **_: Any) -> None:
        """Print the folder of the checked model."""
        self.stdout.write(str(prepare_model(settings.HOME.create().models)))
