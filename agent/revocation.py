"""Re-check rights whenever text goes to a model or leaves a run.

A run takes seconds, and a right may end in any of them. Evidence is checked again before a model reads it
(`keep_visible`, `require_visible`), and before every event that may contain some of it is sent (`guarded`): one query
with the filter of the search. A model's later words may repeat anything it has read, so its run ends; quotations are
made again from what is still readable.
"""

from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from asgiref.sync import sync_to_async
from django.utils.translation import override

from agent import texts
from agent.events import AgentQuery, Complete, Error, Event, Queued, Reflection, SessionTitle, StopReason
from agent.run_state.run import Run
from agent.run_state.state import EvidenceItem
from authz.principal import Principal
from business.results.visibility import Queried, visible_keys, visible_queries
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.selectors import visible_chunk_ids

OURS = (
    Queued,
    AgentQuery,
    Reflection,
    SessionTitle,
    Complete,
    Error,
)  # the person's words and ours; all other events are checked


class EvidenceGone(CopilotError):
    """The answer's evidence is no longer readable."""


@dataclass(frozen=True)
class Grounds:
    """The sources of an event's words: passages, and results of data sources as `Queried.key`.

    Empty for the person's words and ours.
    """

    chunk_ids: frozenset[UUID] = frozenset()
    sources: frozenset[str] = frozenset()


async def guarded(
    run: Run, events: AsyncIterator[Event | tuple[Event, ...]], *, alone: bool = False
) -> AsyncIterator[Event]:
    """Yield the events, each only while all of its sources are readable; events that come together share one check.

    An event of quotations that are no longer readable is held back: `run.is_held_back` tells the state, which continues
    with the rest. Any other raises EvidenceGone. alone: check each event separately, for a consumer that may be slow
    and does not check again.
    """
    async for item in events:
        together = item if isinstance(item, tuple) else (item,)
        for moment in [(event,) for event in together] if alone else [together]:
            if all(_is_ours(run, event) for event in moment) or await sync_to_async(may_leave)(run):
                for event in moment:
                    yield event
            else:
                run.is_held_back = True


def may_leave(run: Run) -> bool:
    """Return whether all possible sources of the run's next words are readable.

    Raises EvidenceGone where they are not, unless the words are quotations of passages.
    """
    lost = _lost(run)
    if _lost_data(run):
        raise _gone(run)
    if not lost:
        return True
    if not _is_quoted(run):
        raise _gone(run)
    return False


def grounds_of(run: Run, event: Event) -> Grounds:
    """Return the sources of the event that the run yields now, to store with it for later checks."""
    if _is_ours(run, event) or run.stop_reason != StopReason.OK:
        return Grounds()
    return Grounds(frozenset(_stands_on(run)), frozenset(one.key for one in _queried(run)))


def may_read(principal: Principal, grounds: Collection[Grounds]) -> list[bool]:
    """Return for each of them whether this person may read all of it now; False for all where the person is gone."""
    if not grounds:
        return []
    try:
        reader = principal.again()
    except NotFound:
        return [False for _each in grounds]
    chunks = visible_chunk_ids(reader, {chunk_id for ground in grounds for chunk_id in ground.chunk_ids})
    sources = visible_keys(reader, {key for ground in grounds for key in ground.sources})
    return [ground.chunk_ids <= chunks and ground.sources <= sources for ground in grounds]


def _is_ours(run: Run, event: Event) -> bool:
    """Return whether the event has only the person's words and ours.

    A model that completes their question has read earlier answers.
    """
    if isinstance(event, AgentQuery):
        return event.content == run.question or not _reads(run)
    return isinstance(event, OURS)


def require_visible(run: Run) -> None:
    """Require that all possible sources of the run's next words are still readable. Raises EvidenceGone."""
    if _lost(run) or _lost_data(run):
        raise _gone(run)


def cut_answer(run: Run) -> None:
    """Remove unreadable text from the delivered quotations, and add a notice; raises EvidenceGone where nothing stays."""
    lost, answer = _lost(run), run.answer
    run.is_held_back = False
    if not lost or answer is None:
        return
    rest = answer.without({span.number for span in answer.citations if span.chunk_id in lost})
    if not rest.citations and not rest.queries and not rest.pages:
        raise _gone(run)
    run.deliver(rest, run.state.draft.confidence)
    with override(run.language):
        run.tell(str(texts.LEFT_OUT_BY_RIGHTS))


