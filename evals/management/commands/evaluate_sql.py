"""`manage.py evaluate_sql DIR --as USER`: measure the way from questions to SQL on sets of questions with their databases."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import date
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser

from agent.providers.base import ModelError
from agent.providers.configured import connect, required_model
from agent.providers.openai_compatible import ServedModel
from authz.principal import Principal
from business.execute import Access
from business.logical_query.catalog import Catalog
from business.semantic_layer.model import SemanticLayer
from copilot_site.lib.errors import InvalidInput
from evals.data.linking import open_linker
from evals.data.questions import Asked, QuestionSetCommand, access_of, loaded, questions_by_database
from evals.data.sql import Detail, ask_all, report_of
from evals.data.ways import ModelWay, WordsWay, examples_for, served_gold


class Command(QuestionSetCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--as", dest="username", required=True, help="sign-in name of the person")
        parser.add_argument(
            "--today", type=date.fromisoformat, help="date that “last month” is counted from; default: today"
        )
        parser.add_argument(
            "--way", choices=("reader", "model"), default="reader", help="which way reads the questions"
        )
        parser.add_argument(
            "--replies",
            choices=("gold-sql",),
            default="",
            help="what replies instead of the configured language model: the gold statement",
        )
        parser.add_argument("--drafted", action="store_true", help="draft every layer, also where one is written")

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        principal, details = Principal.named(options["username"]), list[Detail]()
        for name, asked in questions_by_database(options):
            with loaded(name, options["folder"], options["databases"], drafted=options["drafted"]) as (address, layer):
                access = access_of(address, layer, principal)
                if options["way"] == "reader":
                    way = WordsWay(Catalog.of(layer), options["today"])
                    details += async_to_sync(ask_all)(asked, access, way)
                else:
                    details += _ask_model(asked, access, layer, principal, options)
        return report_of(details)


def _ask_model(
    asked: Sequence[Asked], access: Access, layer: SemanticLayer, principal: Principal, options: dict[str, Any]
) -> list[Detail]:
    """Ask the questions of one database of a model. Raises InvalidInput where there is none, or it fails."""
    examples = examples_for(principal, asked)
    replies = served_gold(asked) if options["replies"] else nullcontext(required_model())

    async def ask(served: ServedModel) -> list[Detail]:
        model = connect(served)
        try:
            return await ask_all(asked, access, ModelWay(model, linker, examples, options["today"]))
        except ModelError as error:
            raise InvalidInput(f"The language model fails: {error}.") from error
        finally:
            await model.aclose()

    with replies as served, open_linker(layer) as linker:
        return async_to_sync(ask)(served)
