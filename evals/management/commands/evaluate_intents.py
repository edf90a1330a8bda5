"""`manage.py evaluate_intents FILE [--json OUT]`: measure which way questions go and how they are answered, and list the wrong ones."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, Field

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import create_session
from agent.events import StopReason
from agent.models import Message
from agent.passages.rules import GREETING
from authz.principal import Principal
from evals.command import Detail, QuestionFileCommand, counted, read_rows
from evals.gold_answers import Rows, ask_chat, gold_rows, has_answer, has_rows

SHOWN = 3  # passages that a person looks at first
COUNTS = ("n", "way_right", "right", "found", "wrong", "declined")
Way = Literal["document", "data", "calculation", "both", "clarify", "smalltalk", "refuse", "none"]
Verdict = Literal["right", "found", "wrong", "declined"]


class Intent(BaseModel):
    """One question. sql_seen: the rows that the person may see; answer, document: what a document says, and which."""

    id: str
    lang: str
    username: str = Field(alias="as")
    ask: str
    way: Way
    sql_seen: str = ""
    answer: str | None = None
    document: str = ""


class Command(QuestionFileCommand):
    help = "Ask the questions of a file, each as its person, and count which way they went and what was answered."

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        intents = read_rows(options["file"], Intent)
        return counted([_detail(intent, options["today"]) for intent in intents], COUNTS, _counted_as)

    def print_report(self, report: dict[str, Any]) -> None:
        self.print_counts(report, COUNTS)
        for one in report["details"]:
            if one["verdict"] == "wrong" or one["way"] != one["meant"]:
                way = f"{one['way']} ({one['meant']}), {one['verdict']}"
                self.stdout.write(f"{one['id']}: {one['ask']} → {way}: {one['said']}")


def _detail(intent: Intent, today: date) -> Detail:
    """Ask as the person, in a conversation of its own. Raises NotFound for a person who is not there."""
    principal = Principal.named(intent.username)
    shown = ask_chat(principal, create_session(principal), intent.ask)
    return {
        "id": intent.id,
        "group": f"{intent.way}/{intent.lang}",
        "ask": intent.ask,
        "meant": intent.way,
        "way": _way_of(shown),
        "verdict": _verdict_of(intent, shown, gold_rows(principal, intent.sql_seen, today)),
        "said": shown.content,
    }


def _counted_as(detail: Detail) -> Iterator[str]:
    yield from ("n", detail["verdict"])
    if detail["way"] == detail["meant"]:
        yield "way_right"


def _way_of(shown: ShownMessage) -> Way:
    """Return the way that a question went."""
    if shown.stop_reason == StopReason.NEED_CLARIFY:
        intent = Message.objects.get(pk=shown.id).state.get("plan", {}).get("intent")
        return "smalltalk" if intent == GREETING else "clarify"
    if shown.stop_reason != StopReason.OK:
        return "refuse" if shown.stop_reason == StopReason.REFUSED else "none"
    if shown.provider == "calculate":
        return "calculation"
    return ("both" if shown.citations else "data") if shown.queries else "document"


def _verdict_of(intent: Intent, shown: ShownMessage, gold: Sequence[Rows]) -> Verdict:
    """Judge an answer. No answer is right where none is expected.

    Passages are no answer: right where none is expected, found where one of the first says it, else declined.
    """
    if shown.stop_reason != StopReason.OK or (shown.kind and not shown.queries):
        if intent.way == "none" or _way_of(shown) == intent.way != "document":
            return "right"
        first = [citation.passage.text for citation in shown.citations[:SHOWN]]
        return "found" if any(has_answer(text, intent.answer) for text in first) else "declined"
    if intent.way in {"clarify", "smalltalk", "refuse"}:
        return "wrong"
    if intent.way == "none":
        rows = [query.result.table.rows for query in shown.queries if query.result]
        return "right" if rows and all(not any(any(row) for row in table) for table in rows) else "wrong"
    if intent.way == "calculation":
        return "right" if (intent.answer or "").replace(",", "") in shown.content.replace(",", "") else "wrong"
    is_said = intent.answer is None or has_answer(shown.content, intent.answer)
    return "right" if is_said and (not intent.sql_seen or has_rows(shown, gold)) else "wrong"
