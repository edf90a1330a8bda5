"""The thread pools in which runs read, search and write.

A run lasts as long as its model's reply, and neither a thread nor a connection may wait with it. So all runs of a
process share a few threads in four lanes, and each thread releases its connection after every call. No call queues
behind longer work of another lane:

- at the front, `run_front_call`: a question is accepted;
- beside it, `run_reader_call`: a reader's rights are checked before each event;
- on the way, `use_own_thread`: the statements of runs, a few milliseconds each;
- at work, `run_cpu_bound_call`: processor-bound work (searches, checks of claims), a few at a time, first come, first served.

Web requests (`run_web_call`) have threads of their own, without a connection, so that no search queues behind a slow server.
A command or a test that waits for its run does all of it in its own thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from functools import partial
from itertools import cycle
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from asgiref.sync import AsyncToSync, ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")
MAX_S = 3.0  # longest wait of a run's work for new questions; two hundred are accepted in that time
WEB_THREADS = 6  # per process, for the web; started on demand
THREADS = 2  # in each of four lanes, with a connection each (copilot_site.lib.load.web_process.RUNS)


class _Releasing(ThreadPoolExecutor):
    """Threads that release their connection after every call."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        return super().submit(_call_and_release, fn, *args, **kwargs)


def _call_and_release(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return fn(*args, **kwargs)
    finally:
        close_old_connections()


_front: Final = _Releasing(THREADS, thread_name_prefix="run-front")
_beside: Final = _Releasing(THREADS, thread_name_prefix="run-reader")
_on_the_way: Final = cycle([_Releasing(1, thread_name_prefix=f"run-{number}") for number in range(THREADS)])
_at_work: Final = _Releasing(THREADS, thread_name_prefix="run-work")
_web: Final = ThreadPoolExecutor(WEB_THREADS, thread_name_prefix="web")
_limit: ContextVar[asyncio.Timeout | None] = ContextVar("limit", default=None)


class _Queues:
    """The queues of one event loop: calls at the front, and turns at work."""

    def __init__(self) -> None:
        self.at_front = 0
        self.front_is_served = asyncio.Event()
        self.turns = asyncio.Semaphore(THREADS)


_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queues] = WeakKeyDictionary()


def _find_loop_queues() -> _Queues:
    return _queues.setdefault(asyncio.get_running_loop(), _Queues())


def has_waiting_thread() -> bool:
    """Return whether a thread is waiting for this loop, perhaps in a transaction of its own."""
    return asyncio.get_running_loop() in AsyncToSync.loop_thread_executors


@asynccontextmanager
async def use_own_thread() -> AsyncIterator[None]:
    """Run `sync_to_async` calls inside the block in one of the threads on the way."""
    if has_waiting_thread():
        yield
        return
    async with ThreadSensitiveContext(executor=next(_on_the_way)):
        yield


async def run_front_call(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one short call at the front; it never queues behind the work of runs."""
    here = _find_loop_queues()
    here.at_front += 1
    here.front_is_served.clear()
    try:
        return await _run_in_threads(_front, fn, *args, **kwargs)
    finally:
        here.at_front -= 1
        if not here.at_front:
            here.front_is_served.set()


async def run_reader_call(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one short call for a run's reader. Readers call many times per question, so questions do not queue with them."""
    return await _run_in_threads(_beside, fn, *args, **kwargs)


async def wait_for_front() -> None:
    """Wait until the front is idle, or MAX_S: questions asked at the same time are all accepted before work begins."""
    here = _find_loop_queues()
    if here.at_front:
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_S):
                await here.front_is_served.wait()


async def run_cpu_bound_call(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one processor-bound call in its turn; the wait does not count against a `limit_time` block."""
    turns = _find_loop_queues().turns
    async with _pause_time_limit():
        await turns.acquire()
    try:
        return await _run_in_threads(_at_work, fn, *args, **kwargs)
    finally:
        turns.release()


async def _run_in_threads(threads: ThreadPoolExecutor, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    if has_waiting_thread():
        return await sync_to_async(fn)(*args, **kwargs)
    return await sync_to_async(fn, thread_sensitive=False, executor=threads)(*args, **kwargs)


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """Limit a block like `asyncio.timeout`, without the time in which `run_cpu_bound_call` waits for a turn. Raises TimeoutError."""
    async with asyncio.timeout(seconds) as limit:
        before = _limit.set(limit)
        try:
            yield
        finally:
            _limit.reset(before)


@asynccontextmanager
async def _pause_time_limit() -> AsyncIterator[None]:
    limit, now = _limit.get(), asyncio.get_running_loop().time
    when = limit.when() if limit else None
    if limit is None or when is None:
        yield
        return
    left = when - now()
    limit.reschedule(None)
    yield
    limit.reschedule(now() + left)


async def run_web_call(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run one call that waits for the web and uses no database."""
    return await asyncio.get_running_loop().run_in_executor(_web, partial(fn, *args, **kwargs))
