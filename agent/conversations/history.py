"""Earlier turns for a model: under today's rights, the latest only, within a number of tokens."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from agent.conversations.branches import MessageTree
from agent.conversations.presentation.visibility import cited_source_of
from agent.conversations.sessions import show_audited_messages
from agent.events import StopReason
from agent.models import Message, MessageRole
from agent.prompting import count_tokens
from agent.run_state.state import MeantQuery, Turn
from agent.run_state.verified_match import make_verified_source
from authz.principal import Principal
from business.logical_query.query import LogicalQuery

TURNS, TOKENS = 8, 1_500
ANSWER_CHARACTERS = 600  # of an earlier answer: enough for follow-ups


def load_history(principal: Principal, session_id: UUID, *, before: UUID) -> list[Turn]:
    """Return earlier questions, as they were understood, and answers, the oldest first.

    before: id of the answer being made. Only those of its own branch: replaced questions are not included.
    """
    way = MessageTree.of(session_id).up_to(before)[:-2][-TURNS:]  # without the answer and its question
    rows = Message.objects.filter(pk__in=way, is_complete=True)
    latest = list(rows.order_by("-created_at", "-id").prefetch_related("citations", "queries", "pages"))
    turns: list[Turn] = []
    left = TOKENS
    for row, message in zip(latest, show_audited_messages(principal, latest), strict=True):
        text = message.content if row.role == MessageRole.USER else message.content[:ANSWER_CHARACTERS]
        left -= count_tokens(text)
        if left < 0:
            break
        role: Literal["user", "assistant"] = "user" if row.role == MessageRole.USER else "assistant"
        stands_on = [citation.passage.chunk_id for citation in message.citations]
        numbers = {query.number for query in message.queries}
        queried = [cited_source_of(query) for query in row.queries.all() if query.number in numbers]
        queried += [make_verified_source(item.answer_id) for item in message.verified]
        turns.append(Turn(role=role, content=text, stands_on=stands_on, queried=queried))
    return turns[::-1]


@dataclass(frozen=True)
class Earlier:
    """question: as it was understood. is_asked_back: it was not understood, and the person was asked what they mean.

    documents: cited by its answer. query: source and query of its answer, under today's rights; statement: source and
    SQL of the same. meant: the queries behind the offered choices.
    """

    question: str
    is_asked_back: bool
    query: tuple[str, LogicalQuery] | None = None
    statement: tuple[str, str] | None = None
    meant: dict[str, tuple[str, LogicalQuery]] = field(default_factory=dict)
    documents: tuple[UUID, ...] = ()


def find_earlier_question(principal: Principal, session_id: UUID, *, before: UUID) -> Earlier | None:
    """Return the question before this one, on its branch; None where there is none."""
    way = MessageTree.of(session_id).up_to(before)[:-1]
    row = (
        Message.objects.filter(pk__in=way, role=MessageRole.ASSISTANT, is_complete=True)
        .order_by("-created_at")
        .prefetch_related("citations", "queries", "pages")
        .first()
    )
    if row is None:
        return None
    (shown,) = show_audited_messages(principal, [row])
    question = shown.understood or " ".join(row.state.get("input", {}).get("query", "").split())
    if not question:
        return None
    standing = [
        (one.source, one.result.logical_query) for one in shown.queries if one.result and one.result.logical_query
    ]
    query = standing[0] if len(standing) == 1 else None
    stated = [(one.source, one.result.statement) for one in shown.queries if one.result]
    statement = stated[-1] if stated else None
    documents = tuple(dict.fromkeys(citation.passage.document_id for citation in shown.citations))
    return Earlier(
        question, row.stop_reason == StopReason.NEED_CLARIFY, query, statement, _read_clarifying_queries(row), documents
    )


def _read_clarifying_queries(row: Message) -> dict[str, tuple[str, LogicalQuery]]:
    kept = row.state.get("plan", {}).get("clarifying_queries", {})
    found = {text: MeantQuery.model_validate(one) for text, one in kept.items()}
    return {text: (one.source, one.query) for text, one in found.items() if one.query}
