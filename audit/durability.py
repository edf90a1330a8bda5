"""Asynchronous commits while the head of the chain is locked, and one shared wait for the disk afterwards."""

import threading
from collections.abc import Callable

from django.db import connections
from django.db.utils import DEFAULT_DB_ALIAS

from copilot_site.lib.database import prepared_cursor


def flush() -> None:
    """Return when everything committed so far is on disk; runs after each transaction that recorded something.

    The trigger that links entries switches `synchronous_commit` off for its transaction, so that the lock on the chain's head
    lasts microseconds instead of a disk write (ADR 0011). Here the session's own setting waits: once for all threads of this
    process that are here, and PostgreSQL writes the log of many waiting sessions at once.
    """
    _waits.join(_wait_for_disk)


def _wait_for_disk() -> None:
    with prepared_cursor(connections[DEFAULT_DB_ALIAS]) as cursor:
        cursor.execute("SELECT pg_logical_emit_message(true, 'audit', '')")


class SharedWait:
    """A wait that threads share: those that arrive while one is under way need the next, which one thread does."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._begun = self._done = 0  # numbers of the last wait that began, and of the last that ended well
        self._is_under_way = False

    def join(self, wait: Callable[[], None]) -> None:
        """Return when a `wait` that began after this call has ended well. Raises what it raises where the caller does it."""
        with self._changed:
            needed = self._begun + 1
            self._changed.wait_for(lambda: self._done >= needed or not self._is_under_way)
            if self._done >= needed:
                return
            self._begun += 1
            mine, self._is_under_way = self._begun, True
        try:
            wait()
        except BaseException:
            mine = 0
            raise
        finally:
            with self._changed:
                self._done, self._is_under_way = max(self._done, mine), False
                self._changed.notify_all()


_waits = SharedWait()
