"""Re-check rights whenever text goes to a model or leaves a run.

A run takes seconds, and a right may end in any of them. Evidence is checked again before a model reads it
(`remove_unreadable_evidence`, `require_readable_sources`), and before every event that may contain some of it is sent
(`iterate_readable_events`): one query with the filter of the search. A model's later words may repeat anything it has read, so
its run ends; quotations are
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
from knowledge.selectors import filter_visible_passage_ids

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


async def iterate_readable_events(
    run: Run, events: AsyncIterator[Event | tuple[Event, ...]], *, alone: bool = False
) -> AsyncIterator[Event]:
    """Yield the events, each only while all of its sources are readable; events that come together share one check.

    Events of quotations that are no longer readable are held back: `run.held_back` tells the state, which continues
    with the rest. Any others raise EvidenceGone. alone: check each event separately, for a consumer that may be slow
    and does not check again.
    """
    async for item in events:
        together = item if isinstance(item, tuple) else (item,)
        run.held_back = together
        for moment in [(event,) for event in together] if alone else [together]:
            is_own = all(_has_only_own_words(run, event) for event in moment)
            if not is_own and not await sync_to_async(may_send_next_words)(run):
                break
            run.held_back = run.held_back[len(moment) :]
            for event in moment:
                yield event


def may_send_next_words(run: Run) -> bool:
    """Return whether all possible sources of the run's next words are readable.

    Raises EvidenceGone where they are not, unless the words are quotations of passages.
    """
    lost = _find_unreadable_passages(run)
    if _find_unreadable_results(run):
        raise _build_gone_error(run)
    if not lost:
        return True
    if not _is_extractive_answer(run):
        raise _build_gone_error(run)
    return False


def list_event_grounds(run: Run, event: Event) -> Grounds:
    """Return the sources of the event that the run yields now, to store with it for later checks."""
    if _has_only_own_words(run, event) or run.stop_reason != StopReason.OK:
        return Grounds()
    return Grounds(frozenset(_list_usable_passages(run)), frozenset(one.key for one in _list_usable_results(run)))


def may_read_grounds(principal: Principal, grounds: Collection[Grounds]) -> list[bool]:
    """Return for each of them whether this person may read all of it now; False for all where the person is gone."""
    if not grounds:
        return []
    try:
        reader = principal.again()
    except NotFound:
        return [False for _each in grounds]
    chunks = filter_visible_passage_ids(reader, {chunk_id for ground in grounds for chunk_id in ground.chunk_ids})
    sources = visible_keys(reader, {key for ground in grounds for key in ground.sources})
    return [ground.chunk_ids <= chunks and ground.sources <= sources for ground in grounds]


def _has_only_own_words(run: Run, event: Event) -> bool:
    """Return whether the event has only the person's words and ours.

    A model that completes their question has read earlier answers.
    """
    if isinstance(event, AgentQuery):
        return event.content == run.question or not _has_model_reader(run)
    return isinstance(event, OURS)


def require_readable_sources(run: Run) -> None:
    """Require that all possible sources of the run's next words are still readable. Raises EvidenceGone."""
    if _find_unreadable_passages(run) or _find_unreadable_results(run):
        raise _build_gone_error(run)


def cut_unreadable_quotations(run: Run) -> None:
    """Remove unreadable text from the delivered quotations, and add a notice; raises EvidenceGone where nothing stays."""
    lost, answer = _find_unreadable_passages(run), run.answer
    if not lost or answer is None:
        return
    rest = answer.without({span.number for span in answer.citations if span.chunk_id in lost})
    if not rest.citations and not rest.queries and not rest.pages:
        raise _build_gone_error(run)
    run.deliver(rest, run.state.draft.confidence)
    with override(run.language):
        run.tell(str(texts.LEFT_OUT_BY_RIGHTS))


