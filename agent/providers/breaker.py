"""A circuit breaker: a model that failed several times in a row is not called for a while, so that nobody waits for it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.providers.base import ModelUnavailable

FAILURES, REST_S = 5, 30.0


@dataclass
class Breaker:
    """For one served model; shared by the runs of this process. clock: seconds, monotonic.

    is_plain: the service accepts only requests without uncommon options. is_begun: its replies begin inside a thinking
    block, as in `Thoughts`.
    """

    failures: int = FAILURES
    rest_s: float = REST_S
    clock: Callable[[], float] = time.monotonic
    is_plain: bool = False
    is_begun: bool = False
    _failed: int = 0
    _opened: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raise ModelUnavailable while the breaker is open.

        After the rest period one call may try; the others wait for it.
        """
        with self._lock:
            if self._opened is None:
                return
            left = self.rest_s - (self.clock() - self._opened)
            if left > 0:
                raise ModelUnavailable(f"the model failed {self._failed} times in a row; tried again in {left:.0f} s")
            self._opened = self.clock()

    def failed(self) -> None:
        with self._lock:
            self._failed += 1
            if self._failed >= self.failures:
                self._opened = self.clock()

    def worked(self) -> None:
        with self._lock:
            self._failed, self._opened = 0, None


_breakers: dict[tuple[str, str], Breaker] = {}
_breakers_lock = threading.Lock()


def find_breaker(base_url: str, model: str) -> Breaker:
    with _breakers_lock:
        return _breakers.setdefault((base_url, model), Breaker())
