"""How much of something each party may hold at once in one process, where nothing waits for a place: sockets, readers of answers."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class HoldsTooMuch(Exception):
    """The party has all that it may have."""


class AtMost:
    """Of one event loop, which alone counts."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: Counter[Hashable] = Counter()

    def take(self, party: Hashable) -> None:
        """One more; whoever took it calls `give_back`. Raises HoldsTooMuch."""
        if self._held[party] >= self.most:
            raise HoldsTooMuch
        self._held[party] += 1

    def give_back(self, party: Hashable) -> None:
        self._held[party] -= 1
        if not self._held[party]:
            del self._held[party]

    @contextmanager
    def held(self, party: Hashable) -> Iterator[None]:
        """One more as long as the block lasts. Raises HoldsTooMuch."""
        self.take(party)
        try:
            yield
        finally:
            self.give_back(party)

    def of(self, party: Hashable) -> int:
        return self._held.get(party, 0)
