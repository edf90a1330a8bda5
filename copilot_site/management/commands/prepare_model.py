"""Convert the bundled model and index the dictionary, once, into COPILOT_HOME; a step of `up` and of building the image."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from knowledge.dictionary.cedict import prepare_dictionary
from knowledge.embedding.convert import prepare_model


class Command(BaseCommand):
    """`manage.py prepare_model`: about 8 s the first time, 0.1 s after that."""

    help = "Convert the bundled embedding model and index the dictionary into COPILOT_HOME, or check what is there."
    requires_system_checks: list[str] = []

    def handle(self, **_: Any) -> None:
        """Print the folder of the checked model, and the index of the dictionary."""
        models = settings.HOME.create().models
        self.stdout.write(str(prepare_model(models)))
        self.stdout.write(str(prepare_dictionary(models)))
