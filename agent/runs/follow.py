"""Read a run: its log as it grows, from any event, any number of times; and its stored message once the log is gone.

Rights are checked for every event when it is read. Where a finished run's text is no longer readable, or its log is
gone, it is retold from the stored message, which hides sentences one by one. Such a retelling begins at `seq` 0: an
event with that number tells a client to drop what it has.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agent.conversations.presentation.message import ShownMessage, ShownQuery, ShownSentence
from agent.conversations.sessions import get_message, get_session, read_message
from agent.events import (
    AgentQuery,
    Answer,
    Complete,
    Error,
    Event,
    QueryReference,
    References,
    Reflection,
    StopReason,
    WebReference,
)
from agent.evidence.items import make_passage_reference
from agent.models import Message, MessageRole, Session
from agent.revocation import Grounds, format_unreadable_notice, may_read_grounds
from agent.run_state.cited_answer import CitedSentence, join_sentences
from agent.run_state.threads import run_reader_call
from agent.runs.log import LogEntry, RunLog, find_growing_logs, open_valkey
from authz.principal import Principal
from business.results.visibility import Queried
from copilot_site.lib.errors import NotFound, TooMany
from copilot_site.lib.load.concurrency_limit import AtMost, HoldsTooMuch

READERS: Final = AtMost(100)  # per person: each checks rights and waits for Valkey
FREE_S = 5  # retry delay for a person with too many readers
IDLE_S = 5.0  # without an event; then readers get None, to send a keep-alive


def require_answer(principal: Principal, session_id: UUID, message_id: UUID) -> None:
    """Require an answer in one of this person's conversations. Raises NotFound."""
    session = get_session(principal, session_id)
    if not session.messages.filter(pk=message_id, role=MessageRole.ASSISTANT).exists():
        raise NotFound(_("There is no such message in this conversation."))


async def follow_run(
    principal: Principal, *, session_id: UUID, message_id: UUID, after: int = -1, is_own: bool = False
) -> AsyncGenerator[LogEntry | None, None]:
    """Yield the events of a run after `after`, to its last; None for each wait without events.

    A reader who leaves changes nothing for the run or for others. Every reader gets the last event, even again. is_own:
    this very request made the run (`agent.runs.start.prepare_run`), so its ownership is known and its first words are the
    question; other reads are audited. Raises NotFound, as `require_answer` does, and TooMany where this person reads
    too many answers at once.
    """
    principal = principal.in_conversation(session_id)
    if not is_own:
        await run_reader_call(_audit_reopening, principal, session_id, message_id)
    with nullcontext() if is_own else _limit_readers(principal):
        async with aclosing(_yield_all_entries(principal, session_id, message_id, after, is_own)) as entries:
            async for entry in entries:
                yield entry


def _audit_reopening(principal: Principal, session_id: UUID, message_id: UUID) -> None:
    """Audit that a finished answer is read again, with its evidence; an unfinished one is audited when it ends."""
    require_answer(principal, session_id, message_id)
    read_message(principal, get_session(principal, session_id), message_id)


@contextmanager
def _limit_readers(principal: Principal) -> Iterator[None]:
    """Count one more reader of this person. Askers are counted where runs are (`agent.runs.start`)."""
    try:
        READERS.take(principal.user_id)
    except HoldsTooMuch:
        raise TooMany(
            _("You have too many answers open at once. Close some of their pages."), retry_after_s=FREE_S
        ) from None
    try:
        yield
    finally:
        READERS.give_back(principal.user_id)


async def _yield_all_entries(
    principal: Principal, session_id: UUID, message_id: UUID, after: int, is_own: bool
) -> AsyncGenerator[LogEntry | None, None]:
    async with (
        open_valkey() as valkey,
        aclosing(
            _yield_log_entries(RunLog(valkey, message_id), principal, session_id, after=after, is_own=is_own)
        ) as logged,
    ):
        async for entry in logged:
            yield entry
            if entry is not None and entry.is_terminal:
                return
    async for entry in _yield_stored_entries(principal, session_id, message_id):
        yield entry


async def _yield_log_entries(
    log: RunLog, principal: Principal, session_id: UUID, *, after: int, is_own: bool
) -> AsyncGenerator[LogEntry | None, None]:
    """Yield the log's events; end without a last event where the run must be retold from the stored message."""
    last = None if is_own else await log.last()
    if last is not None and last.is_terminal and last.seq == after:
        yield last
        return
    seq = after if last is not None and after <= last.seq else -1
    is_finished = last is not None and last.is_terminal
    was_closed = last is None and not is_own and await run_reader_call(_is_stored, log.run_id)
    while not (last is None and was_closed):
        entries = await log.read(after=seq, wait_s=IDLE_S)
        is_question = is_own and [entry.seq for entry in entries] == [0]
        is_place = all(entry.type == "queued" for entry in entries)  # has no text of documents
        readable = [True] * len(entries) if is_question or is_place else await _check_readable(principal, entries)
        if is_finished and not all(readable):
            return
        for place, entry in enumerate(entries):
            if place and entry.has_grounds:  # again: the reader may have been slow with the one before
                readable[place] = all(await _check_readable(principal, [entry]))
            if not readable[place]:
                if not is_finished:
                    yield _make_withheld_entry(session_id, log.run_id, entry.seq)
                return
            yield entry
            seq = entry.seq
        if not entries:
            if was_closed:  # seen twice: the last event is written shortly after the answer is stored
                return
            was_closed = log.run_id not in find_growing_logs() and await run_reader_call(_is_stored, log.run_id)
            yield None


