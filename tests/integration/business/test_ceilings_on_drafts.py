"""Gold replies through the whole chat over drafted layers: what is right reaches the person, in both languages."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from authz.permissions import Right
from authz.principal import Principal
from business.jsonl import read_jsonl
from business.models import DataSource
from business.sources.grants import grant
from business.sources.services import open_source, save_layer
from evals.management.commands.evaluate_dialogs import Dialog, evaluate_dialogs
from evals.question_sets import Asked, loaded, read_asked
from tests.evaluation_data import data_folder
from tests.factories import make_user, prepare_embedder
from tests.integration.agent.modelled import modelled
from tests.modelserver import Request, Step, calls, says

SETS = {  # of our questions every fifth, unless all are asked for
    "zh": Path(__file__).parents[2] / "evaluation/questions_on_drafts_zh/questions.zh.jsonl",
    "en": Path(__file__).parents[2] / "evaluation/questions_on_drafts/questions.other.jsonl",
    "defog": data_folder("nl2sql_defog") / "questions.dev.jsonl",
}
EVERY = int(os.environ.get("CEILING_EVERY", "5"))
MIN = 0.97


RESULT = re.compile(r'<evidence number="(\d+)"[^>]*>\s*(.*?)\s*</evidence>', re.DOTALL)


class PerfectModel:
    """Writes the gold statement of each question, then says what the result says first."""

    def __init__(self, statements: dict[str, str]) -> None:
        self.statements = statements

    def __call__(self, request: Request) -> Step:
        last = request["messages"][-1]
        if last["role"] == "user":
            return calls(
                ("database_query", {"sql": self.statements[str(last["content"]).rpartition("\n\n")[2].strip()]})
            )
        found = RESULT.findall(str(last["content"]))
        if not found:
            return self._insists(request)
        number, text = found[-1]
        return says(f"{text.splitlines()[0]} [{number}].")

    def _insists(self, request: Request) -> Step:
        """The same statement once more where it was objected to."""
        tried = [message for message in request["messages"] if message["role"] == "tool"]
        asked = next(str(m["content"]) for m in request["messages"][::-1] if m["role"] == "user")
        again = calls(("database_query", {"sql": self.statements[asked.rpartition("\n\n")[2].strip()]}))
        return again if len(tried) == 1 else says("NO_ANSWER")


def asked_of(file: Path) -> Iterator[tuple[str, list[Asked]]]:
    """The questions of a set that have an answer, by database."""
    rows = read_jsonl(file.read_text().splitlines(), keys=("id", "question", "db_name"), name=file.name)
    found = [one for one in map(read_asked, rows) if one.is_answerable][::EVERY]
    for name, group in groupby(sorted(found, key=lambda one: one.database), key=lambda one: one.database):
        yield name, list(group)


def told(reader: User, source: DataSource, asked: list[Asked]) -> Counter[str]:
    """Count what becomes of questions on one source: right, wrong, declined."""
    today = datetime.now(open_source(Principal.of(reader), source.name).time_zone).date()
    dialogs = [
        Dialog.model_validate(
            {"id": one.id, "lang": "", "as": reader.username,
             "turns": [{"ask": one.question, "kind": "data", "sql_seen": one.gold}]}
        )
        for one in asked
    ]  # fmt: skip
    with modelled(chooses=PerfectModel({one.question: "".join(one.golds[:1]) for one in asked})):
        report = evaluate_dialogs(dialogs, today)
    for turn in report["details"]:
        if turn["verdict"] != "right":
            print(turn)
    return Counter(turn["verdict"] for turn in report["details"])


@pytest.mark.parametrize("name", SETS)
def test_what_is_right_reaches_the_person(db: None, name: str) -> None:
    prepare_embedder()
    reader, total = make_user("rita"), Counter[str]()
    for database, asked in asked_of(SETS[name]):
        with loaded(database, SETS[name].parent, [data_folder("nl2sql_defog") / "dbs"], drafted=True) as (
            address,
            layer,
        ):
            source = DataSource.unscoped.create(
                name=layer.name,
                database=address.database,
                is_dedicated=True,
                is_embedded=True,
                schemas=sorted({model.table_schema for model in layer.semantic_models}),
            )
            save_layer(None, source, layer)
            grant(None, source, to=reader, right=Right.VIEW)
            total += told(reader, source, asked)
            source.delete()
    print(name, dict(total))
    assert total["wrong"] == 0
    assert total["right"] >= MIN * (total["right"] + total["declined"]) - 1
