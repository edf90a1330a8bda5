"""Measure the way from questions to SQL on sets of questions with their databases."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.core.management.base import BaseCommand

from agent.business.address import Address
from agent.business.evaluation.questions import Asked, Report, Scores, evaluate, loaded, read_asked
from agent.business.examples import Example, confirmed_examples
from agent.business.jsonl import read_jsonl
from agent.business.layer.model import SemanticLayer
from agent.business.models import DataSource
from agent.business.ways.by_model import ByModel
from agent.business.ways.word_for_word import WordForWord
from agent.providers.base import ModelError
from agent.providers.configured import connect, served_model
from authz.principal import Principal
from copilot_site.lib.commands import one_sentence
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.file_arguments import file_to_write, read_text
from knowledge.ingestion.normalise import normalise


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
            "--way", choices=("deterministic", "model"), default="deterministic", help="which way writes the statements"
        )
        parser.add_argument(
            "--model", default="", help="name of the language model; default: the one that is configured"
        )
        parser.add_argument("--json", type=file_to_write, help="write the report, with every question, to this file")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            folder = options["folder"]
            files = _question_files(folder, options["questions"])
            for further in options["databases"]:
                if not further.is_dir():
                    raise InvalidInput(f"{further} is not a folder; name one that holds <name>.sql files.")
            principal = Principal.named(options["username"])
            keys = ("id", "question", "db_name")
            asked = [
                read_asked(row) for f in files for row in read_jsonl(read_text(f).splitlines(), keys=keys, name=f.name)
            ]
            seeds = [folder / "dbs", folder, *options["databases"]]
            report = Report()
            for name, group in groupby(sorted(asked, key=lambda one: one.database), key=lambda one: one.database):
                with loaded(name, folder, seeds) as (address, layer):
                    scores, details = async_to_sync(_measured)(list(group), address, layer, principal, options)
                report.databases[name] = scores
                report.details += details
        found = report.as_json()
        if options["json"]:
            options["json"].write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        self.stdout.write(json.dumps({key: found[key] for key in ("total", "databases")}, ensure_ascii=False, indent=1))


def _question_files(folder: Path, pattern: str) -> list[Path]:
    """Raises InvalidInput where none is called so."""
    try:
        files = sorted(file for file in folder.glob(pattern) if file.is_file())
    except (ValueError, NotImplementedError) as error:  # empty, or absolute
        raise InvalidInput(
            f"“{pattern}” names no files of a folder ({error}); write something like questions.*.jsonl."
        ) from error
    if not files:
        raise InvalidInput(f"There is no {pattern} in {folder}.")
    return files


def _examples(principal: Principal, asked: Sequence[Asked]) -> list[Example]:
    """The confirmed pairs of the source of this name, as the product would show them; never one that is asked here itself."""
    source = DataSource.objects.visible_to(principal).filter(name=asked[0].database).first()
    questions = {normalise(one.question).strip() for one in asked}
    found = confirmed_examples(principal, source) if source else []
    return [example for example in found if example.question not in questions]


async def _measured(
    asked: Sequence[Asked], address: Address, layer: SemanticLayer, principal: Principal, options: dict[str, Any]
) -> tuple[Scores, list[dict[str, str]]]:
    """One database. Raises InvalidInput where the way needs a model and there is none, or it fails."""
    execute, today = options["execute"], options["today"]
    if options["way"] == "deterministic":
        return await evaluate(asked, address, layer, principal, WordForWord("en", today), execute=execute)
    served = await sync_to_async(served_model)(options["model"])
    if served is None:
        raise InvalidInput(
            "No language model is configured: set COPILOT_LLM_BASE_URL and COPILOT_LLM_MODEL, or add one."
        )
    model = connect(served)
    examples = await sync_to_async(_examples)(principal, asked)
    try:
        way = ByModel(model, "en", examples, today=today)
        return await evaluate(asked, address, layer, principal, way, execute=execute)
    except ModelError as error:
        raise InvalidInput(f"The language model fails: {error}.") from error
    finally:
        await model.aclose()
