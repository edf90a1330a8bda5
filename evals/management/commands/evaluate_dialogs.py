"""`manage.py evaluate_dialogs FILE [--json OUT]`: measure conversations with gold answers, and list the wrong ones.

A wrong answer is the worst outcome there is, and counted apart from none.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, Field

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import create_session
from agent.events import StopReason
from authz.principal import Principal
from evals.command import Detail, QuestionFileCommand, counted, read_rows
from evals.gold_answers import Rows, ask_chat, gold_rows, has_answer, has_rows

COUNTS = ("turns", "right", "wrong", "declined")
Verdict = Literal["right", "wrong", "declined"]


class Turn(BaseModel):
    """One question. sql_seen: the rows that the person may see, on `today` of the file; answer: as a document says it."""

    ask: str
    kind: str
    sql_seen: str = ""
    answer: str | None = None
    nothing: bool = False


class Dialog(BaseModel):
    id: str
    lang: str
    username: str = Field(alias="as")
    turns: list[Turn]


class Command(QuestionFileCommand):
    help = "Ask the questions of a file of dialogs, each as its person, and count right, wrong and declined answers."

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        return evaluate_dialogs(read_rows(options["file"], Dialog), options["today"])

    def print_report(self, report: dict[str, Any]) -> None:
        self.print_counts(report, COUNTS)
        for turn in report["details"]:
            if turn["verdict"] == "wrong":
                self.stdout.write(f"{turn['id']}: {turn['ask']} → {turn['understood']} → {turn['said']}")


def evaluate_dialogs(dialogs: Sequence[Dialog], today: date) -> dict[str, Any]:
    """Ask every dialog as its person; return counts over all and by kind and language, and the details of every turn.

    today: the day that the gold statements name. Raises NotFound for a person who is not there.
    """
    details = [detail for dialog in dialogs for detail in _details(dialog, today)]
    return counted(details, COUNTS, lambda turn: ("turns", turn["verdict"]))


def _details(dialog: Dialog, today: date) -> Iterator[Detail]:
    principal = Principal.named(dialog.username)
    session = create_session(principal)
    for turn in dialog.turns:
        shown = ask_chat(principal, session, turn.ask)
        yield {
            "id": dialog.id,
            "group": f"{turn.kind}/{dialog.lang}",
            "ask": turn.ask,
            "verdict": _verdict(turn, shown, gold_rows(principal, turn.sql_seen, today)),
            "understood": shown.understood or turn.ask,
            "stop_reason": shown.stop_reason,
            "said": shown.content,
        }


def _verdict(turn: Turn, shown: ShownMessage, gold: Sequence[Rows]) -> Verdict:
    if shown.kind and not shown.queries and not turn.nothing:
        first = "".join(citation.passage.text for citation in shown.citations[:1])
        return "right" if has_answer(first, turn.answer) else "declined"
    if shown.stop_reason != StopReason.OK or shown.kind:
        return "right" if turn.nothing else "declined"
    is_said = not shown.queries and has_answer(shown.content, turn.answer)
    cell = [[(turn.answer,)]] if turn.answer is not None else []  # a document may be a spreadsheet that was asked
    return "right" if is_said or has_rows(shown, [*gold, *cell]) else "wrong"
