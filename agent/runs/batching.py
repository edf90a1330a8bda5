"""Many small deltas as few events: what comes within a moment is written down together."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Final

from agent.events import Answer, Event, Thinking
from agent.revocation import Grounds

PAUSE_S = 0.06  # between two writes of deltas: quicker than people see, and few enough for many readers
Piece = tuple[Event, Grounds]
_END: Final = object()


class Batches:
    """Events on their way from whoever walks a run to whoever writes its log; iterating yields what has come, joined.

    The first one goes at once; after a write that ended in a delta the next delta waits a moment for more, and all else for nothing.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[object] = asyncio.Queue()
        self._hurries = asyncio.Event()

    def put(self, event: Event, grounds: Grounds) -> None:
        self._queue.put_nowait((event, grounds))
        if not _is_delta(event):
            self._hurries.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._queue.put_nowait(_END)
        self._hurries.set()

    async def __aiter__(self) -> AsyncIterator[list[Piece]]:
        pieces: list[Piece] = []
        while True:
            if pieces and _is_delta(pieces[-1][0]):
                await self._moment()
            came = [await self._queue.get()]
            self._hurries.clear()
            while not self._queue.empty():
                came.append(self._queue.get_nowait())
            pieces = joined(piece for piece in came if isinstance(piece, tuple))
            if pieces:
                yield pieces
            if came[-1] is _END:
                return

    async def _moment(self) -> None:
        """Wait for more deltas, as long as nothing comes that does not wait."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE_S):
                await self._hurries.wait()


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbouring deltas of one kind as one; it stands on all that they stand on."""
    found: list[Piece] = []
    for event, grounds in pieces:
        if found and _continues(found[-1][0], event):
            before, stands_on = found[-1]
            content = before.content + event.content
            both = Grounds(stands_on.chunk_ids | grounds.chunk_ids, stands_on.sources | grounds.sources)
            found[-1] = (before.model_copy(update={"content": content}), both)
        else:
            found.append((event, grounds))
    return found


def _is_delta(event: Event) -> bool:
    return isinstance(event, Answer | Thinking) and not event.done


def _continues(before: Event, event: Event) -> bool:
    same = _is_delta(before) and _is_delta(event) and type(before) is type(event)
    return same and getattr(before, "data", None) == getattr(event, "data", None)
