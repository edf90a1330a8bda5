"""Two database connections that take turns: each actor has a thread of its own and does one step when it is told to."""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations
from typing import Any

from django.db import connection, connections, transaction

from tests.waiting import wait_for

MAX_S = 60  # what hangs longer waits for a lock that the other actor holds: the schedule is wrong

# Who waits for the end of a transaction has no database at that lock, and has it at others.
WAITING = """
    SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (
        SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())))
"""

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
        self.started().result(MAX_S)

    def started(self) -> "Future[Any]":
        """Begin the next step without waiting: it may have to wait for a lock of the other actor."""
        return self._thread.submit(next, self._script, None)  # type: ignore[arg-type]

    def close(self) -> None:
        self._thread.submit(connections.close_all).result(MAX_S)
        self._thread.shutdown()


def orders(first: int, second: int) -> Iterator[tuple[bool, ...]]:
    """Every order of `first` steps of one actor and `second` of the other; True is a step of the first."""
    for places in combinations(range(first + second), first):
        yield tuple(place in places for place in range(first + second))


def take_turns(order: Iterable[bool], first: Actor, second: Actor) -> None:
    for is_first in order:
        (first if is_first else second).step()


def while_uncommitted(actors: tuple[Actor, Actor], first: Callable[[], object], second: Callable[[], object]) -> None:
    """Begin the second change when the first one is made and not committed, and end both; raises what the second raises.

    The second has to wait for a lock that the first one holds.
    """
    holder, waiter = actors
    holder.begin(_in_two_steps(first))
    holder.step()
    waiter.begin(_in_one_step(second))
    done = waiter.started()
    wait_for("the second change waits for a lock of the first", somebody_waits)
    holder.step()
    done.result(MAX_S)


def _in_two_steps(change: Callable[[], object]) -> Script:
    with transaction.atomic():
        change()
        yield
    yield


def _in_one_step(change: Callable[[], object]) -> Script:
    change()
    yield


def somebody_waits() -> bool:
    """Does a connection to this database wait for a lock that another one holds? Other workers have databases of their own."""
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])
