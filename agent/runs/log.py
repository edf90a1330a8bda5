"""The durable event log of a run: a Valkey stream that any process can read from any event.

The entry of `seq` n has the id `n+1-0`. Valkey refuses an id that is not greater than the last one, and a deleted log
is not restarted in its middle. So a log has no duplicates, no gaps and one writer; a process that was taken for dead
and returns is refused. Each event is stored with the ids of its sources, never their text, so that readers' rights can
be checked.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from agent.events import Answer, Error, Event, Thinking
from agent.revocation import Grounds

TERMINAL: Final = frozenset({"complete", "error"})
RUNNING_S = 24 * 3600  # lifetime of an unclosed log
KEPT_S = 3600  # lifetime of a closed log, for returning readers; after it they get the stored message
MAX_READ = 200  # entries at a time: a slow reader holds no more than that in memory
MAX_CONNECTIONS = 10_000  # one for each reader that waits; Valkey's own limit is the same
SOCKET_S = 30.0  # redis-py's own default would cut a blocking read


class LogLost(Exception):
    """The log is gone, or another process has closed it: nothing more of this run may be written."""


@dataclass(frozen=True)
class LogEntry:
    """One event as sent to clients. body: its JSON. type: its `response_type`."""

    seq: int
    type: str
    body: str
    grounds: Grounds = field(default_factory=Grounds)

    @property
    def is_terminal(self) -> bool:
        return self.type in TERMINAL

    @property
    def has_grounds(self) -> bool:
        """Return whether it needs a check of rights: it has passages or results as sources."""
        return bool(self.grounds.chunk_ids or self.grounds.sources)

    @classmethod
    def of(cls, event: Any, grounds: Grounds | None = None) -> Self:
        """Make an entry of an event. event: one of `agent.events.Event`, numbered."""
        return cls(event.seq, event.response_type, event.model_dump_json(), grounds or Grounds())


@dataclass
class _Shared:
    """The connections of one event loop, and their number of users."""

    client: Redis
    users: int = 0


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()


@asynccontextmanager
async def open_valkey() -> AsyncIterator[Redis]:
    """Open a Valkey client; the users of an event loop share its connections, and the last one closes them.

    Each command has a connection of its own while it lasts, so a waiting reader blocks nobody.
    """
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None:
        shared = _shared[loop] = _Shared(_create_client())
    shared.users += 1
    try:
        yield shared.client
    finally:
        shared.users -= 1
        if not shared.users:
            _shared.pop(loop, None)
            await shared.client.aclose()


class Growth:
    """Progress of a log that this event loop writes; its readers here wait for it without a connection of their own."""

    def __init__(self) -> None:
        self.last_seq = -1
        self._grew = asyncio.Event()

    def reached(self, seq: int) -> None:
        self.last_seq = seq
        before, self._grew = self._grew, asyncio.Event()
        before.set()

    async def beyond(self, seq: int, *, wait_s: float) -> None:
        """Wait until the log has passed this event, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while self.last_seq <= seq:
                    await self._grew.wait()


_growing: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[UUID, Growth]] = WeakKeyDictionary()


def find_growing_logs() -> dict[UUID, Growth]:
    """Return the logs that this event loop writes; the process of a run adds and removes its own."""
    return _growing.setdefault(asyncio.get_running_loop(), {})


def _create_client() -> Redis:
    return Redis.from_url(
        settings.REDIS_URL,
        protocol=2,
        decode_responses=True,
        socket_timeout=SOCKET_S,
        max_connections=MAX_CONNECTIONS,
        driver_info=None,  # else each connection reads the library's version from the disk, for milliseconds
    )


@dataclass(frozen=True)
class RunLog:
    """The log of one run over a connection. run_id: the id of the answer's message."""

    valkey: Redis
    run_id: UUID

    @property
    def key(self) -> str:
        return build_log_key(self.run_id)

    async def append(self, entries: Sequence[LogEntry]) -> None:
        """Append entries after the last one. Raises LogLost; entries written before it remain."""
        pipeline = self.valkey.pipeline(transaction=False)
        for entry in entries:
            pipeline.xadd(self.key, _serialise_entry(entry), id=f"{entry.seq + 1}-0", nomkstream=entry.seq > 0)
        last = entries[-1]
        if last.is_terminal or entries[0].seq == 0:
            pipeline.expire(self.key, KEPT_S if last.is_terminal else RUNNING_S)
        answers = await pipeline.execute(raise_on_error=False)
        for answer in answers[: len(entries)]:
            if answer is None or isinstance(answer, ResponseError):
                raise LogLost(str(self.run_id)) from answer
            if isinstance(answer, Exception):
                raise answer
        if growth := find_growing_logs().get(self.run_id):
            growth.reached(last.seq)

    async def read(self, *, after: int, wait_s: float = 0.0) -> list[LogEntry]:
        """Return the entries after `after`, -1 for all.

        Empty where none comes within `wait_s`, and where the next one is gone.
        """
        growth = find_growing_logs().get(self.run_id) if wait_s else None
        if growth is not None:
            await growth.beyond(after, wait_s=wait_s)
        block = max(1, round(wait_s * 1000)) if wait_s and growth is None else None
        found: Any = await self.valkey.xread({self.key: f"{after + 1}-0"}, count=MAX_READ, block=block)
        entries = [_parse_entry(name, fields) for _key, rows in found or () for name, fields in rows]
        return entries if not entries or entries[0].seq == after + 1 else []

    async def last(self) -> LogEntry | None:
        """Return the latest entry; None where there is no log."""
        rows: Any = await self.valkey.xrevrange(self.key, count=1)
        return _parse_entry(*rows[0]) if rows else None


