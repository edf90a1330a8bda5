"""Valkey's connections of an event loop: shared by all who use them at a time, closed by the last."""

import asyncio
from uuid import uuid4

from agent.events import Complete
from agent.runs.log import Entry, Growth, RunLog, connected, growing_here


def test_who_uses_valkey_at_a_time_shares_its_connections_and_the_last_closes_them() -> None:
    async def scene() -> None:
        async with connected() as first:
            async with connected() as second:
                assert second is first
                await second.ping()
            assert await first.ping(), "who left did not close them"
            pool = first.connection_pool
        assert not pool._available_connections or not any(one.is_connected for one in pool._available_connections)
        async with connected() as later:
            assert later is not first

    asyncio.run(scene())


def test_a_reader_that_waits_keeps_nobody_from_valkey() -> None:
    async def scene() -> None:
        async with connected() as valkey:
            waiting = asyncio.ensure_future(valkey.xread({"nobody writes here": "0-0"}, block=20_000))
            await asyncio.sleep(0)
            assert await valkey.ping()
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert await valkey.ping(), "the connection of a reader that went is not used again with its answer open"

    asyncio.run(scene())


def test_a_reader_of_a_run_of_its_own_process_is_woken_and_blocks_no_connection() -> None:
    run_id = uuid4()
    entry = Entry.of(Complete(done=True).placed(0, uuid4(), run_id))

    async def scene() -> None:
        growing_here()[run_id] = Growth()
        async with connected() as valkey:
            log = RunLog(valkey, run_id)
            reading = asyncio.ensure_future(log.read(after=-1, wait_s=20))
            await asyncio.sleep(0)
            assert not valkey.connection_pool._in_use_connections
            assert not reading.done()
            await log.append([entry])
            assert await reading == [entry]

    asyncio.run(scene())
