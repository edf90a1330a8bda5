"""A bounded queue for a few places, by self-clocked fair queueing: a ticket's turn is one after the latest turn served, and one later
for each ticket that its party has already; first come, first served within a turn.

If all parties always wait, this is round robin; if each asks once at a time, it is first come, first served.

Waiting costs neither a thread nor a connection. Threads and event loops of a process may share a queue.
"""

import asyncio
import math
import time
from bisect import insort
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Hashable
from concurrent.futures import Future
from enum import Enum
from threading import Lock

MAX_RETRY_S = 60
TELL_S = 1.0  # at least between two updates of a waiter's place
RARELY = 5  # times as long for somebody far behind: each update costs a write, a read and a display
SMOOTHING = 0.1  # weight of the latest stay in the mean


class QueueFull(Exception):
    """The queue is full. is_own: only for this party. retry_after_s: the probable wait for room, from 1 to 60."""

    def __init__(self, *, is_own: bool, retry_after_s: int) -> None:
        super().__init__("the queue is full")
        self.is_own = is_own
        self.retry_after_s = retry_after_s


class _Stage(Enum):
    WAITING = "waiting"
    SERVED = "served"
    LEFT = "left"


class Ticket:
    """One party's claim to a place, from `FairQueue.enter` to `leave`, which its holder must call.

    turn_number: lower ones are served first.
    """

    def __init__(self, queue: "FairQueue", party: Hashable, turn_number: int) -> None:
        self._queue = queue
        self.party = party
        self.turn_number = turn_number
        self.stage = _Stage.WAITING
        self.served_at = 0.0
        self.served: Future[None] = Future()

    @property
    def is_served(self) -> bool:
        return self.stage is _Stage.SERVED

    def before(self) -> int:
        """Return how many waiting tickets are served before it if nobody new comes; 0 for the next one."""
        return self._queue.before(self)

    async def turn(self, *, tell_s: float = TELL_S) -> AsyncGenerator[int, None]:
        """Wait for the place; yield `before` at first and after changes, more often when near; nothing without a wait."""
        served, position = asyncio.wrap_future(self.served), -1
        while not self.served.done():
            if (before := self.before()) != position:
                position = before
                yield before
            pause_s = tell_s * min(max(1.0, position / 4), RARELY)
            await asyncio.wait({served}, timeout=pause_s)  # cancellation here must not cancel the future

    async def served_within(self, seconds: float) -> bool:
        """Wait for the place for this time; False if it did not become free."""
        if not self.is_served:
            await asyncio.wait({asyncio.wrap_future(self.served)}, timeout=seconds)
        return self.is_served

    def leave(self) -> None:
        """Give the place back, or stop waiting. Idempotent."""
        self._queue.leave(self)


def _turn_number_of(ticket: Ticket) -> int:
    return ticket.turn_number


class FairQueue:
    """places: at work at once. own_places: of them for one party. most_waiting: beside those; a party may have as many of them
    as it leaves free for others, so that a few greedy parties do not shut out one who asks for the first time.
    """

    def __init__(self, *, places: int, own_places: Callable[[Hashable], int], most_waiting: int) -> None:
        self.places, self.own_places, self.most_waiting = places, own_places, most_waiting
        self._lock = Lock()
        self._line: list[Ticket] = []  # those who wait, in the order of their turns
        self._latest = 0  # the highest turn served
        self._at_work: Counter[Hashable] = Counter()
        self._stay_s = 1.0  # mean

    def enter(self, party: Hashable) -> Ticket:
        """Take a place, or queue. Raises QueueFull."""
        with self._lock:
            own = sum(ticket.party == party for ticket in self._line)
            ticket = Ticket(self, party, self._latest + 1 + self._at_work[party] + own)
            if own or not self._may_work(party):
                free = self.most_waiting - len(self._line)
                if free <= own:
                    raise QueueFull(is_own=free > 0, retry_after_s=self.retry_after_s())
                insort(self._line, ticket, key=_turn_number_of)
            else:
                self._serve_ticket(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        with self._lock:
            stage, ticket.stage = ticket.stage, _Stage.LEFT
            if stage is _Stage.WAITING:
                self._line.remove(ticket)
            elif stage is _Stage.SERVED:
                self._at_work[ticket.party] -= 1
                self._at_work += Counter()  # drops parties with nothing at work
                self._stay_s += SMOOTHING * (time.monotonic() - ticket.served_at - self._stay_s)
                self._call_next()

    def before(self, ticket: Ticket) -> int:
        with self._lock:
            return self._line.index(ticket) if ticket.stage is _Stage.WAITING else 0

    @property
    def waiting(self) -> int:
        return len(self._line)

    @property
    def at_work(self) -> int:
        return self._at_work.total()

    def _may_work(self, party: Hashable) -> bool:
        return self.at_work < self.places and self._at_work[party] < self.own_places(party)

    def _call_next(self) -> None:
        """Fill the free places: each goes to the first in line whose party may have one more."""
        while ticket := next((item for item in self._line if self._may_work(item.party)), None):
            self._line.remove(ticket)
            self._serve_ticket(ticket)

    def _serve_ticket(self, ticket: Ticket) -> None:
        ticket.stage, ticket.served_at = _Stage.SERVED, time.monotonic()
        self._at_work[ticket.party] += 1
        self._latest = max(self._latest, ticket.turn_number)
        ticket.served.set_result(None)

    def retry_after_s(self) -> int:
        """Return the seconds until all that wait now are served, by the recent mean duration; from 1 to 60."""
        return max(1, min(MAX_RETRY_S, math.ceil(self._stay_s * len(self._line) / self.places)))