def keep_visible(run: Run) -> int:
    """Remove unreadable evidence from the run before a model reads it; return the number of pieces removed.

    Raises EvidenceGone where the person is gone, and where a repeated earlier answer depends on a removed piece.
    """
    items = {item.evidence_id: UUID(item.source.chunk_id) for item in _allowed(run) if item.source.chunk_id}
    hits = {hit.passage.chunk_id for hit in run.found.hits} if run.found else set()
    remembered = _remembered(run)
    visible = _visible_now(run, {*items.values(), *hits, *remembered})
    if remembered - visible:
        raise _gone(run)
    gone = {evidence_id for evidence_id, chunk_id in items.items() if chunk_id not in visible}
    lost = _lost_data(run)
    if lost & _remembered_results(run):
        raise _gone(run)
    gone |= {evidence_id for evidence_id, finding in run.findings.items() if finding.queried in lost}
    for item in run.state.evidence_items:
        if item.evidence_id in gone:
            item.authz.result, item.text = "filtered", ""
            run.findings.pop(item.evidence_id, None)
    if run.found is not None:
        run.found = replace(run.found, hits=[hit for hit in run.found.hits if hit.passage.chunk_id in visible])
    return len(gone)


def _lost(run: Run) -> set[UUID]:
    """Return the unreadable passages among the possible sources of the run's next words.

    Raises EvidenceGone where the person is gone.
    """
    stands_on = _stands_on(run)
    return stands_on - _visible_now(run, stands_on)


def _queried(run: Run) -> set[Queried]:
    """Return the query results that the run's next words may use."""
    if run.stop_reason != StopReason.OK:
        return set()
    found = {queried for finding in run.findings.values() if (queried := finding.queried)}
    return found | (_remembered_results(run) if _reads(run) else set())


def _lost_data(run: Run) -> set[Queried]:
    """Return the results that the person may no longer see, by the rights read last."""
    queried = _queried(run)
    return queried - visible_queries(run.principal, queried)


def _stands_on(run: Run) -> set[UUID]:
    """Return the passages that the run's next words may use: those cited by an extractive answer.

    Else all shown to a model.
    """
    if run.stop_reason != StopReason.OK:
        return set()  # words of our own
    if run.answer is not None and not _reads(run):
        return {span.chunk_id for span in run.answer.citations}
    found = {UUID(item.source.chunk_id) for item in _allowed(run) if item.source.chunk_id}
    return found | (_remembered(run) if _reads(run) else set())


def _reads(run: Run) -> bool:
    """Return whether a model takes part in the run: anything it has read may be in its words.

    Quoted passages are not its words.
    """
    return not run.is_by_words and not (run.answer is not None and run.answer.kind)


def _is_quoted(run: Run) -> bool:
    return run.answer is not None and not _reads(run)


def _allowed(run: Run) -> list[EvidenceItem]:
    return [item for item in run.state.evidence_items if item.authz.result == "allow"]


def _remembered(run: Run) -> set[UUID]:
    """Return the passages cited by the earlier answers in the model's history."""
    return {chunk_id for turn in run.history for chunk_id in turn.stands_on}


def _remembered_results(run: Run) -> set[Queried]:
    """Return the results cited by the earlier answers in the model's history."""
    return {queried for turn in run.history for queried in turn.queried}


def _visible_now(run: Run, chunk_ids: Iterable[UUID]) -> set[UUID]:
    try:
        run.principal = run.principal.again()
    except NotFound as error:  # disabled, or the token ended
        raise _gone(run) from error
    return visible_chunk_ids(run.principal, chunk_ids)


def _gone(run: Run) -> EvidenceGone:
    return EvidenceGone(changed(run.language))


def changed(language: str) -> str:
    """Return the sentence shown instead of text that is no longer readable."""
    with override(language):
        return str(texts.RIGHTS_CHANGED)
