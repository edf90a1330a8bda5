"""Limits on what each party may hold at once in one process, without waiting: sockets, readers of answers."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class HoldsTooMuch(Exception):
    """The party has reached its limit."""


class AtMost:
    """A limit within one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: Counter[Hashable] = Counter()

    def take(self, party: Hashable) -> None:
        """Take one more; the caller must call `give_back`. Raises HoldsTooMuch."""
        if self._held[party] >= self.most:
            raise HoldsTooMuch
        self._held[party] += 1

    def give_back(self, party: Hashable) -> None:
        self._held[party] -= 1
        if not self._held[party]:
            del self._held[party]

    @contextmanager
    def held(self, party: Hashable) -> Iterator[None]:
        """Hold one more while the block runs. Raises HoldsTooMuch."""
        self.take(party)
        try:
            yield
        finally:
            self.give_back(party)

    def of(self, party: Hashable) -> int:
        return self._held.get(party, 0)
