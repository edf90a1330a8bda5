"""Conversations and what is shown of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from agent.cited_answer import laid_out
from agent.events import StopReason
from agent.extractive.excerpts import Excerpt, excerpt_of, rows_in
from agent.models import Citation, MadeFile, Message, QueryCitation, Role, Session
from agent.providers import extractive
from agent.skills.offered import EXECUTE
from agent.skills.showing import made_files
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from business.explore.links import explore_url
from business.logical_query.query import LogicalQuery
from business.results.shown_query import QueryShown
from business.results.visibility import Queried, visible_queries
from copilot_site.lib.errors import NotFound
from knowledge.selectors import ShownPassage, passages
from knowledge.services.access_requests import Offer, offers

TITLE_LENGTH = 60


def create_session(principal: Principal) -> Session:
    return Session.objects.create(user_id=principal.user_id, within=principal.folder_id)


def sessions_of(principal: Principal) -> QuerySet[Session]:
    """The person's own conversations, the latest first; through a token for a folder, those alone that were begun through one."""
    own = Session.objects.filter(user_id=principal.user_id)
    return own if principal.folder_id is None else own.filter(within=principal.folder_id)


def found_sessions(principal: Principal, words: str) -> QuerySet[Session]:
    """The person's conversations with a question in them; those that say all the words in their title or one question.

    Answers are not looked through: what an old one says may be hidden from the person by now.
    """
    found = sessions_of(principal).exclude(title="")
    if not words:
        return found
    questions = Message.objects.filter(session=OuterRef("pk"), role=Role.USER)
    in_title, in_question = Q(), Q()
    for word in words.split():
        in_title &= Q(title__icontains=word)
        in_question &= Q(content__icontains=word)
    return found.filter(in_title | Exists(questions.filter(in_question)))


def get_session(principal: Principal, session_id: UUID) -> Session:
    """Raises NotFound for anybody else's conversation, in the words for a missing one."""
    session = sessions_of(principal).filter(pk=session_id).first()
    if session is None:
        raise NotFound(_("There is no such conversation, or it is not yours."))
    return session


@transaction.atomic
def delete_session(principal: Principal, session_id: UUID) -> None:
    """Recorded with the ids of its runs, whose entries stay. Raises NotFound."""
    session = get_session(principal, session_id)
    runs = [
        str(pk)
        for pk in session.messages.filter(role=Role.ASSISTANT).order_by("created_at").values_list("pk", flat=True)
    ]
    session.delete()
    record(principal, Action.CONVERSATION_DELETED, target_name=str(session_id), detail={"runs": runs})


def title_from(question: str) -> str:
    """A conversation's title: its first question, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[20:] else cut}…"


@dataclass(frozen=True)
class ShownSentence:
    """A sentence of an answer. Masked: it stood on a passage that this person may not see any more, so it says nothing.

    is_row: it is a row of a table that is shown as one.
    is_checked: False where it was not checked against its source. gap: as in `agent.cited_answer.CitedSentence`.
    """

    text: str
    citations: tuple[int, ...]
    is_masked: bool = False
    is_row: bool = False
    is_checked: bool = True
    gap: str = ""


@dataclass(frozen=True)
class ShownCitation:
    """A numbered source, if the person may still see it; start and end are offsets into the passage.

    excerpt: the quotation where it stands, of an answer that is made of quotations.
    """

    number: int
    evidence_id: str
    start: int
    end: int
    passage: ShownPassage
    score: float
    excerpt: Excerpt | None = None

    @property
    def page(self) -> int | None:
        """The page on which the cited span begins."""
        return self.passage.page_at(self.start)

    @property
    def snippet(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True)
class ShownQuery:
    """A numbered source that is no passage: a query on a data source that the person may still be answered from."""

    number: int
    evidence_id: str
    source: str
    title: str
    result: QueryShown | None = None


@dataclass(frozen=True)
class ShownToolCall:
    """A call of a tool, as far as it is kept: ids and counts, no arguments, which a model wrote with documents before it.

    problem: its kind, "" where it worked. evidence_added: new pieces of evidence.
    """

    name: str
    success: bool
    duration_ms: int
    evidence_added: int
    problem: str


@dataclass(frozen=True)
class ShownMessage:
    """A message as this person may see it now.

    notice: what was done differently from what they would expect. understood: the question as it was completed, "" where it
    was worked on as asked. readings: questions to choose from, where the answer asks back. offers: after a no, folders by whose
    names they may ask to be let in. explore: the address of the form in which a question on data that was not read can be asked. files:
    that scripts made and that can still be downloaded.
    """

    id: UUID
    session_id: UUID
    role: str
    created_at: datetime
    content: str
    stop_reason: str
    provider: str
    is_complete: bool
    sentences: tuple[ShownSentence, ...] = ()
    citations: tuple[ShownCitation, ...] = field(default=())
    queries: tuple[ShownQuery, ...] = ()
    notice: str = ""
    understood: str = ""
    readings: tuple[str, ...] = ()
    explore: str = ""
    offers: tuple[Offer, ...] = ()
    tool_calls: tuple[ShownToolCall, ...] = ()
    duration_ms: int | None = None
    rating: str = ""
    comment: str = ""
    files: tuple[MadeFile, ...] = ()

    @property
    def masked_count(self) -> int:
        return sum(sentence.is_masked for sentence in self.sentences)

    @property
    def listed(self) -> list[ShownCitation]:
        """The sources that are no more than named; the others are named under their tables."""
        return [each for each in self.citations if not (each.excerpt and each.excerpt.rows)]

    @property
    def has_text(self) -> bool:
        """Whether anything is said besides rows that are shown in their tables."""
        return not self.sentences or any(not sentence.is_row for sentence in self.sentences)

    @property
    def unchecked_count(self) -> int:
        return sum(not sentence.is_checked for sentence in self.sentences)


def messages_of(principal: Principal, session: Session) -> list[ShownMessage]:
    """The conversation in order, under today's rights. Recorded where evidence is shown in it."""
    return read_messages(principal, session, session.messages.prefetch_related("citations", "queries"))


