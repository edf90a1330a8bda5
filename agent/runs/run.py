"""A run: launched, walked, stored at its end, and logged for its readers.

A run belongs to the server, not to its asker: `launch_run` starts it as a task of its own, which writes its log
(`agent.runs.log`); readers use `agent.runs.follow`. Each run has two tasks: one walks the states, one writes.
"""

import asyncio
import time
from asyncio import CancelledError
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from itertools import count
from uuid import UUID

import structlog
from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from redis.exceptions import RedisError

from agent.events import AgentQuery, Answer, Complete, Error, Event, Queued, SessionTitle, Stop, StopReason
from agent.models import Message
from agent.revocation import Grounds, iterate_readable_events, list_event_grounds
from agent.run_state.measures import FIRST_SENTENCE_S
from agent.run_state.run import Run
from agent.run_state.threads import run_front_call, use_own_thread, wait_for_front
from agent.runs.leases import hold_lease
from agent.runs.log import Batches, Growth, LogEntry, LogLost, RunLog, find_growing_logs, open_valkey
from agent.runs.persistence import format_stopped_sentence, store_failed_run, store_finished_run
from agent.states import STATES
from agent.workflow import walk_states
from copilot_site.lib.errors import CopilotError

log = structlog.get_logger(__name__)
_launched: dict[UUID, asyncio.Task[None]] = {}  # by answer; the loop holds tasks by weak references only


def launch_run(run: Run) -> UUID:
    """Walk a run that `begin` made, in the running loop, independently of its readers; return the id of its answer.

    Launching twice has no further effect.
    """
    if run.message_id not in _launched and not run.is_over:
        _launched[run.message_id] = task = asyncio.create_task(_run_to_end(run), name=f"run {run.message_id}")
        task.add_done_callback(lambda _task: _launched.pop(run.message_id))
        find_growing_logs()[run.message_id] = Growth()
        task.add_done_callback(lambda _task: find_growing_logs().pop(run.message_id))
    return run.message_id


async def complete_run(run: Run) -> UUID:
    """Launch a run, and wait for its end. A caller that leaves does not end it; only a stop request does."""
    if not run.is_over:
        await asyncio.shield(_launched[launch_run(run)])
    return run.message_id


async def _run_to_end(run: Run) -> None:
    """Carry a run through its whole life: under its lease, one task walks it, and this one writes its log."""
    batches = Batches()
    walking: asyncio.Task[None] | None = None
    try:
        async with open_valkey() as valkey, hold_lease(run.message_id, lambda: walking and walking.cancel()):
            walking = asyncio.create_task(_walk_states(run, batches), name=f"walk {run.message_id}")
            await _write_log(run, batches, RunLog(valkey, run.message_id))
            await walking
    except Exception as error:
        log.exception("run.lost", run=str(run.message_id))
        with suppress(Exception):  # the reaper closes it otherwise
            await run_front_call(store_failed_run, run, time.monotonic(), error)
    finally:
        run.is_over = True
        if run.ticket:
            run.ticket.leave()


async def _walk_states(run: Run, batches: Batches) -> None:
    """Walk to the end, or until stopped; what was written by then is stored, and the last events say so."""
    try:
        async with use_own_thread():
            try:
                async with aclosing(iterate_run_events(run)) as events:
                    async for event in events:
                        batches.put(event, list_event_grounds(run, event))
                        if isinstance(event, AgentQuery):  # the first event: the question was accepted
                            await wait_for_front()
            except CancelledError:
                for event in await sync_to_async(_load_last_events)(run):
                    batches.put(event, Grounds())
    finally:
        batches.end()


async def _write_log(run: Run, batches: Batches, log_of_run: RunLog) -> None:
    """Write the events to the log as they come. Without a log the run continues: its answer is stored."""
    seq = 0
    try:
        async for pieces in batches:
            numbers = count(seq)
            entries = [
                LogEntry.of(event.placed(next(numbers), run.session_id, run.message_id), grounds)
                for event, grounds in pieces
            ]
            await log_of_run.append(entries)
            seq += len(entries)
    except (LogLost, RedisError):
        log.warning("run.log_lost", run=str(run.message_id), exc_info=True)


def _load_last_events(run: Run) -> list[Event]:
    """Return the last events of an interrupted run, as stored; none where it could not be stored."""
    row = Message.objects.filter(pk=run.message_id, is_complete=True).first()
    if row is None:
        return []
    ending = Complete(done=True, data=_build_ending_data(StopReason(row.stop_reason), row.notice.splitlines()))
    if row.stop_reason == StopReason.CANCELLED:
        return [Stop(content=format_stopped_sentence(run.language), done=True), ending]
    return [ending]


async def iterate_run_events(run: Run, *, alone: bool = False) -> AsyncGenerator[Event, None]:
    """Yield a run's events, from its wait to its end, which is stored before the last event: Complete or Error.

    alone: as in `iterate_readable_events`; for readers of a log rights are checked again before each event.
    """
    asked_at = began = time.monotonic()
    is_silent = True
    last: Event
    try:
        async for queued in _wait_for_turn(run):
            yield queued
        began = run.spent.began = time.monotonic()  # waiting time does not count
        async for event in iterate_readable_events(run, walk_states(run, STATES), alone=alone):
            if is_silent and isinstance(event, Answer) and event.content:
                is_silent = False
                FIRST_SENTENCE_S.observe(time.monotonic() - asked_at)
            yield event
        await sync_to_async(store_finished_run)(run, began)
        if run.title:
            yield SessionTitle(content=run.title, done=True)
        last = Complete(done=True, data=_build_ending_data(run.stop_reason, run.notices))
    except Exception as error:
        if not isinstance(error, CopilotError):
            log.exception("run.failed", run=str(run.message_id))
        last = Error(content=await sync_to_async(store_failed_run)(run, began, error), done=True)
    except (GeneratorExit, CancelledError) as gone:  # stopped, or the consumer left
        await sync_to_async(store_failed_run)(run, began, gone)
        raise
    finally:
        await run.close_models()
    yield last


async def _wait_for_turn(run: Run) -> AsyncIterator[Queued]:
    """Wait for the run's place, without a thread or a connection."""
    if run.ticket is None:
        return
    async with aclosing(run.ticket.turn()) as places:
        async for before in places:
            yield Queued(content=describe_queue_place(before, run.language), data={"before": before})


def describe_queue_place(before: int, language: str) -> str:
    """Return the sentence for a waiting person. before: number of questions that start before theirs."""
    with override(language):
        if not before:
            return _("Others are being answered; you are next.")
        return ngettext("%(count)d question before yours.", "%(count)d questions before yours.", before) % {
            "count": before
        }


def _build_ending_data(stop_reason: StopReason, notices: Sequence[str]) -> dict[str, object]:
    """Return the data of a run's last event; notices only where there are any."""
    ending: dict[str, object] = {"stop_reason": stop_reason.value}
    return ending | ({"notices": list(notices)} if notices else {})
