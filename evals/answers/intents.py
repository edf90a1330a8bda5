"""Measures single questions with the way each should go, to documents, data, both, a calculation or back, and the right answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal
from uuid import UUID

from asgiref.sync import async_to_sync
from pydantic import BaseModel, Field

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import create_session, get_message
from agent.events import StopReason
from agent.models import Message
from agent.passages.rules import GREETING
from agent.text.overlap import share_said
from authz.principal import Principal
from business.sources import open_sources
from evals.answers.dialogs import SAID, asked_in, gold_of, is_counted

SHOWN = 3  # passages that a person looks at first
COUNTS = ("n", "way_right", "right", "found", "wrong", "declined")
Way = Literal["document", "data", "calculation", "both", "clarify", "smalltalk", "refuse", "none"]
Verdict = Literal["right", "found", "wrong", "declined"]


class Intent(BaseModel):
    """One question. sql_seen: what the person may see of it; answer, document: what a document says, and which."""

    id: str
    lang: str
    username: str = Field(alias="as")
    ask: str
    way: Way
    sql_seen: str = ""
    answer: str | None = None
    document: str = ""


@dataclass
class IntentReport:
    """groups: counts by way and language. details: what became of every question."""

    groups: dict[str, dict[str, int]] = field(default_factory=dict)
    details: list[dict[str, str]] = field(default_factory=list)

    def add(self, intent: Intent, shown: ShownMessage, way: Way, verdict: Verdict) -> None:
        counts = self.groups.setdefault(f"{intent.way}/{intent.lang}", dict.fromkeys(COUNTS, 0))
        counts["n"] += 1
        counts["way_right"] += way == intent.way
        counts[verdict] += 1
        self.details.append(
            {
                "id": intent.id,
                "ask": intent.ask,
                "meant": intent.way,
                "way": way,
                "verdict": verdict,
                "said": shown.content,
            }
        )

    def as_json(self) -> dict[str, Any]:
        total = {name: sum(counts[name] for counts in self.groups.values()) for name in COUNTS}
        return total | {"groups": dict(sorted(self.groups.items())), "details": self.details}


def measured(intents: Sequence[Intent], *, today: date) -> IntentReport:
    """Ask every question as its person, each in a conversation of its own. today: the day that the gold statements name.

    Raises NotFound for a person who is not there.
    """
    report = IntentReport()
    for intent in intents:
        principal = Principal.named(intent.username)
        session = create_session(principal)
        events = async_to_sync(asked_in)(principal, session.pk, intent.ask)
        shown = get_message(principal, session, UUID(str(events[-1].assistant_message_id)))
        gold = list(gold_of(intent.sql_seen, open_sources(principal), today))
        report.add(intent, shown, way_of(shown), verdict_of(intent, shown, gold))
    return report


def way_of(shown: ShownMessage) -> Way:
    """Return the way that a question went."""
    if shown.stop_reason == StopReason.NEED_CLARIFY:
        intent = Message.objects.get(pk=shown.id).state.get("plan", {}).get("intent")
        return "smalltalk" if intent == GREETING else "clarify"
    if shown.stop_reason != StopReason.OK:
        return "refuse" if shown.stop_reason == StopReason.REFUSED else "none"
    if shown.provider == "calculate":
        return "calculation"
    return ("both" if shown.citations else "data") if shown.queries else "document"


def verdict_of(intent: Intent, shown: ShownMessage, gold: Sequence[Sequence[Sequence[Any]]]) -> Verdict:
    """Judge an answer right or wrong; nothing said is right where nothing is to be said. Passages are no answer: they are right where
    nothing is to be said, found where one of the first says it, else declined.
    """
    if shown.stop_reason != StopReason.OK or (shown.kind and not shown.queries):
        if intent.way == "none" or way_of(shown) == intent.way != "document":
            return "right"
        return "found" if _is_shown(intent, shown) else "declined"
    if intent.way in {"clarify", "smalltalk", "refuse"}:
        return "wrong"
    if intent.way == "none":
        rows = [query.result.table.rows for query in shown.queries if query.result]
        return "right" if rows and all(not any(any(row) for row in table) for table in rows) else "wrong"
    if intent.way == "calculation":
        return "right" if (intent.answer or "").replace(",", "") in shown.content.replace(",", "") else "wrong"
    told = intent.answer is None or share_said(intent.answer, shown.content) >= SAID
    return "right" if told and (not intent.sql_seen or is_counted(shown, gold)) else "wrong"


def _is_shown(intent: Intent, shown: ShownMessage) -> bool:
    """Whether one of the first passages shown says the answer."""
    texts = [citation.passage.text for citation in shown.citations[:SHOWN]]
    return intent.answer is not None and any(share_said(intent.answer, text) >= SAID for text in texts)
