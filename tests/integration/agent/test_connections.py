"""Valkey's connections of an event loop: shared by all who use them at a time, closed by the last."""

import asyncio

from agent.runs.log import open_valkey


def test_who_uses_valkey_at_a_time_shares_its_connections_and_the_last_closes_them() -> None:
    async def scene() -> None:
        async with open_valkey() as first:
            async with open_valkey() as second:
                assert second is first
                await second.ping()
            assert await first.ping(), "who left did not close them"
            pool = first.connection_pool
        assert not pool._available_connections or not any(one.is_connected for one in pool._available_connections)
        async with open_valkey() as later:
            assert later is not first

    asyncio.run(scene())


def test_a_reader_that_waits_keeps_nobody_from_valkey() -> None:
    async def scene() -> None:
        async with open_valkey() as valkey:
            waiting = asyncio.ensure_future(valkey.xread({"nobody writes here": "0-0"}, block=20_000))
            await asyncio.sleep(0)
            assert await valkey.ping()
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert await valkey.ping(), "the connection of a reader that went is not used again with its answer open"

    asyncio.run(scene())
