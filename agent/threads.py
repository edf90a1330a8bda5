"""The threads in which runs read and write the database.

A run lasts as long as its model talks, and a connection must not wait with it. So all runs of a process share a few threads, and
each gives its connection back after every call. A command or a test that waits for its run does the work in its own thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import AsyncToSync, ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")
THREADS = 4  # of a pool of ten connections (COPILOT_DB_POOL): pages and searches have the rest


class _Releasing(ThreadPoolExecutor):
    """One thread that holds no connection between two calls."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        return super().submit(_released, fn, *args, **kwargs)


def _released(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return fn(*args, **kwargs)
    finally:
        close_old_connections()


_threads = cycle([_Releasing(1, thread_name_prefix=f"run-{number}") for number in range(THREADS)])


def _is_waited_for() -> bool:
    """Whether somebody's thread waits for this loop, perhaps in a transaction of its own."""
    return asyncio.get_running_loop() in AsyncToSync.loop_thread_executors


async def let_go() -> None:
    """Give back the connection of the request that is served, which will not need it while it streams."""
    if not _is_waited_for():
        await sync_to_async(close_old_connections)()


@asynccontextmanager
async def own_thread() -> AsyncIterator[None]:
    """`sync_to_async` inside the block works in one of the threads of runs."""
    if _is_waited_for():
        yield
        return
    async with ThreadSensitiveContext(executor=next(_threads)):
        yield


async def in_thread(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """One call in one of these threads; for generators, which must not leave their callers in another context."""
    async with own_thread():
        return await sync_to_async(fn)(*args, **kwargs)
