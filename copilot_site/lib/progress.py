"""The progress of a command: a bar on a terminal, else lines, for people who read its output later."""

import sys
import time
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from tqdm import tqdm

T = TypeVar("T")
LINE_S = 10.0  # between two lines


class ProgressLines(Generic[T]):
    """A replacement for tqdm's bar: the first line at once, then one each LINE_S, and one when all is done."""

    def __init__(self, items: Collection[T], *, total: int, desc: str, unit: str) -> None:
        self._items, self._total, self._desc, self._unit = items, total, desc, unit
        self._reported_at = 0.0
        self.n = 0
        self._print_line()

    def __iter__(self) -> Iterator[T]:
        for item in self._items:
            yield item
            self.update(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: nothing is left open."""

    def update(self, more: int) -> None:
        """Count so many more as done."""
        self.n += more
        if more and (self.n == self._total or time.monotonic() - self._reported_at >= LINE_S):
            self._print_line()

    def _print_line(self) -> None:
        self._reported_at = time.monotonic()
        sys.stderr.write(f"{self._desc}: {self.n} of {self._total} {self._unit}s\n")
        sys.stderr.flush()


def show_progress_bar(
    items: Collection[T] = (), *, desc: str, unit: str, total: int | None = None
) -> "tqdm[T] | ProgressLines[T]":
    """Yield the items, while standard error shows how many are done. Without items: a bar that `update` moves to `total`.

    desc: what is done. unit: what is counted, in the singular.
    """
    kind: type[tqdm[T] | ProgressLines[T]] = tqdm if sys.stderr.isatty() else ProgressLines
    return kind(items, total=len(items) if total is None else total, desc=desc, unit=unit)
