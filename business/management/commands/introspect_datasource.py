"""Draft the semantic layer of a data source from its database."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from business.semantic_layer.yaml_io import write_yaml
from business.sources.checks import find_source
from business.sources.services import redraft_layer, save_layer
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Print a draft of the semantic layer as YAML; with --save, store it. What people wrote about tables is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the data source")
        parser.add_argument("--save", action="store_true")

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            source = find_source(options["name"])
            layer = redraft_layer(None, source, progress=self._report_progress, unread=self._report_left_out_table)
            if options["save"]:
                save_layer(None, source, layer)
        self.stdout.write(write_yaml(layer))

    def _report_progress(self, done: int, count: int, name: str) -> None:
        """Report progress on standard error, apart from the layer."""
        self.stderr.write(f"{done} of {count}: {name}")

    def _report_left_out_table(self, place: str, why: str) -> None:
        self.stderr.write(f"left out: {place}: {why}")
