"""Gold replies through the whole chat: routing, tool, guard and sandbox, the sentence and its check. What is right reaches the person."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from agent.evaluation.dialogs import Dialog, measured
from authz.principal import Principal
from business.evaluation.ceilings import Replies, gold_reply
from business.evaluation.questions import Asked
from business.jsonl import read_jsonl
from business.models import DataSource
from business.sources import open_source
from tests.evaluation_data import data_folder
from tests.factories import prepare_embedder
from tests.integration.agent.modelled import modelled
from tests.modelserver import Request, Step, calls, says, says_json

WRITTEN = date(2026, 11, 21)  # the day that gold statements name
RESULT = re.compile(r"<evidence[^>]*>\s*(.*?)\s*</evidence>", re.DOTALL)


def first_questions() -> Iterator[tuple[Dialog, str]]:
    """Of each dialog the first question where it is one of business data, with its gold statement as of today."""
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    text = (data_folder("cases") / "dialogs.dev.jsonl").read_text()
    for row in read_jsonl(text.splitlines(), keys=("id", "lang", "as", "turns"), name="dialogs"):
        first = row["turns"][0]
        if first["kind"] == "data":
            yield Dialog.model_validate(row | {"turns": [first]}), first["sql"].replace(str(WRITTEN), str(today))


class PerfectModel:
    """Replies gold to whatever the chat asks of it."""

    def __init__(self, replies: dict[str, Any]) -> None:
        self.replies = replies

    def __call__(self, request: Request) -> Step:
        last = request["messages"][-1]
        asked = str(last["content"])
        first = next(str(m["content"]) for m in request["messages"] if m["role"] == "user")
        if first.startswith("<tables>"):
            return says_json(self.replies[first.rpartition("\nquestion: ")[2]])
        if "response_format" in request:
            return says_json({"route": "SQL", "intent": "data", "question": asked})
        if request.get("tools"):
            return says("DONE") if last["role"] == "tool" else calls(("database_query", {"question": asked}))
        return says(self.sentence(asked))

    def sentence(self, asked: str) -> str:
        """What the evidence says first, cited."""
        found = RESULT.search(asked)
        return f"{found[1].splitlines()[0]} [1]." if found else "NO_ANSWER"


@pytest.mark.parametrize("kind", get_args(Replies))
def test_what_is_right_reaches_the_person(demo: DataSource, kind: Replies) -> None:
    """Twelve Chinese and nine English questions of six people, each under their own rights."""
    prepare_embedder()
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    found = list(first_questions())
    replies = {}
    for dialog, gold in found:
        opened = open_source(Principal.named(dialog.username), "demo")
        asked = Asked(dialog.id, dialog.turns[0].ask, gold, "demo", is_answerable=True)
        replies[asked.question] = gold_reply(asked, opened.catalog, kind, today)
    assert [each for each in replies.values() if "missing" in each] == []
    with modelled(chooses=PerfectModel(replies)):
        report = measured([dialog for dialog, _gold in found], today=WRITTEN)
    assert [turn for turn in report.details if turn["verdict"] != "right"] == []
    assert {name: counts["right"] for name, counts in report.groups.items()} == {"data/zh": 12, "data/en": 9}
