"""Threads share a wait for the disk, and nobody leaves on a wait that began before they came, or that failed."""

import threading
from collections.abc import Callable

import pytest

from audit.record import SharedWait


class Disk:
    """Waits that end when they are told to. begun: a line for each."""

    def __init__(self) -> None:
        self.waits = SharedWait()
        self.begun = 0
        self.has_begun, self.may_end = threading.Semaphore(0), threading.Semaphore(0)

    def wait(self) -> None:
        self.begun += 1
        self.has_begun.release()
        self.may_end.acquire()

    def failing(self) -> None:
        self.wait()
        raise OSError("the disk is gone")

    def comes(self, wait: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=self._joined, args=(wait,))
        thread.start()
        return thread

    def _joined(self, wait: Callable[[], None]) -> None:
        try:
            self.waits.join(wait)
        except OSError:
            self.failed = threading.current_thread()

    def ends(self, *threads: threading.Thread) -> None:
        self.may_end.release()
        for thread in threads:
            thread.join()


def all_queue(disk: Disk, count: int) -> list[threading.Thread]:
    """Threads that come while a wait is under way; each has asked for the next when this returns."""
    threads = [disk.comes(disk.wait) for _ in range(count)]
    while len(disk.waits._changed._waiters) < count:  # type: ignore[attr-defined]
        threading.Event().wait(0.001)
    return threads


def test_who_comes_during_a_wait_shares_the_next() -> None:
    disk = Disk()
    first = disk.comes(disk.wait)
    disk.has_begun.acquire()
    later = all_queue(disk, 10)
    disk.ends(first)
    disk.has_begun.acquire()
    assert all(thread.is_alive() for thread in later)
    disk.ends(*later)
    assert disk.begun == 2


def test_a_wait_that_failed_counts_for_nobody() -> None:
    disk = Disk()
    first = disk.comes(disk.failing)
    disk.has_begun.acquire()
    later = all_queue(disk, 3)
    disk.ends(first)
    assert disk.failed is first
    disk.has_begun.acquire()
    disk.ends(*later)
    assert disk.begun == 2


def test_alone_each_has_its_own() -> None:
    waits, begun = SharedWait(), []
    for number in range(3):
        waits.join(lambda number=number: begun.append(number))  # type: ignore[misc]
    assert begun == [0, 1, 2]
    with pytest.raises(OSError, match="gone"):
        waits.join(lambda: (_ for _ in ()).throw(OSError("gone")))
    waits.join(lambda: begun.append(3))
    assert begun == [0, 1, 2, 3]
