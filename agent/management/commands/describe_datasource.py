"""Have a language model propose words for a data source's layer, table by table; nothing is saved."""

from argparse import ArgumentParser
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand

from agent.prompting import load_prompt
from agent.providers.base import ModelError
from agent.providers.configured import connect, require_served_model
from agent.providers.openai_compatible import ServedModel
from agent.providers.structured import request_object_with_repair
from business.inference.described import describe_layer
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.yaml_io import write_yaml
from business.sources.checks import find_source
from business.sources.services import redraft_layer
from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = (
        "Print a draft of the semantic layer with labels, synonyms and descriptions as a language model proposes them. "
        "What people wrote stays; nothing is saved: read it, and import what you accept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the data source")
        parser.add_argument(
            "--model", default="", help="name of the language model; default: the one that is configured"
        )
        parser.add_argument("--at-once", type=int, default=4, help="tables that the model is asked about at a time")

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            source = find_source(options["name"])
            served = require_served_model(options["model"])
            layer = async_to_sync(self._describe_layer)(redraft_layer(None, source), served, max(1, options["at_once"]))
        self.stdout.write(write_yaml(layer))

    async def _describe_layer(self, layer: SemanticLayer, served: ServedModel, at_once: int) -> SemanticLayer:
        model = connect(served)
        try:
            return await describe_layer(
                layer, partial(request_object_with_repair, model), load_prompt("describe_table", "en").text, at_once=at_once,
                progress=self._print_progress, errors=(ModelError,),
            )  # fmt: skip
        finally:
            await model.aclose()

    def _print_progress(self, done: int, total: int, table: str, why: str) -> None:
        self.stderr.write(f"{done}/{total} {table}{f': {why}' if why else ''}")
