"""Gold replies through the whole chat: routing, tool, guard and sandbox, the sentence and its check. What is right reaches the person."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from zoneinfo import ZoneInfo

from business.jsonl import read_jsonl
from business.models import DataSource
from evals.answers.dialogs import Dialog, evaluate_dialogs
from tests.evaluation_data import data_folder
from tests.factories import prepare_embedder
from tests.integration.agent.modelled import modelled
from tests.modelserver import Request, Step, calls, says

WRITTEN = date(2026, 11, 21)  # the day that gold statements name
RESULT = re.compile(r'<evidence number="(\d+)"[^>]*>\s*(.*?)\s*</evidence>', re.DOTALL)


def first_questions() -> Iterator[tuple[Dialog, str]]:
    """Of each dialog the first question where it is one of business data, with its gold statement as of today."""
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    text = (data_folder("cases") / "dialogs.dev.jsonl").read_text()
    for row in read_jsonl(text.splitlines(), keys=("id", "lang", "as", "turns"), name="dialogs"):
        first = row["turns"][0]
        if first["kind"] == "data":
            yield Dialog.model_validate(row | {"turns": [first]}), first["sql"].replace(str(WRITTEN), str(today))


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


def test_what_is_right_reaches_the_person(demo: DataSource) -> None:
    """Twelve Chinese and nine English questions of six people, each under their own rights."""
    prepare_embedder()
    found = list(first_questions())
    statements = {dialog.turns[0].ask: gold for dialog, gold in found}
    with modelled(chooses=PerfectModel(statements)):
        report = evaluate_dialogs([dialog for dialog, _gold in found], WRITTEN)
    assert [turn for turn in report["details"] if turn["verdict"] != "right"] == []
    assert {name: counts["right"] for name, counts in report["groups"].items()} == {"data/zh": 12, "data/en": 9}
