"""The log of a run: whatever is written, however it is cut into batches, and wherever readers come, leave and come back."""

import asyncio
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.events import Answer, Complete, Error, Event, Reflection, Thinking
from agent.revocation import Grounds
from agent.runs.log import Batches, LogEntry, LogLost, RunLog, merge_deltas, open_valkey
from tests.integration.agent.live import text_of

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
CHUNKS = st.frozensets(st.uuids(), max_size=2)
DELTAS = st.one_of(
    st.builds(lambda text: Answer(content=text), TEXTS),
    st.builds(lambda text: Answer(content=text, data={"provider": "p"}), TEXTS),
    st.builds(lambda text: Thinking(content=text), TEXTS),
    st.builds(lambda text: Reflection(content=text, done=True), TEXTS),
    st.just(Thinking(done=True)),
)
PIECES = st.lists(st.tuples(DELTAS, st.builds(Grounds, CHUNKS)), max_size=12)
ENDS = st.sampled_from([Complete(done=True, data={"stop_reason": "ok"}), Error(content="It broke.", done=True)])
PLACES = st.lists(st.integers(0, 14), max_size=4)  # entries that a reader takes before its connection breaks
Pieces = list[tuple[Event, Grounds]]


async def written(log: RunLog, pieces: Pieces, sizes: list[int]) -> list[LogEntry]:
    """Write the pieces, as many at a time as `sizes` says, joined as the product does; all entries."""
    entries: list[LogEntry] = []
    left = list(pieces)
    while left:
        size = sizes.pop(0) if sizes else len(left)
        batch = merge_deltas(left[:size])
        del left[:size]
        places = range(len(entries), len(entries) + len(batch))
        fresh = [
            LogEntry.of(event.placed(seq, UUID(int=1), log.run_id), grounds)
            for seq, (event, grounds) in zip(places, batch, strict=True)
        ]
        await log.append(fresh)
        entries += fresh
        await asyncio.sleep(0)
    return entries


async def read(run_id: UUID, places: list[int]) -> list[LogEntry]:
    """A reader whose connection breaks after as many entries as `places` says, again and again, to the end."""
    found: list[LogEntry] = []
    left = list(places)
    while not found or not found[-1].is_terminal:
        most = left.pop(0) if left else None
        async with open_valkey() as valkey:
            taken = 0
            while most is None or taken < most:
                after = found[-1].seq if found else -1
                entries = await RunLog(valkey, run_id).read(after=after, wait_s=1)
                entries = entries if most is None else entries[: most - taken]
                found += entries
                taken += len(entries)
                if found and found[-1].is_terminal:
                    return found
    return found


@settings(max_examples=60, deadline=None, database=None)
@given(PIECES, ENDS, st.lists(st.integers(1, 5), max_size=6), PLACES, PLACES)
def test_two_readers_who_come_and_go_read_the_log_as_it_was_written(
    pieces: Pieces, end: Event, sizes: list[int], first: list[int], second: list[int]
) -> None:
    async def run() -> tuple[list[LogEntry], list[LogEntry], list[LogEntry]]:
        async with open_valkey() as valkey:
            log = RunLog(valkey, uuid4())
            done = await asyncio.gather(
                written(log, [*pieces, (end, Grounds())], sizes), read(log.run_id, first), read(log.run_id, second)
            )
            await valkey.delete(log.key)
            return done

    entries, one, two = asyncio.run(run())
    assert one == two == entries
    assert [entry.seq for entry in entries] == list(range(len(entries)))
    assert [entry.is_terminal for entry in entries] == [False] * (len(entries) - 1) + [True]
    said = "".join(event.content for event, _grounds in pieces if isinstance(event, Answer))
    assert text_of(one) == said
    stands_on = frozenset().union(*(grounds.chunk_ids for _event, grounds in pieces))
    assert frozenset().union(*(entry.grounds.chunk_ids for entry in entries)) == stands_on


@settings(max_examples=60, deadline=None, database=None)
@given(PIECES)
def test_joining_loses_no_letter_and_changes_no_order(pieces: Pieces) -> None:
    batch = merge_deltas(pieces)

    def told(some: Pieces) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for event, _grounds in some:
            kind = f"{event.response_type} {event.done} {getattr(event, 'data', '')}"
            if found and found[-1][0] == kind and not event.done:
                found[-1] = (kind, found[-1][1] + event.content)
            else:
                found.append((kind, event.content))
        return found

    assert told(batch) == told(pieces)
    assert merge_deltas(batch) == batch


async def test_a_second_writer_is_refused() -> None:
    async with open_valkey() as valkey:
        log = RunLog(valkey, uuid4())
        entries = await written(log, [(Reflection(content="a", done=True), Grounds())] * 3, [])
        await log.append([LogEntry.of(Error(content="closed").placed(3, UUID(int=1), log.run_id))])
        for seq in (1, 3):
            try:
                await log.append([LogEntry.of(Answer(content="late").placed(seq, UUID(int=1), log.run_id))])
            except LogLost:
                continue
            raise AssertionError("two writers")
        assert len(await log.read(after=-1)) == len(entries) + 1
        await valkey.delete(log.key)


async def test_a_lost_log_is_not_begun_again_in_its_middle() -> None:
    async with open_valkey() as valkey:
        log = RunLog(valkey, uuid4())
        await written(log, [(Reflection(content="a", done=True), Grounds())] * 3, [])
        await valkey.delete(log.key)
        with pytest.raises(LogLost):
            await log.append([LogEntry.of(Answer(content="late").placed(3, UUID(int=1), log.run_id))])
        assert not await valkey.exists(log.key)


async def test_entries_behind_a_gap_are_not_read() -> None:
    async with open_valkey() as valkey:
        log = RunLog(valkey, uuid4())
        await written(log, [(Reflection(content="a", done=True), Grounds())] * 3, [])
        await valkey.xdel(log.key, "1-0")
        assert await log.read(after=-1) == []
        assert [entry.seq for entry in await log.read(after=0)] == [1, 2]
        await valkey.delete(log.key)


async def test_what_comes_together_is_written_together_and_the_end_is_the_end() -> None:
    batches = Batches()
    for letter in "abc":
        batches.put(Answer(content=letter), Grounds())
    batches.put(Complete(done=True), Grounds())
    batches.end()
    found = [[event.content for event, _grounds in batch] async for batch in batches]
    assert found == [["abc", ""]]
