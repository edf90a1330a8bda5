"""Measures conversations with gold answers: a wrong answer is the worst outcome there is, and counted apart from none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
from asgiref.sync import async_to_sync
from pydantic import BaseModel, Field

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import create_session, get_message
from agent.events import Event, StopReason
from agent.runs.start import ask
from agent.text.overlap import share_said
from authz.principal import Principal
from business.execute import Access
from business.postgres_session import connected
from business.results.shown_query import ResultTable
from business.sources import OpenSource, open_sources
from evals.data.questions import alternatives, comparable, contains, is_part
from knowledge.retrieval.search import Scope
from knowledge.text.language import language_of

SAID = 0.8  # share of the gold answer's words that a right answer from documents says
Verdict = Literal["right", "wrong", "declined"]


class Turn(BaseModel):
    """One question. sql_seen: what the person may see of it, for `today` of the file; answer: what a document says."""

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


@dataclass
class DialogReport:
    """groups: counts of verdicts by kind and language. details: what became of every turn."""

    groups: dict[str, dict[str, int]] = field(default_factory=dict)
    details: list[dict[str, str]] = field(default_factory=list)

    def add(self, dialog: Dialog, turn: Turn, shown: ShownMessage, verdict: Verdict) -> None:
        counts = self.groups.setdefault(
            f"{turn.kind}/{dialog.lang}", {"turns": 0, "right": 0, "wrong": 0, "declined": 0}
        )
        counts["turns"] += 1
        counts[verdict] += 1
        understood = shown.understood or turn.ask
        self.details.append(
            {
                "id": dialog.id,
                "ask": turn.ask,
                "verdict": verdict,
                "understood": understood,
                "stop_reason": shown.stop_reason,
                "said": shown.content,
            }
        )

    def as_json(self) -> dict[str, Any]:
        total = {
            name: sum(counts[name] for counts in self.groups.values())
            for name in ("turns", "right", "wrong", "declined")
        }
        return total | {"groups": dict(sorted(self.groups.items())), "details": self.details}


def measured(dialogs: Sequence[Dialog], *, today: date) -> DialogReport:
    """Ask every dialog as its person. today: the day that the gold statements name; the data's own day stands in its place.

    Raises NotFound for a person who is not there.
    """
    report = DialogReport()
    for dialog in dialogs:
        principal = Principal.named(dialog.username)
        session = create_session(principal)
        sources = open_sources(principal)
        for turn in dialog.turns:
            events = async_to_sync(asked_in)(principal, session.pk, turn.ask)
            shown = get_message(principal, session, UUID(str(events[-1].assistant_message_id)))
            gold = list(gold_of(turn.sql_seen, sources, today))
            report.add(dialog, turn, shown, _verdict(turn, shown, gold))
    return report


async def asked_in(principal: Principal, session_id: Any, question: str) -> list[Event]:
    """Ask in a conversation, in the language of the question; all events."""
    language = "zh-hans" if language_of(question) == "zh" else "en"
    return [e async for e in ask(principal, session_id=session_id, question=question, scope=Scope(), language=language)]


def gold_of(sql: str, sources: Sequence[OpenSource], today: date) -> Iterator[Sequence[Sequence[Any]]]:
    """The rows of a gold statement, "" for none, of each alternative in each source that has its tables. today: the day it names."""
    for opened in sources if sql else ():
        if not isinstance(opened.access, Access):
            continue
        now = datetime.now(ZoneInfo(opened.layer.time_zone)).date()
        with connected(opened.access.admin) as connection:
            for statement in alternatives(sql.replace(f"{today}", f"{now}")):
                try:
                    yield connection.execute(statement.encode()).fetchall()
                except psycopg.errors.UndefinedTable:
                    break


def _verdict(turn: Turn, shown: ShownMessage, gold: Sequence[Sequence[Sequence[Any]]]) -> Verdict:
    if shown.kind and not shown.queries and not turn.nothing:
        first = "".join(citation.passage.text for citation in shown.citations[:1])
        return "right" if turn.answer is not None and share_said(turn.answer, first) >= SAID else "declined"
    if shown.stop_reason != StopReason.OK or shown.kind:
        return "right" if turn.nothing else "declined"
    told = turn.answer is not None and not shown.queries and share_said(turn.answer, shown.content) >= SAID
    cell = [[(turn.answer,)]] if turn.answer is not None else []  # a document may be a spreadsheet that was asked
    return "right" if told or is_counted(shown, [*gold, *cell]) else "wrong"


def is_counted(shown: ShownMessage, gold: Sequence[Sequence[Sequence[Any]]]) -> bool:
    """Whether a result of the answer holds the rows of one of the gold results; percentages have two decimals."""
    tables = [query.result.table for query in shown.queries if query.result]
    golds = [*gold, *(_told(expected, digits) for expected in gold for digits in (20, 2))]
    return any(_holds(table, expected) for table in tables for expected in golds)


def _holds(table: ResultTable, expected: Sequence[Sequence[Any]]) -> bool:
    """One that was cut, and says so, holds the first of as many rows."""
    if table.total is not None:
        return table.total == len(expected) and is_part(*comparable(table.rows, expected))
    return contains(*comparable(table.rows, expected))


def _told(rows: Sequence[Sequence[Any]], digits: int) -> list[list[Any]]:
    """Rows as an answer keeps them. digits: behind the point, at most."""
    return [[_cell(cell, digits) for cell in row] for row in rows]


def _cell(cell: Any, digits: int) -> Any:
    if isinstance(cell, Decimal | float):
        return round(cell, digits)
    return cell.isoformat() if isinstance(cell, date) else cell
