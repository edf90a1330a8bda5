"""Liveness and readiness of this process, for load balancers, orchestrators and `manage.py up`."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from django.conf import settings
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, JsonResponse

from copilot_site import doctor
from copilot_site.lib.version import VERSION

NOT_CACHED = {"Cache-Control": "no-store"}
ANSWER_S = 0.8  # readyz answers within a second, whatever hangs
CONNECT_S = "2"  # the least that libpq knows
MIN_FREE_BYTES = 50 * 10**6  # with less a question or a file may not be stored; `doctor` warns long before


def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer that the process lives, without asking others: a slow database must not get the web server killed."""
    return JsonResponse({"status": "ok", "version": VERSION}, headers=NOT_CACHED)


def readyz(_request: HttpRequest) -> JsonResponse:
    """Return 200 when this process can answer questions, else 503 and the failing parts; `doctor` has the reasons.

    A part that does not answer within ANSWER_S fails.
    """
    until = time.monotonic() + ANSWER_S
    for probe in PROBES:
        probe.begin()
    failing = [name for probe in PROBES for name in probe.failing(until)]
    if settings.EMBEDDER == "bundled" and not any(settings.HOME.models.glob("*/manifest.json")):
        failing.append("model")  # the checksum is the doctor's: it reads 100 MB
    body = {"status": "failing" if failing else "ok", "failing": failing}
    return JsonResponse(body, status=503 if failing else 200, headers=NOT_CACHED)


class Probe:
    """A check of one service in a thread of its own, so that a hanging one blocks nobody and is not asked again meanwhile."""

    def __init__(self, names: tuple[str, ...], look: Callable[[], Iterator[str]]) -> None:
        """Prepare a probe. names: of all parts that `look` checks. look: yields the names of healthy parts."""
        self._names, self._look = names, look
        self._lock = Lock()
        self._thread, self._sound = Thread(), set[str]()

    def begin(self) -> None:
        """Look now, unless a look is under way."""
        with self._lock:
            if not self._thread.is_alive():
                sound = self._sound = set()
                self._thread = Thread(target=lambda: sound.update(self._look()), name="readyz", daemon=True)
                self._thread.start()

    def failing(self, until: float) -> list[str]:
        """Return the parts that are unhealthy or did not answer by then (monotonic, s)."""
        with self._lock:  # another request may begin a look just now
            thread, sound = self._thread, self._sound
        thread.join(max(0.0, until - time.monotonic()))
        return [name for name in self._names if name not in sound]


def _check_database() -> Iterator[str]:
    with open_own_connection() as own:
        for name, look in (
            ("database", doctor.check_postgres),
            ("pgvector", doctor.check_pgvector),
            ("migrations", doctor.check_migrations),
        ):
            if look(own).ok:
                yield name


def _check_broker() -> Iterator[str]:
    if doctor.check_broker().ok:
        yield "broker"


def _check_disk() -> Iterator[str]:
    if shutil.disk_usage(settings.HOME.root).free >= MIN_FREE_BYTES:
        yield "disk"


@contextmanager
def open_own_connection() -> Iterator[BaseDatabaseWrapper]:
    """Open a connection outside the pool, where a probe would wait, under the role that signed in, like the doctor.

    It is the thread's default meanwhile: the ORM would otherwise take one from the pool and never return it.
    """
    before = connections[connection.alias]
    own = before.copy()
    options = own.settings_dict["OPTIONS"]
    options.pop("pool", None)
    options["connect_timeout"] = CONNECT_S
    options["options"] = options.get("options", "").replace(f"-c role={settings.DATABASE_ROLE}", "").strip()
    connections[connection.alias] = own
    try:
        yield own
    finally:
        own.close()
        connections[connection.alias] = before


PROBES = (
    Probe(("database", "pgvector", "migrations"), _check_database),
    Probe(("broker",), _check_broker),
    Probe(("disk",), _check_disk),
)
