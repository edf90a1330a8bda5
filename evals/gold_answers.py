"""Ask the chat, and compare what it shows with the rows of gold statements and the words of gold answers."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
from asgiref.sync import async_to_sync

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import get_message
from agent.events import Event
from agent.models import Session
from agent.runs.start import ask_question
from agent.text.overlap import compute_term_coverage
from authz.principal import Principal
from business.connections.postgres_session import connect_to_source
from business.execute import Access
from business.sources.services import open_sources
from evals.rows import alternatives, matches
from knowledge.retrieval.search import Scope
from knowledge.text.language import detect_language

ENOUGH = 0.8  # share of the gold answer's words that a right answer from documents has
Rows = Sequence[Sequence[Any]]


def ask_chat(principal: Principal, session: Session, question: str) -> ShownMessage:
    """Ask in a conversation, in the language of the question, and return the answer as the person sees it."""
    events = async_to_sync(_events)(principal, session.pk, question)
    return get_message(principal, session, UUID(str(events[-1].assistant_message_id)))


async def _events(principal: Principal, session_id: Any, question: str) -> list[Event]:
    language = "zh-hans" if detect_language(question) == "zh" else "en"
    return [
        e
        async for e in ask_question(
            principal, session_id=session_id, question=question, scope=Scope(), language=language
        )
    ]


def gold_rows(principal: Principal, sql: str, today: date) -> list[Rows]:
    """Run the alternatives of a gold statement in each source that has its tables; no rows for "".

    today: the day that the statement names; the data's own day takes its place.
    """
    return list(_gold_rows(principal, sql, today)) if sql else []


def _gold_rows(principal: Principal, sql: str, today: date) -> Iterator[Rows]:
    for opened in open_sources(principal):
        if not isinstance(opened.access, Access):
            continue
        now = datetime.now(ZoneInfo(opened.layer.time_zone)).date()
        with connect_to_source(opened.access.admin) as connection:
            for statement in alternatives(sql.replace(f"{today}", f"{now}")):
                try:
                    yield connection.execute(statement.encode()).fetchall()
                except psycopg.errors.UndefinedTable:
                    break


def has_answer(text: str, answer: str | None) -> bool:
    """Tell whether a text says a gold answer; False without one."""
    return answer is not None and compute_term_coverage(answer, text) >= ENOUGH


def has_rows(shown: ShownMessage, gold: Sequence[Rows]) -> bool:
    """Tell whether a result of the answer has the rows of one of the gold results; percentages have two decimals."""
    tables = [query.result.table for query in shown.queries if query.result]
    golds = [*gold, *(_rounded(expected, digits) for expected in gold for digits in (20, 2))]
    return any(matches(table.rows, expected, table.total) for table in tables for expected in golds)


def _rounded(rows: Rows, digits: int) -> list[list[Any]]:
    """Return rows as an answer keeps them. digits: the most behind the point."""
    return [[_cell(cell, digits) for cell in row] for row in rows]


def _cell(cell: Any, digits: int) -> Any:
    if isinstance(cell, Decimal | float):
        return round(cell, digits)
    return cell.isoformat() if isinstance(cell, date) else cell
