"""A bounded queue for a few places: the party served longest ago is next; first come, first served within a party.

If all parties always wait, this is round robin; frequent callers come after occasional ones.

Waiting costs neither a thread nor a connection. Threads and event loops of a process may share a queue.
"""

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Hashable
from concurrent.futures import Future
from enum import Enum
from threading import Lock

MAX_RETRY_S = 60
TELL_S = 1.0  # at least between two updates of a waiter's place
RARELY = 5  # times as long for somebody far behind: each update costs a write, a read and a display
MAX_REMEMBERED = 10_000  # parties; forgotten ones count as never served
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
    """One party's claim to a place, from `FairQueue.enter` to `leave`, which its holder must call."""

    def __init__(self, queue: "FairQueue", party: Hashable) -> None:
        self._queue = queue
        self.party = party
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


class FairQueue:
    """places: at work at once. own_places: of them for one party. most_waiting: beside those; a party may have as many of them
    as it leaves free for others, so that a few greedy parties do not shut out one who asks for the first time.
    """

    def __init__(self, *, places: int, own_places: Callable[[Hashable], int], most_waiting: int) -> None:
        self.places, self.own_places, self.most_waiting = places, own_places, most_waiting
        self._lock = Lock()
        self._lines: dict[Hashable, deque[Ticket]] = {}
        self._served: OrderedDict[Hashable, int] = OrderedDict()  # the number of a party's latest turn, the latest last
        self._turns = 0
        self._at_work: Counter[Hashable] = Counter()
        self._waiting = 0
        self._stay_s = 1.0  # mean

    def enter(self, party: Hashable) -> Ticket:
        """Take a place, or queue at the end of the party's line. Raises QueueFull."""
        ticket = Ticket(self, party)
        with self._lock:
            if not self._may_work(party) or party in self._lines:
                own = len(self._lines.get(party, ()))
                free = self.most_waiting - self._waiting
                if free <= own:
                    raise QueueFull(is_own=free > 0, retry_after_s=self.retry_after_s())
                self._lines.setdefault(party, deque()).append(ticket)
                self._waiting += 1
            else:
                self._serve(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        with self._lock:
            stage, ticket.stage = ticket.stage, _Stage.LEFT
            if stage is _Stage.WAITING:
                line = self._lines[ticket.party]
                line.remove(ticket)
                self._waiting -= 1
                if not line:
                    del self._lines[ticket.party]
            elif stage is _Stage.SERVED:
                self._at_work[ticket.party] -= 1
                self._at_work += Counter()  # drops parties with nothing at work
                self._stay_s += SMOOTHING * (time.monotonic() - ticket.served_at - self._stay_s)
                self._call_next()

    def before(self, ticket: Ticket) -> int:
        with self._lock:
            if ticket.stage is not _Stage.WAITING:
                return 0
            own = self._lines[ticket.party].index(ticket)
            count, is_behind = 0, False
            for party, line in self._in_turn():
                if party == ticket.party:
                    count, is_behind = count + own, True
                else:
                    count += min(len(line), own if is_behind else own + 1)
            return count

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def at_work(self) -> int:
        return self._at_work.total()

    def _may_work(self, party: Hashable) -> bool:
        return self.at_work < self.places and self._at_work[party] < self.own_places(party)

    def _call_next(self) -> None:
        """Fill the free places: each goes to the party that may have one more and was served longest ago."""
        while found := next((item for item in self._in_turn() if self._may_work(item[0])), None):
            party, line = found
            ticket = line.popleft()
            self._waiting -= 1
            if not line:
                del self._lines[party]
            self._serve(ticket)

    def _in_turn(self) -> list[tuple[Hashable, deque[Ticket]]]:
        """Return the waiting parties in the order of service; those never served in order of arrival."""
        return sorted(self._lines.items(), key=lambda item: self._served.get(item[0], 0))

    def _serve(self, ticket: Ticket) -> None:
        ticket.stage, ticket.served_at = _Stage.SERVED, time.monotonic()
        self._at_work[ticket.party] += 1
        self._turns += 1
        self._served[ticket.party] = self._turns
        self._served.move_to_end(ticket.party)
        if len(self._served) > MAX_REMEMBERED:
            self._served.popitem(last=False)
        ticket.served.set_result(None)

    def retry_after_s(self) -> int:
        """Return the seconds until all that wait now are served, by the recent mean duration; from 1 to 60."""
        return max(1, min(MAX_RETRY_S, math.ceil(self._stay_s * self._waiting / self.places)))
