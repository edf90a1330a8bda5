"""Counts and durations for `/metrics`, added up in Valkey, so that all processes on all machines count together.

A process keeps what it counted for FLUSH_S, in memory; a thread then adds it to one hash. A killed process loses at most that
much, and a restarted one goes on where it was. Names of labels and their values are few: no person, no text, no id.
"""

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import structlog
from django.conf import settings
from redis import Redis

log = structlog.get_logger(__name__)

KEY = "metrics"
FLUSH_S = 5.0
SOCKET_S = 2.0
SEPARATOR = "\x1f"  # between the parts of a field's name in the hash
QUICK_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_S = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0)


@dataclass(frozen=True)
class EventCount:
    """A number that only grows. name: as Prometheus shows it, without `_total`. labels: names; each event has as many values."""

    name: str
    about: str
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        COUNTS.append(self)

    def add(self, *values: str, by: float = 1.0) -> None:
        _pending.add({SEPARATOR.join((self.name, *values)): by})


@dataclass(frozen=True)
class Durations:
    """A histogram of seconds. bounds: upper ends of its buckets, ascending; one without an end follows."""

    name: str
    about: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = QUICK_S

    def __post_init__(self) -> None:
        HISTOGRAMS.append(self)

    def observe(self, seconds: float, *values: str) -> None:
        place = bisect_left(self.bounds, seconds)
        bucket = str(self.bounds[place]) if place < len(self.bounds) else "+Inf"
        own = SEPARATOR.join((self.name, *values))
        _pending.add({f"{own}{SEPARATOR}{bucket}": 1.0, f"{own}{SEPARATOR}sum": seconds})

    @contextmanager
    def timed(self, *values: str) -> Iterator[None]:
        """Observe how long the block takes, however it ends."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.observe(time.perf_counter() - began, *values)


COUNTS: list[EventCount] = []
HISTOGRAMS: list[Durations] = []


class _Pending:
    """The amounts of this process that are not in Valkey yet."""

    def __init__(self) -> None:
        self._amounts: Counter[str] = Counter()
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, amounts: Mapping[str, float]) -> None:
        with self._lock:
            for field, amount in amounts.items():
                self._amounts[field] += amount  # type: ignore[assignment]  # typeshed's counters hold whole numbers
            if self._thread is None or not self._thread.is_alive():  # also in a forked child, which has no threads
                self._thread = threading.Thread(target=self._keep_flushing, name="metrics", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Add the amounts to Valkey's. Where it does not answer they stay, and the next flush takes them along."""
        with self._flushing:
            with self._lock:
                amounts, self._amounts = self._amounts, Counter()
            if not amounts:
                return
            try:
                with _connect_valkey(settings.REDIS_URL).pipeline() as pipeline:
                    for field, amount in amounts.items():
                        pipeline.hincrbyfloat(KEY, field, amount)
                    pipeline.execute()
            except Exception:
                with self._lock:
                    self._amounts.update(amounts)
                raise

    def _keep_flushing(self) -> None:
        is_told = False
        while True:
            time.sleep(FLUSH_S)
            try:
                self.flush()
                is_told = False
            except Exception as error:  # noqa: BLE001 - the edge of a thread
                if not is_told:
                    log.warning("metrics.not_counted_yet", why=type(error).__name__)
                is_told = True


_pending = _Pending()
flush = _pending.flush


def read_counts() -> dict[tuple[str, ...], float]:
    """Return everything counted so far: name, values of labels, and for histograms the bucket or "sum" → amount. Raises RedisError."""
    flush()
    found: Mapping[str, str] = _connect_valkey(settings.REDIS_URL).hgetall(KEY)  # type: ignore[assignment]  # the client is not asynchronous
    return {tuple(field.split(SEPARATOR)): float(amount) for field, amount in found.items()}


@cache
def _connect_valkey(url: str) -> "Redis":
    return Redis.from_url(url, protocol=2, decode_responses=True, socket_timeout=SOCKET_S)
