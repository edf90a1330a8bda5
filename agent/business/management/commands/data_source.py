"""Make a data source, give it its semantic layer from a YAML file, or print that layer or the confirmed answers."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from agent.business.examples import evaluation_cases
from agent.business.layer.yaml_io import read_layer, write_layer
from agent.business.models import DataSource
from agent.business.sources import failure_recorded, save_layer
from copilot_site.lib.commands import one_sentence
from copilot_site.lib.errors import NotFound
from copilot_site.lib.named_files import read_text


class Command(BaseCommand):
    help = "Import a semantic layer into the data source it names, or export one, or the source's confirmed answers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        importing = actions.add_parser("import", help="store the layer of a YAML file")
        importing.add_argument("file", type=Path)
        importing.add_argument(
            "--database", help="make the source, if it is new: a database on the product's own server"
        )
        exporting = actions.add_parser("export", help="print the layer as YAML")
        exporting.add_argument("name")
        examples = actions.add_parser(
            "examples", help="print the confirmed answers as cases for evaluate_sql, JSON lines"
        )
        examples.add_argument("name")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            if options["action"] == "export":
                self.stdout.write(write_layer(_source(options["name"]).semantic_layer))
                return
            if options["action"] == "examples":
                for case in evaluation_cases(_source(options["name"])):
                    self.stdout.write(json.dumps(case, ensure_ascii=False))
                return
            path = options["file"]
            text = read_text(path)
            with failure_recorded(None, path.name):
                layer = read_layer(text)
                if options["database"]:
                    DataSource.unscoped.get_or_create(name=layer.name, defaults={"database": options["database"]})
                save_layer(None, _source(layer.name), layer)
        self.stdout.write(f"{layer.name}: {len(layer.semantic_models)} tables")


def _source(name: str) -> DataSource:
    source = DataSource.unscoped.filter(name=name).first()
    if source is None:
        raise NotFound(f"There is no data source {name}.")
    return source
