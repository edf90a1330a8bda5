"""Have a language model propose words for a data source's layer, table by table; nothing is saved."""

from argparse import ArgumentParser
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand

from agent.prompting import prompt
from agent.providers.base import ModelError
from agent.providers.configured import connect, required_model
from agent.providers.openai_compatible import ServedModel
from agent.providers.structured import complete
from business.inference.described import describe_layer
from business.semantic_layer.model import SemanticLayer
from business.semantic_layer.yaml_io import written
from business.sources.checks import source_named
from business.sources.services import draft
from copilot_site.lib.commands import one_sentence


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
        with one_sentence():
            source = source_named(options["name"])
            served = required_model(options["model"])
            layer = async_to_sync(self._described)(draft(None, source), served, max(1, options["at_once"]))
        self.stdout.write(written(layer))

    async def _described(self, layer: SemanticLayer, served: ServedModel, at_once: int) -> SemanticLayer:
        model = connect(served)
        try:
            return await describe_layer(
                layer, partial(complete, model), prompt("describe_table", "en").text, at_once=at_once,
                progress=self._tell, errors=(ModelError,),
            )  # fmt: skip
        finally:
            await model.aclose()

    def _tell(self, done: int, total: int, table: str, why: str) -> None:
        self.stderr.write(f"{done}/{total} {table}{f': {why}' if why else ''}")