async def _yield_stored_entries(principal: Principal, session_id: UUID, message_id: UUID) -> AsyncIterator[LogEntry]:
    """Yield the stored message as events; restart from the first where a right ends before the last is sent."""
    place, entries = 0, await run_reader_call(replay_entries, principal, session_id, message_id)
    while place < len(entries):
        if place and not all(await _check_readable(principal, entries[place:])):
            place, entries = 0, await run_reader_call(replay_entries, principal, session_id, message_id)
        yield entries[place]
        place += 1


async def _check_readable(principal: Principal, entries: Sequence[LogEntry]) -> list[bool]:
    return await run_reader_call(may_read_grounds, principal, [entry.grounds for entry in entries])


def _is_stored(message_id: UUID) -> bool:
    return Message.objects.filter(pk=message_id, is_complete=True).exists()


def replay_entries(principal: Principal, session_id: UUID, message_id: UUID) -> list[LogEntry]:
    """Return a finished run's events from its stored message, as this person may read it now. Raises NotFound."""
    reader = principal.again()
    session = get_session(reader, session_id)
    shown = get_message(reader, session, message_id)
    question = AgentQuery(content=shown.understood or _find_question(session, shown), done=True)
    events = [question, *_build_events(shown), _make_last_event(shown)]
    chunks = frozenset(citation.passage.chunk_id for citation in shown.citations)
    grounds = Grounds(chunks, frozenset(_build_source_key(query) for query in shown.queries))
    return [
        _make_entry(event, session_id, message_id, seq, grounds if isinstance(event, References | Answer) else None)
        for seq, event in enumerate(events)
    ]


def _build_source_key(query: ShownQuery) -> str:
    return Queried(source=query.source, reach=query.result.reach if query.result else ()).key


def _find_question(session: Session, shown: ShownMessage) -> str:
    assert shown.parent_id is not None, "an answer follows a question"
    return session.messages.filter(pk=shown.parent_id).values_list("content", flat=True).first() or ""


def _build_events(shown: ShownMessage) -> list[Event]:
    events: list[Event] = [Reflection(content=sentence, done=True) for sentence in shown.notice.splitlines()]
    if shown.citations or shown.queries or shown.pages:
        events.append(_make_references(shown))
    if shown.stop_reason != StopReason.TOOL_ERROR:
        facts = {"provider": shown.provider, "readings": list(shown.readings)}
        events += _yield_answer_events(shown, {name: fact for name, fact in facts.items() if fact})
    return events


def _yield_answer_events(shown: ShownMessage, data: dict[str, Any]) -> Iterator[Answer]:
    """Yield the answer as one event per slot, split where checked and unchecked sentences alternate."""
    sentences = [item for item in shown.sentences if not item.is_masked]
    runs = [(facts, list(item)) for facts, item in groupby(sentences, key=_build_sentence_facts)]
    if not shown.sentences or not runs:
        yield Answer(content="" if shown.sentences else shown.content, done=True, data=data)
    for place, (facts, run) in enumerate(runs):
        text = join_sentences((s.gap, CitedSentence(s.text, s.citations).marked) for s in run)
        yield Answer(
            content=f"{(_find_line_breaks(run[0].gap) or ' ') if place else ''}{text}",
            done=place == len(runs) - 1,
            data=data | facts,
        )


def _build_sentence_facts(sentence: ShownSentence) -> dict[str, Any]:
    facts: dict[str, Any] = {"slot": sentence.slot}
    facts |= {} if sentence.is_checked else {"is_checked": False}
    return facts | ({"is_outside": True} if sentence.is_outside else {})


def _find_line_breaks(gap: str) -> str:
    """Return the line breaks of a gap; list markers are in the text already."""
    return gap[: len(gap) - len(gap.lstrip("\n"))]


def _make_last_event(shown: ShownMessage) -> Event:
    if shown.stop_reason == StopReason.TOOL_ERROR:
        return Error(content=shown.content, done=True)
    notices = shown.notice.splitlines()
    return Complete(done=True, data={"stop_reason": shown.stop_reason} | ({"notices": notices} if notices else {}))


def _make_references(shown: ShownMessage) -> References:
    return References(
        knowledge_references=[
            make_passage_reference(c.number, c.passage, c.score, start=c.start, end=c.end).model_copy(
                update={"evidence_id": c.evidence_id}
            )
            for c in shown.citations
        ],
        query_references=[
            QueryReference(
                number=query.number,
                evidence_id=query.evidence_id,
                source=query.source,
                title=query.title,
                snippet=query.result.meaning.headline if query.result else "",
                result=query.result,
            )
            for query in shown.queries
        ],
        web_references=[WebReference.model_validate(page, from_attributes=True) for page in shown.pages],
        done=True,
    )


def _make_withheld_entry(session_id: UUID, message_id: UUID, seq: int) -> LogEntry:
    """Return the last event for a reader who may not read the next one."""
    return _make_entry(
        Error(content=format_unreadable_notice(get_language() or "en"), done=True), session_id, message_id, seq
    )


def _make_entry(event: Event, session_id: UUID, message_id: UUID, seq: int, grounds: Grounds | None = None) -> LogEntry:
    return LogEntry.of(event.placed(seq, session_id, message_id), grounds)
