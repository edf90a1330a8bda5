"""What goes to a model, and what leaves a run, does so under the rights of that moment.

A run takes seconds, and a right may end in any of them. What was read is looked at again before a model reads it (`keep_visible`,
`require_visible`), and before every event that may carry some of it leaves (`guarded`): one statement with the filter that found it.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from uuid import UUID

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.events import AgentQuery, Complete, Error, Event, Reflection, SessionTitle
from agent.models import StopReason
from agent.state import EvidenceItem, Run
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.selectors import visible_chunk_ids

OURS = (AgentQuery, Reflection, SessionTitle, Complete, Error)  # words of the person and of ours; all else is looked at


class EvidenceGone(CopilotError):
    """What the answer stands on may not be read any more."""


async def guarded(run: Run, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """The events, each let out only while all it may stand on may be read; raises EvidenceGone for the first that may not."""
    async for event in events:
        if not isinstance(event, OURS):
            await sync_to_async(require_visible)(run)
        yield event


def require_visible(run: Run) -> None:
    """Raises EvidenceGone where something that the run's next words may stand on may not be read any more."""
    stands_on = _stands_on(run)
    if stands_on - _visible_now(run, stands_on):
        raise _gone(run)


def keep_visible(run: Run) -> int:
    """Take out of the run's evidence what may not be read any more, for a model to read the rest; how many pieces went.

    Raises EvidenceGone where the person is gone, and where an earlier answer that is told again stands on what went.
    """
    items = {item.evidence_id: UUID(item.source.chunk_id) for item in _allowed(run) if item.source.chunk_id}
    hits = {hit.passage.chunk_id for hit in run.found.hits} if run.found else set()
    remembered = _remembered(run)
    visible = _visible_now(run, {*items.values(), *hits, *remembered})
    if remembered - visible:
        raise _gone(run)
    gone = {evidence_id for evidence_id, chunk_id in items.items() if chunk_id not in visible}
    for item in run.state.evidence_items:
        if item.evidence_id in gone:
            item.authz.result, item.text = "filtered", ""
            run.findings.pop(item.evidence_id, None)
    if run.found is not None:
        run.found = replace(run.found, hits=[hit for hit in run.found.hits if hit.passage.chunk_id in visible])
    return len(gone)


def _stands_on(run: Run) -> set[UUID]:
    """Passages that what leaves now may be made of: those an extractive answer cites; else all that a model was shown."""
    if run.stop_reason != StopReason.OK:
        return set()  # words of our own
    reads = run.model is not None and not run.model_gave_up
    if run.answer is not None and not reads:
        return {span.chunk_id for span in run.answer.citations}
    found = {UUID(item.source.chunk_id) for item in _allowed(run) if item.source.chunk_id}
    return found | (_remembered(run) if reads else set())


def _allowed(run: Run) -> list[EvidenceItem]:
    return [item for item in run.state.evidence_items if item.authz.result == "allow"]


def _remembered(run: Run) -> set[UUID]:
    """Passages that the earlier answers stand on which a model is told."""
    return {chunk_id for turn in run.history for chunk_id in turn.stands_on}


def _visible_now(run: Run, chunk_ids: Iterable[UUID]) -> set[UUID]:
    try:
        run.principal = run.principal.again()
    except NotFound as error:  # disabled, or the token ended
        raise _gone(run) from error
    return visible_chunk_ids(run.principal, chunk_ids)


def _gone(run: Run) -> EvidenceGone:
    with override(run.language):
        return EvidenceGone(_("What you may read changed while this was answered. Ask again."))