def read_messages(principal: Principal, session: Session, messages: Iterable[Message]) -> list[ShownMessage]:
    """Some of a conversation, as `shown_messages`, for the person to read again: what is shown of evidence is recorded."""
    shown = shown_messages(principal, messages)
    _record_reading(principal, session, shown)
    return shown


def read_message(principal: Principal, session: Session, message_id: UUID) -> ShownMessage:
    """One message, for the person to read again, recorded as `read_messages` does. Raises NotFound."""
    shown = get_message(principal, session, message_id)
    _record_reading(principal, session, [shown])
    return shown


def _record_reading(principal: Principal, session: Session, shown: Sequence[ShownMessage]) -> None:
    evidence = {citation.evidence_id for message in shown for citation in message.citations}
    evidence |= {query.evidence_id for message in shown for query in message.queries}
    if evidence:
        record(principal, Action.CONVERSATION_READ, session, detail={"evidence": sorted(evidence)})


def get_message(principal: Principal, session: Session, message_id: UUID) -> ShownMessage:
    """One message, for whoever was told of it in this very request, or shows no words of it. Raises NotFound."""
    found = shown_messages(principal, session.messages.filter(pk=message_id).prefetch_related("citations", "queries"))
    if not found:
        raise NotFound(_("There is no such message in this conversation."))
    return found[0]


def get_answer(session: Session, message_id: UUID) -> Message:
    """The row of an answer that has ended; raises NotFound. Show of it only what the person may read today."""
    found = session.messages.filter(pk=message_id, role=Role.ASSISTANT, is_complete=True).first()
    if found is None:
        raise NotFound(_("There is no such message in this conversation."))
    return found


def shown_messages(principal: Principal, messages: Iterable[Message]) -> list[ShownMessage]:
    """These messages in their order, under today's rights; have their citations fetched with them."""
    rows = list(messages)
    wanted = {citation.chunk_id for row in rows for citation in row.citations.all()}
    visible = {passage.chunk_id: passage for passage in passages(principal, wanted)}
    results = {query.pk: queried_by(query) for row in rows for query in row.queries.all()}
    vouched = visible_queries(principal, set(results.values()))
    open_queries = {pk for pk, queried in results.items() if queried in vouched}
    offered = {row.pk: [UUID(pk) for pk in row.state.get("offers", ())] for row in rows}
    open_to_ask = offers(principal, {pk for ids in offered.values() for pk in ids})
    files = made_files(principal, [row.pk for row in rows if _ran_scripts(row)])
    shown = [
        _show(
            row,
            visible,
            open_queries,
            tuple(open_to_ask[pk] for pk in offered[row.pk] if pk in open_to_ask),
            tuple(file for file in files if file.message_id == row.pk),
        )
        for row in rows
    ]
    if any(message.masked_count for message in shown):
        masked = {str(message.id): message.masked_count for message in shown if message.masked_count}
        record(principal, Action.EVIDENCE_FILTERED, outcome=Outcome.FILTERED, detail={"sentences": masked})
    return shown


