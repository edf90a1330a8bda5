"""The schedule of sources, and their pace."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from datetime import time as TimeOfDay  # noqa: N812  # `time` is the module
from itertools import count

from django.utils import timezone

from knowledge.models import Every, Source

SOON = timedelta(minutes=10)  # after a run that failed
MAX_IN_A_ROW = 3  # of those; then it waits for its turn


def compute_next_run(source: Source, now: datetime, *, failures: int = 0) -> datetime | None:
    """Return the time of the next scheduled run after `now`; None for a source read only by hand. failures: in a row."""
    if not source.is_active or source.every_minutes == Every.NEVER:
        return None
    regular = now + timedelta(minutes=source.every_minutes)
    if source.at is not None and source.every_minutes >= Every.DAY:
        regular = _find_next_clock_time(regular - timedelta(days=1), source.at)
    soon = now + SOON * failures
    return _skip_quiet_time(min(regular, soon) if 0 < failures <= MAX_IN_A_ROW else regular, source)


def is_quiet_time(source: Source, now: datetime) -> bool:
    """Tell whether it is quiet time, without scheduled runs."""
    if source.quiet_from is None or source.quiet_until is None or source.quiet_from == source.quiet_until:
        return False
    here = timezone.localtime(now).time()
    if source.quiet_from < source.quiet_until:
        return source.quiet_from <= here < source.quiet_until
    return here >= source.quiet_from or here < source.quiet_until  # over midnight


def _find_next_clock_time(after: datetime, at: TimeOfDay) -> datetime:
    """Return the first time after `after` at which clocks here show `at`."""
    here = timezone.localtime(after)
    for days in count():
        found = here.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0) + timedelta(days=days)
        if found > here:
            return found
    raise AssertionError  # days do not end


def _skip_quiet_time(moment: datetime, source: Source) -> datetime:
    return (
        _find_next_clock_time(moment, source.quiet_until)
        if is_quiet_time(source, moment) and source.quiet_until
        else moment
    )


class Pace:
    """Lets at most so many requests a minute through; 0: all. clock, sleep: seconds."""

    def __init__(
        self,
        most_per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._between = 60 / most_per_minute if most_per_minute else 0.0
        self._clock, self._sleep, self._next = clock, sleep, 0.0

    def __call__(self) -> None:
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._next = max(self._clock(), self._next) + self._between
