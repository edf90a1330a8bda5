"""Start a run, walk it, store what came of it, and write down what clients receive.

A run belongs to the server: `launch` walks it in a task of its own and writes its log (`agent.runs.log`), and whoever wants to see it
reads that (`agent.runs.subscription`). `ask` gives the same events to one caller without a log, and ends when that caller goes away.
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
from redis.exceptions import RedisError

from agent.events import AgentQuery, Complete, Error, Event, Queued, SessionTitle, Stop
from agent.models import Message, StopReason
from agent.profiles import Options
from agent.revocation import Grounds, grounds_of, guarded
from agent.runs.admission import place_in_words
from agent.runs.batching import Batches
from agent.runs.leases import held
from agent.runs.log import Entry, Growth, LogLost, RunLog, connected, growing_here
from agent.runs.persistence import begin, fail, finish, stopped
from agent.runs.threads import front_served, in_thread, is_waited_for, own_thread
from agent.state import Run
from agent.states import STATES
from agent.workflow import walk
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from knowledge.retrieval.search import Scope

log = structlog.get_logger(__name__)
_launched: dict[UUID, asyncio.Task[None]] = {}  # by answer; a loop keeps tasks weakly


async def ask(
    principal: Principal,
    *,
    session_id: UUID,
    question: str,
    scope: Scope | None = None,
    language: str = "en",
    options: Options | None = None,
) -> AsyncIterator[Event]:
    """Answer one question in a conversation of this person, yielding events with gapless `seq`; the last is Complete or Error.

    language: of the words that are ours (refusals, errors), `en` or `zh-hans`. options: profile, model, title. The audit has
    the question before the first event, and the stored answer before the last one. Raises NotFound (not their conversation, no
    such profile) and InvalidInput (no question, too long, no such model) before anything is stored.
    """
    run = await sync_to_async(begin)(
        principal, session_id, question, scope=scope or Scope(), language=language, options=options or Options()
    )
    try:
        async with held(run.message_id, _nobody_stops_it), aclosing(_events(run, alone=True)) as events:
            seq = 0
            async for event in events:
                yield event.placed(seq, run.session_id, run.message_id)
                seq += 1
    finally:
        if run.ticket:
            run.ticket.leave()


async def start(
    principal: Principal, session_id: UUID, question: str, *, scope: Scope, language: str, options: Options
) -> Run:
    """Store the question and launch its run; whoever goes away meanwhile has asked all the same. Raises what `begin` raises."""

    async def started() -> Run:
        run = await in_thread(begin, principal, session_id, question, scope=scope, language=language, options=options)
        if not is_waited_for():  # else this loop ends before the run: whoever follows it launches it
            launch(run)
        return run

    return await asyncio.shield(asyncio.create_task(started()))


def launch(run: Run) -> UUID:
    """Walk a run that `begin` made, in the running loop, whoever reads it; returns the id of its answer. Twice is as once."""
    if run.message_id not in _launched and not run.is_over:
        _launched[run.message_id] = task = asyncio.create_task(_supervised(run), name=f"run {run.message_id}")
        task.add_done_callback(lambda _task: _launched.pop(run.message_id))
        growing_here()[run.message_id] = Growth()
        task.add_done_callback(lambda _task: growing_here().pop(run.message_id))
    return run.message_id


async def complete(run: Run) -> UUID:
    """The same, and wait for its end. Whoever leaves meanwhile does not end it; whoever stops it does."""
    if not run.is_over:
        await asyncio.shield(_launched[launch(run)])
    return run.message_id


async def _supervised(run: Run) -> None:
    """The whole life of a run: its place, its lease, its walk and its log."""
    try:
        await _led(run)
    finally:
        run.is_over = True
        if run.ticket:
            run.ticket.leave()


async def _led(run: Run) -> None:
    batches = Batches()
    walking: asyncio.Task[None] | None = None
    try:
        async with connected() as valkey, held(run.message_id, lambda: walking and walking.cancel()):
            walking = asyncio.create_task(_walked(run, batches), name=f"walk {run.message_id}")
            await _written(run, batches, RunLog(valkey, run.message_id))
            await walking
    except Exception as error:
        log.exception("run.lost", run=str(run.message_id))
        with suppress(Exception):  # what cannot be closed here is closed by the reaper
            await in_thread(fail, run, time.monotonic(), error)


async def _walked(run: Run, batches: Batches) -> None:
    """Walk to the end, or to where somebody stops it; what was written before that is stored, and the last events say so."""
    try:
        async with own_thread():
            try:
                async with aclosing(_events(run)) as events:
                    async for event in events:
                        batches.put(event, grounds_of(run, event))
                        if isinstance(event, AgentQuery):  # the first: whoever asked knows that it is taken
                            await front_served()
            except CancelledError:
                for event in await sync_to_async(_endings)(run):
                    batches.put(event, Grounds())
    finally:
        batches.end()


async def _written(run: Run, batches: Batches, log_of_run: RunLog) -> None:
    """Write the events down as they come. Without a log the run goes on: its answer is stored."""
    seq = 0
    try:
        async for pieces in batches:
            numbers = count(seq)
            entries = [
                Entry.of(event.placed(next(numbers), run.session_id, run.message_id), grounds)
                for event, grounds in pieces
            ]
            await log_of_run.append(entries)
            seq += len(entries)
    except (LogLost, RedisError):
        log.warning("run.log_lost", run=str(run.message_id), exc_info=True)


def _endings(run: Run) -> list[Event]:
    """The last events of a run that was interrupted, as it was stored; none where it could not be."""
    row = Message.objects.filter(pk=run.message_id, is_complete=True).first()
    if row is None:
        return []
    ending = Complete(done=True, data=_ending(StopReason(row.stop_reason), row.notice.splitlines()))
    if row.stop_reason == StopReason.CANCELLED:
        return [Stop(content=stopped(run.language), done=True), ending]
    return [ending]


async def _events(run: Run, *, alone: bool = False) -> AsyncGenerator[Event, None]:
    """alone: as `guarded` has it; readers of a log are looked at again before each event."""
    began = time.monotonic()
    last: Event
    try:
        async for queued in _turn(run):
            yield queued
        began = run.spent.began = time.monotonic()  # what it waited is no work
        async for event in guarded(run, walk(run, STATES), alone=alone):
            yield event
        title = await sync_to_async(finish)(run, began)
        if title:
            yield SessionTitle(content=title, done=True)
        last = Complete(done=True, data=_ending(run.stop_reason, run.notices))
    except Exception as error:
        if not isinstance(error, CopilotError):
            log.exception("run.failed", run=str(run.message_id))
        last = Error(content=await sync_to_async(fail)(run, began, error), done=True)
    except (GeneratorExit, CancelledError) as gone:  # it was stopped, or whoever listened went away
        await sync_to_async(fail)(run, began, gone)
        raise
    finally:
        if run.model:
            await run.model.aclose()
    yield last


async def _turn(run: Run) -> AsyncIterator[Queued]:
    """Wait for the run's place, without a thread and without a connection."""
    if run.ticket is None:
        return
    async with aclosing(run.ticket.turn()) as places:
        async for before in places:
            yield Queued(content=place_in_words(before, run.language), data={"before": before})


def _ending(stop_reason: StopReason, notices: Sequence[str]) -> dict[str, object]:
    """What the last event says of a run; notices only where there are any."""
    ending: dict[str, object] = {"stop_reason": stop_reason.value}
    return ending | ({"notices": list(notices)} if notices else {})


def _nobody_stops_it() -> None:
    """Whoever listens to it ends it by going away."""
