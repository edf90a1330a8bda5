"""Threads of their own for what waits for the web: a search of documents never queues behind somebody's slow server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
THREADS = 6  # of a process; each is begun when it is needed
_pool: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="web")


async def outside(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """One call that waits for the web and touches no database."""
    return await asyncio.get_running_loop().run_in_executor(_pool, partial(fn, *args, **kwargs))