def _show(
    row: Message,
    visible: Mapping[UUID, ShownPassage],
    open_queries: Collection[int],
    offered: tuple[Offer, ...],
    files: tuple[MadeFile, ...],
) -> ShownMessage:
    citations = [citation for citation in row.citations.all() if citation.chunk_id in visible]
    queries = [query for query in row.queries.all() if query.pk in open_queries]
    seen = {citation.number for citation in citations} | {query.number for query in queries}
    quoted = row.provider == extractive.NAME
    shown = {c.number: _citation(c, visible[c.chunk_id], quoted=quoted) for c in citations}
    said = {text for one in shown.values() if one.excerpt for text in rows_in(one.passage.text)}
    sentences = tuple(_sentence(entry, seen, said) for entry in row.sentences)
    content = row.content
    if sentences and row.role == Role.ASSISTANT:
        separator = "\n" if row.stop_reason == StopReason.NOT_CONFIRMED else " "
        content = laid_out((each.gap or separator, each.text) for each in sentences if not each.is_masked)
    return ShownMessage(
        id=row.pk,
        session_id=row.session_id,
        role=row.role,
        created_at=row.created_at,
        content=content,
        stop_reason=row.stop_reason,
        provider=row.provider,
        is_complete=row.is_complete,
        sentences=sentences,
        citations=tuple(shown.values()),
        queries=tuple(ShownQuery(q.number, q.evidence_id, q.source, q.title, _result(q)) for q in queries),
        notice="\n".join(_(line) for line in row.notice.splitlines() if line),
        understood=_understood(row.state.get("input", {})),
        readings=tuple(row.state.get("plan", {}).get("clarifying_questions", ())),
        explore=_explore_of(row),
        offers=offered,
        tool_calls=tuple(_tool_call(step) for step in row.state.get("trace_steps", ()) if step.get("tool")),
        duration_ms=row.duration_ms,
        rating=row.rating,
        comment=row.comment,
        files=files,
    )


def _ran_scripts(row: Message) -> bool:
    return any(step.get("tool") == EXECUTE for step in row.state.get("trace_steps", ()))


def _explore_of(row: Message) -> str:
    """The form for a question on data that no way read; "" for other messages."""
    form = row.state.get("plan", {}).get("explore")
    if not form or row.stop_reason == StopReason.OK:
        return ""
    query = LogicalQuery.model_validate(form["query"]) if form.get("query") else None
    return explore_url(form["source"], query) or explore_url(form["source"])


def _tool_call(step: Mapping[str, Any]) -> ShownToolCall:
    return ShownToolCall(
        name=step["tool"],
        success=step["status"] == "ok",
        duration_ms=step["timing_ms"],
        evidence_added=(step.get("out") or {}).get("evidence_added", 0),
        problem=(step.get("err") or {}).get("type", ""),
    )


def _result(row: QueryCitation) -> QueryShown | None:
    return QueryShown.model_validate(row.result) if row.result else None


def queried_by(row: QueryCitation) -> Queried:
    """What a cited result stands on, for whoever vouches for it."""
    result = _result(row)
    return Queried(source=row.source, reach=result.reach if result else ())


def _understood(asked: Mapping[str, str]) -> str:
    whole, said = asked.get("normalized_query", ""), " ".join(asked.get("query", "").split())
    return "" if whole == said else whole


def _citation(row: Citation, passage: ShownPassage, *, quoted: bool) -> ShownCitation:
    excerpt = excerpt_of(passage.text, row.start, row.end) if quoted else None
    return ShownCitation(row.number, row.evidence_id, row.start, row.end, passage, row.score, excerpt)


def _sentence(entry: Mapping[str, Any], seen: set[int], rows: Collection[str]) -> ShownSentence:
    text, citations = entry["text"], tuple(entry["citations"])
    if set(citations) <= seen:
        checked, gap = entry.get("is_checked", True), entry.get("gap", "")
        return ShownSentence(text, citations, is_row=text in rows, is_checked=checked, gap=gap)
    return ShownSentence("", (), is_masked=True)
