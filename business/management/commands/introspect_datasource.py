"""Draft the semantic layer of a data source from its database."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from business.semantic_layer.yaml_io import written
from business.sources.checks import source_named
from business.sources.services import draft, save_layer
from copilot_site.lib.commands import one_sentence


class Command(BaseCommand):
    help = "Print a draft of the semantic layer as YAML; with --save, store it. What people wrote about tables is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the data source")
        parser.add_argument("--save", action="store_true")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            source = source_named(options["name"])
            layer = draft(None, source, progress=self._report, unread=self._left_out)
            if options["save"]:
                save_layer(None, source, layer)
        self.stdout.write(written(layer))

    def _report(self, done: int, count: int, name: str) -> None:
        """Report progress on standard error, apart from the layer."""
        self.stderr.write(f"{done} of {count}: {name}")

    def _left_out(self, place: str, why: str) -> None:
        self.stderr.write(f"left out: {place}: {why}")
