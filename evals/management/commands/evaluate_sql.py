"""Measure the way from questions to SQL on sets of questions with their databases."""

from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand

from agent.providers.base import ChatModel, ModelError
from agent.providers.configured import connect, required_model
from agent.providers.openai_compatible import ServedModel
from authz.principal import Principal
from business.execute import Access
from business.logical_query.catalog import Catalog
from business.semantic_layer.model import SemanticLayer
from copilot_site.lib.commands import file_to_write, one_sentence
from copilot_site.lib.errors import InvalidInput
from evals.data.linking import linker_for
from evals.data.questions import Asked, Report, access_of, evaluate, in_short, loaded, questions_in
from evals.data.sql import by_model, by_words, examples_for, served_gold


class Command(BaseCommand):
    help = "Read DIR/questions.*.jsonl {id, question, query, db_name}, load the databases, and report what is right, wrong, handed on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", type=Path, help="questions.*.jsonl, dbs/<name>.sql, and layers/<name>.yaml where written"
        )
        parser.add_argument("--as", dest="username", required=True, help="sign-in name of the person")
        parser.add_argument(
            "--execute", action="store_true", help="run the statements and compare rows; else only count answers"
        )
        parser.add_argument("--databases", type=Path, action="append", default=[], help="further folder of <name>.sql")
        parser.add_argument("--questions", default="questions.*.jsonl", help="which files of the folder")
        parser.add_argument(
            "--today", type=date.fromisoformat, help="date that “last month” is counted from; default: today"
        )
        parser.add_argument(
            "--way",
            choices=("reader", "model"),
            default="reader",
            help="which way reads the questions",
        )
        parser.add_argument(
            "--model", default="", help="name of the language model; default: the one that is configured"
        )
        parser.add_argument(
            "--replies",
            choices=("gold-sql",),
            default="",
            help="instead of a language model's: the gold statement",
        )
        parser.add_argument("--drafted", action="store_true", help="draft every layer, also where one is written")
        parser.add_argument("--json", type=file_to_write, help="write the report, with every question, to this file")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            folder = options["folder"]
            asked = questions_in(folder, options["questions"])
            for further in options["databases"]:
                if not further.is_dir():
                    raise InvalidInput(f"{further} is not a folder; name one that holds <name>.sql files.")
            principal = Principal.named(options["username"])
            seeds = [folder / "dbs", folder, *options["databases"]]
            report = Report()
            for name, group in groupby(sorted(asked, key=lambda one: one.database), key=lambda one: one.database):
                with loaded(name, folder, seeds, drafted=options["drafted"]) as (address, layer):
                    access = access_of(address, layer, principal)
                    _measure(list(group), access, layer, principal=principal, options=options, report=report)
        self.stdout.write(in_short(report.as_json(), options["json"]))


def _measure(
    asked: Sequence[Asked],
    access: Access,
    layer: SemanticLayer,
    *,
    principal: Principal,
    options: Mapping[str, Any],
    report: Report,
) -> None:
    """One database. Raises InvalidInput where the way needs a model and there is none, or it fails."""
    catalog, today = Catalog.of(layer), options["today"]
    run = partial(evaluate, asked, access, report=report, execute=options["execute"])
    if options["way"] == "reader":
        async_to_sync(run)(by_words(catalog, today))
    else:
        examples = examples_for(principal, asked)
        replies = served_gold(asked) if options["replies"] else nullcontext(required_model(options["model"]))
        with replies as served, linker_for(layer) as linker:
            async_to_sync(_ask_model)(served, lambda model: run(by_model(model, linker, examples, today)))


async def _ask_model(served: ServedModel, run: Callable[[ChatModel], Awaitable[None]]) -> None:
    model = connect(served)
    try:
        await run(model)
    except ModelError as error:
        raise InvalidInput(f"The language model fails: {error}.") from error
    finally:
        await model.aclose()