def remove_unreadable_evidence(run: Run) -> int:
    """Remove unreadable evidence from the run before a model reads it; return the number of pieces removed.

    Raises EvidenceGone where the person is gone, and where a repeated earlier answer depends on a removed piece.
    """
    items = {
        item.evidence_id: UUID(item.source.chunk_id) for item in _list_allowed_evidence(run) if item.source.chunk_id
    }
    hits = {hit.passage.chunk_id for hit in run.found.hits} if run.found else set()
    remembered = _list_remembered_passages(run)
    visible = _find_visible_passages(run, {*items.values(), *hits, *remembered})
    if remembered - visible:
        raise _build_gone_error(run)
    gone = {evidence_id for evidence_id, chunk_id in items.items() if chunk_id not in visible}
    lost = _find_unreadable_results(run)
    if lost & _list_remembered_results(run):
        raise _build_gone_error(run)
    gone |= {evidence_id for evidence_id, finding in run.findings.items() if finding.queried in lost}
    for item in run.state.evidence_items:
        if item.evidence_id in gone:
            item.authz.result, item.text = "filtered", ""
            run.findings.pop(item.evidence_id, None)
    if run.found is not None:
        run.found = replace(run.found, hits=[hit for hit in run.found.hits if hit.passage.chunk_id in visible])
    return len(gone)


def _find_unreadable_passages(run: Run) -> set[UUID]:
    """Return the unreadable passages among the possible sources of the run's next words.

    Raises EvidenceGone where the person is gone.
    """
    stands_on = _list_usable_passages(run)
    return stands_on - _find_visible_passages(run, stands_on)


def _list_usable_results(run: Run) -> set[Queried]:
    """Return the query results that the run's next words may use."""
    if run.stop_reason != StopReason.OK:
        return set()
    found = {queried for finding in run.findings.values() if (queried := finding.queried)}
    return found | (_list_remembered_results(run) if _has_model_reader(run) else set())


def _find_unreadable_results(run: Run) -> set[Queried]:
    """Return the results that the person may no longer see, by the rights read last."""
    queried = _list_usable_results(run)
    return queried - visible_queries(run.principal, queried)


def _list_usable_passages(run: Run) -> set[UUID]:
    """Return the passages that the run's next words may use: those cited by an extractive answer.

    Else all shown to a model.
    """
    if run.stop_reason != StopReason.OK:
        return set()  # words of our own
    if run.answer is not None and not _has_model_reader(run):
        return {span.chunk_id for span in run.answer.citations}
    found = {UUID(item.source.chunk_id) for item in _list_allowed_evidence(run) if item.source.chunk_id}
    return found | (_list_remembered_passages(run) if _has_model_reader(run) else set())


def _has_model_reader(run: Run) -> bool:
    """Return whether a model takes part in the run: anything it has read may be in its words.

    Quoted passages are not its words.
    """
    return not run.is_by_words and not (run.answer is not None and run.answer.kind)


def _is_extractive_answer(run: Run) -> bool:
    return run.answer is not None and not _has_model_reader(run)


def _list_allowed_evidence(run: Run) -> list[EvidenceItem]:
    return [item for item in run.state.evidence_items if item.authz.result == "allow"]


def _list_remembered_passages(run: Run) -> set[UUID]:
    """Return the passages cited by the earlier answers in the model's history."""
    return {chunk_id for turn in run.history for chunk_id in turn.stands_on}


def _list_remembered_results(run: Run) -> set[Queried]:
    """Return the results cited by the earlier answers in the model's history."""
    return {queried for turn in run.history for queried in turn.queried}


def _find_visible_passages(run: Run, chunk_ids: Iterable[UUID]) -> set[UUID]:
    try:
        run.principal = run.principal.again()
    except NotFound as error:  # disabled, or the token ended
        raise _build_gone_error(run) from error
    return filter_visible_passage_ids(run.principal, chunk_ids)


def _build_gone_error(run: Run) -> EvidenceGone:
    return EvidenceGone(format_unreadable_notice(run.language))


def format_unreadable_notice(language: str) -> str:
    """Return the sentence shown instead of text that is no longer readable."""
    with override(language):
        return str(texts.RIGHTS_CHANGED)