def close_log(valkey: SyncRedis, run_id: UUID, event: Error, session_id: UUID) -> None:
    """Append the last event of a run whose process died; do nothing where there is no log, or it has ended."""
    key = build_log_key(run_id)
    rows: Any = valkey.xrevrange(key, count=1)
    if not rows or (last := _parse_entry(*rows[0])).is_terminal:
        return
    entry = LogEntry.of(event.placed(last.seq + 1, session_id, run_id))
    valkey.xadd(key, _serialise_entry(entry), id=f"{entry.seq + 1}-0")
    valkey.expire(key, KEPT_S)


def read_log_grounds(valkey: SyncRedis, run_id: UUID) -> Grounds:
    """Return all sources of the events in a run's log; empty where there is no log."""
    rows: Any = valkey.xrange(build_log_key(run_id))
    entries = [_parse_entry(name, fields) for name, fields in rows]
    chunks = frozenset(chunk_id for entry in entries for chunk_id in entry.grounds.chunk_ids)
    return Grounds(chunks, frozenset(source for entry in entries for source in entry.grounds.sources))


def build_log_key(run_id: UUID) -> str:
    return f"run:{run_id}:events"


def _serialise_entry(entry: LogEntry) -> dict[Any, Any]:
    grounds = entry.grounds
    return {
        "type": entry.type,
        "body": entry.body,
        "chunks": ",".join(str(chunk_id) for chunk_id in grounds.chunk_ids),
        "sources": "\n".join(grounds.sources),
    }


def _parse_entry(name: str, fields: Mapping[str, str]) -> LogEntry:
    chunks = frozenset(UUID(text) for text in fields["chunks"].split(",") if text)
    sources = frozenset(text for text in fields["sources"].split("\n") if text)
    return LogEntry(int(name.partition("-")[0]) - 1, fields["type"], fields["body"], Grounds(chunks, sources))


PAUSE_S = 0.06  # between two writes of deltas: quicker than people see, and few enough for many readers
Piece = tuple[Event, Grounds]
_END: Final = object()


class Batches:
    """Queue of events between the task that walks a run and the one that writes its log.

    Iterating yields them in merged batches.

    The first event is sent at once; after a write that ended in a delta the next delta waits a moment for more; other
    events never wait.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[object] = asyncio.Queue()
        self._hurries = asyncio.Event()

    def put(self, event: Event, grounds: Grounds) -> None:
        self._queue.put_nowait((event, grounds))
        if not _is_delta(event):
            self._hurries.set()

    def end(self) -> None:
        self._queue.put_nowait(_END)
        self._hurries.set()

    async def __aiter__(self) -> AsyncIterator[list[Piece]]:
        pieces: list[Piece] = []
        while True:
            if pieces and _is_delta(pieces[-1][0]):
                await self._wait_for_more_deltas()
            came = [await self._queue.get()]
            self._hurries.clear()
            while not self._queue.empty():
                came.append(self._queue.get_nowait())
            pieces = merge_deltas(piece for piece in came if isinstance(piece, tuple))
            if pieces:
                yield pieces
            if came[-1] is _END:
                return

    async def _wait_for_more_deltas(self) -> None:
        """Wait for more deltas, as long as no other event comes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE_S):
                await self._hurries.wait()


def merge_deltas(pieces: Iterable[Piece]) -> list[Piece]:
    """Merge adjacent deltas of one kind, with all of their sources."""
    found: list[Piece] = []
    for event, grounds in pieces:
        if found and _can_merge(found[-1][0], event):
            before, stands_on = found[-1]
            content = before.content + event.content
            both = Grounds(stands_on.chunk_ids | grounds.chunk_ids, stands_on.sources | grounds.sources)
            found[-1] = (before.model_copy(update={"content": content}), both)
        else:
            found.append((event, grounds))
    return found


def _is_delta(event: Event) -> bool:
    return isinstance(event, Answer | Thinking) and not event.done


def _can_merge(before: Event, event: Event) -> bool:
    same = _is_delta(before) and _is_delta(event) and type(before) is type(event)
    return same and getattr(before, "data", None) == getattr(event, "data", None)
