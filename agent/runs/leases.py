"""Leases of runs and requests to stop them: keys in Valkey, readable by every process.

A process renews the leases of its runs while it lives; a run without a lease, or with the lease of a process of this machine
that ended, has lost its process (`agent.runs.reaper`). A stop request is a key too, so that it reaches the run in any process,
and is not lost while that process is busy.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from uuid import UUID
from weakref import WeakKeyDictionary

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from agent.runs.log import open_valkey
from copilot_site.lib.process_names import find_process_name

LOOK_S = 0.4  # between two checks for stop requests: a stop reaches the model within a second
LEASE_S = 20  # without a renewal; a loaded machine may miss many checks
RENEWALS = 5  # in that time
STOP_S = 60  # lifetime of a stop request

log = structlog.get_logger(__name__)
Stop = Callable[[], object]


def build_lease_key(run_id: UUID) -> str:
    return f"run:{run_id}:lease"


def build_stop_key(run_id: UUID) -> str:
    return f"run:{run_id}:stop"


def build_missing_key(run_id: UUID) -> str:
    """Return the key that exists while the reaper has seen the lease missing."""
    return f"run:{run_id}:missing"


async def request_stop(run_id: UUID) -> None:
    """Ask the run's process to stop it within a second; at once where it runs in this loop."""
    watch = _watches.get(asyncio.get_running_loop())
    if watch is not None and watch.stop(run_id):
        return
    async with open_valkey() as valkey:
        await valkey.set(build_stop_key(run_id), "1", ex=STOP_S)


@asynccontextmanager
async def hold_lease(run_id: UUID, stop: Stop) -> AsyncIterator[None]:
    """Hold the run's lease while the block runs. stop: called once, in this event loop, on a stop request."""
    watch = _watches.setdefault(asyncio.get_running_loop(), _Watch())
    await watch.take(run_id, stop)
    try:
        yield
    finally:
        await watch.leave(run_id)


class _Watch:
    """The runs of one event loop: one connection and one task for all of them, while there are any."""

    def __init__(self) -> None:
        self._runs: dict[UUID, Stop] = {}
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._renewal_at = 0.0

    async def take(self, run_id: UUID, stop: Stop) -> None:
        async with open_valkey() as valkey:
            await valkey.set(build_lease_key(run_id), find_process_name(os.getpid()), ex=LEASE_S)
        self._runs[run_id] = stop
        if self._task is None or self._task.done():
            self._over = asyncio.Event()
            self._task = asyncio.create_task(self._watch_runs(self._over))

    def stop(self, run_id: UUID) -> bool:
        """Stop a run of this loop, once; return whether it was one."""
        if run_id not in self._runs:
            return False
        stop, self._runs[run_id] = self._runs[run_id], _ignore_stop_request
        stop()
        return True

    async def leave(self, run_id: UUID) -> None:
        self._runs.pop(run_id, None)
        if not self._runs and self._task is not None:
            task, self._task = self._task, None  # the next run starts a new task
            self._over.set()  # redis-py may swallow a cancellation
            await task
        with suppress(RedisError):  # both end by themselves
            async with open_valkey() as valkey:
                await valkey.delete(build_lease_key(run_id), build_stop_key(run_id))

    async def _watch_runs(self, over: asyncio.Event) -> None:
        """Renew leases and check for stop requests until the watch ends; retry while Valkey is unavailable."""
        while not over.is_set():
            try:
                async with open_valkey() as valkey:
                    while not over.is_set():
                        await self._renew_and_check(valkey)
                        await _wait_for_next_check(over)
            except RedisError:
                log.warning("runs.leases_unreachable", runs=len(self._runs), exc_info=True)
                await _wait_for_next_check(over)

    async def _renew_and_check(self, valkey: Redis) -> None:
        runs = list(self._runs)
        if not runs:
            return
        pipeline = valkey.pipeline(transaction=False)
        pipeline.mget([build_stop_key(run_id) for run_id in runs])
        is_due = time.monotonic() >= self._renewal_at
        for run_id in runs if is_due else ():
            pipeline.set(build_lease_key(run_id), find_process_name(os.getpid()), ex=LEASE_S)
        wishes, *_renewed = await pipeline.execute()
        if is_due:
            self._renewal_at = time.monotonic() + LEASE_S / RENEWALS
        for run_id, wish in zip(runs, wishes, strict=True):
            if wish:
                self.stop(run_id)


async def _wait_for_next_check(over: asyncio.Event) -> None:
    """Wait until the next check, or the end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_S):
            await over.wait()


def _ignore_stop_request() -> None:
    """Do nothing: a run is asked to stop once."""


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch] = WeakKeyDictionary()
