"""Two database connections that take turns: each actor has a thread of its own and does one step when it is told to."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations
from typing import Any

from django.db import connections

LONGEST_S = 60  # what hangs longer waits for a lock that the other actor holds: the schedule is wrong

Script = Generator[None, None, None]


class Actor:
    """Runs scripts, up to the next `yield` at each step, always in the same thread and so on the same connection."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._script: Script | None = None

    def begin(self, script: Script) -> None:
        self._script = script

    def step(self) -> None:
        """Do the next step to its end; raises what the script raises."""
        self.started().result(LONGEST_S)

    def started(self) -> "Future[Any]":
        """Begin the next step without waiting: it may have to wait for a lock of the other actor."""
        return self._thread.submit(next, self._script, None)  # type: ignore[arg-type]

    def close(self) -> None:
        self._thread.submit(connections.close_all).result(LONGEST_S)
        self._thread.shutdown()


def orders(first: int, second: int) -> Iterator[tuple[bool, ...]]:
    """Every order of `first` steps of one actor and `second` of the other; True is a step of the first."""
    for places in combinations(range(first + second), first):
        yield tuple(place in places for place in range(first + second))


def take_turns(order: Iterable[bool], first: Actor, second: Actor) -> None:
    for is_first in order:
        (first if is_first else second).step()
