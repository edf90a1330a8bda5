"""Three lanes of threads: who waits at the front waits for nobody's work, and a turn that is waited for costs no tool its time."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from asgiref.sync import sync_to_async

from agent.run_state import threads
from agent.run_state.threads import (
    limit_time,
    run_cpu_bound_call,
    run_front_call,
    run_reader_call,
    use_own_thread,
    wait_for_front,
)

R = TypeVar("R")


@contextmanager
def held_up() -> Iterator[Callable[[], bool]]:
    """A call that lasts as long as the block; it gives up after a minute, so that no failing test hangs."""
    end = threading.Event()
    try:
        yield lambda: end.wait(60)
    finally:
        end.set()


async def begun(*calls: Coroutine[Any, Any, R]) -> list[asyncio.Task[R]]:
    """These calls as tasks that have come to where they wait."""
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    return tasks


def test_the_front_is_served_while_all_threads_at_work_are_taken() -> None:
    async def scene() -> str:
        with held_up() as work:
            busy = await begun(*(run_cpu_bound_call(work) for _number in range(3 * threads.THREADS)))
            name = await run_front_call(lambda: threading.current_thread().name)
        await asyncio.gather(*busy)
        return name

    assert asyncio.run(scene()).startswith("run-front")


def test_questions_are_taken_while_readers_wait_for_their_turn() -> None:
    async def scene() -> tuple[str, list[bool]]:
        with held_up() as look:
            readers = await begun(*(run_reader_call(look) for _number in range(3 * threads.THREADS)))
            name = await run_front_call(lambda: threading.current_thread().name)
            await wait_for_front()  # readers are nobody to wait for
            waiting = [reader.done() for reader in readers]
        await asyncio.gather(*readers)
        return name, waiting

    name, waiting = asyncio.run(scene())
    assert name.startswith("run-front")
    assert not any(waiting)


def test_the_statements_of_runs_go_on_while_all_threads_at_work_are_taken() -> None:
    async def scene() -> str:
        with held_up() as work:
            busy = await begun(*(run_cpu_bound_call(work) for _number in range(3 * threads.THREADS)))
            async with use_own_thread():
                name = await sync_to_async(lambda: threading.current_thread().name)()
        await asyncio.gather(*busy)
        return name

    assert asyncio.run(scene()).startswith("run-")


def test_a_limit_does_not_count_the_time_before_a_turn() -> None:
    async def scene() -> str:
        with held_up() as work:
            busy = await begun(*(run_cpu_bound_call(work) for _number in range(threads.THREADS)))
            limits: list[asyncio.Timeout] = []

            async def tool() -> str:
                async with limit_time(30):
                    limits.append(threads._limit.get())  # type: ignore[arg-type]  # set by `limit_time`
                    return await run_cpu_bound_call(lambda: "done")

            (waiting,) = await begun(tool())
            assert limits[0].when() is None, "the clock stands while it waits"
        await asyncio.gather(*busy)
        answer: str = await waiting
        assert limits[0].when() is not None, "and goes on when its turn has come"
        return answer

    assert asyncio.run(scene()) == "done"


def test_a_limit_counts_the_work_itself() -> None:
    async def scene() -> None:
        with held_up() as work:
            async with limit_time(0.01):
                await run_cpu_bound_call(work)

    with pytest.raises(TimeoutError):
        asyncio.run(scene())


def test_work_begins_when_everybody_at_the_front_is_served() -> None:
    async def scene() -> tuple[bool, bool]:
        await wait_for_front()  # nobody is there
        with held_up() as taking:
            front = await begun(run_front_call(taking))
            (start,) = await begun(wait_for_front())
            before = start.done()
        await asyncio.gather(*front)
        await start
        return before, start.done()

    assert asyncio.run(scene()) == (False, True)


def test_a_front_that_never_empties_holds_work_up_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MAX_S", 0.01)

    async def scene() -> None:
        with held_up() as taking:
            front = await begun(run_front_call(taking))
            await wait_for_front()
            assert not front[0].done()
        await asyncio.gather(*front)

    asyncio.run(scene())
