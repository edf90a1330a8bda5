"""A process that does things of the product and meets a fault at a chosen moment: `python -m tests.integration.faults.victim`.

Each line of its input, `ACTION FAULT MOMENT WORD…`, is done in a child; it prints how the child ended and how many moments it had lived
through. A moment is before and after each statement and each commit, in whatever thread.
"""

import asyncio
import mmap
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.files.base import ContentFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402
from redis import Redis  # noqa: E402

from authz.permissions import Right  # noqa: E402
from authz.principal import Principal  # noqa: E402
from copilot_site.export_all import export_all  # noqa: E402
from knowledge.ingestion.pipeline import run_ingestion  # noqa: E402
from knowledge.models import Folder, Trigger  # noqa: E402
from knowledge.services.access import grant_place_rights  # noqa: E402
from knowledge.services.uploads import upload_document  # noqa: E402
from knowledge.sources.reading import read_source  # noqa: E402
from tests.factories import PASSAGE  # noqa: E402
from tests.integration.agent.conversations import LEAVE  # noqa: E402
from tests.integration.agent.runner import answer  # noqa: E402


def upload(folder: str, user: str) -> None:
    file = ContentFile(PASSAGE.encode())
    upload_document(Principal.load(int(user)), folder_id=UUID(folder), filename="night.md", file=file)


def give_right(folder: str, user: str) -> None:
    grant_place_rights(None, [Right.VIEW], Folder.unscoped.get(pk=folder), to=User.objects.get(pk=user))


ACTIONS: dict[str, Callable[..., Any]] = {
    "upload": upload,
    "import": lambda version: run_ingestion(UUID(version)),
    "run": lambda session, user: asyncio.run(answer(int(user), UUID(session), LEAVE)),
    "export": lambda folder: list(export_all(Path(folder))),
    "rights": give_right,
    "source": lambda source: read_source(UUID(source), Trigger.HAND),
    "migrate": lambda: call_command("migrate", verbosity=0, interactive=False),
}


def cut(connection: BaseDatabaseWrapper) -> None:
    """Cut the line to the database, as a broken cable or a restart does."""
    if connection.connection is not None and not connection.connection.closed:
        with socket.socket(fileno=os.dup(connection.connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


def flush(_connection: BaseDatabaseWrapper) -> None:
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        valkey.flushdb()


FAULTS: dict[str, Callable[[BaseDatabaseWrapper], Any]] = {
    "none": lambda _connection: None,
    "kill": lambda _connection: os.kill(os.getpid(), signal.SIGKILL),
    "cut": cut,
    "flush": flush,
}


class Moments:
    """Counts moments where the parent sees them, and lets the fault happen at one of them."""

    def __init__(self, fault: str, at: int) -> None:
        self.seen = mmap.mmap(-1, 8)
        self._fault, self._at, self._lock = FAULTS[fault], at, threading.Lock()

    @property
    def count(self) -> int:
        return int.from_bytes(self.seen[:8], "big")

    def watch(self) -> None:
        def begin(connection: BaseDatabaseWrapper, **_: Any) -> None:
            connection.execute_wrappers.append(self._around)

        connection_created.connect(begin, weak=False)
        really = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]

        def commit(connection: BaseDatabaseWrapper) -> None:
            self._live(connection)
            really(connection)
            self._live(connection)

        BaseDatabaseWrapper._commit = commit  # type: ignore[attr-defined]

    def _around(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        self._live(context["connection"])
        result = execute(sql, params, many, context)
        self._live(context["connection"])
        return result

    def _live(self, connection: BaseDatabaseWrapper) -> None:
        with self._lock:
            self.seen[:8] = (self.count + 1).to_bytes(8, "big")
            is_now = self.count == self._at
        if is_now:
            self._fault(connection)


def main() -> None:
    for line in sys.stdin:
        action, fault, at, *words = line.split()
        moments = Moments(fault, int(at))
        child = os.fork()
        if not child:
            os.dup2(2, 1)
            moments.watch()
            try:
                ACTIONS[action](*words)
            except BaseException as error:  # noqa: BLE001 - of whatever kind, the test is told
                sys.stderr.write(f"{action} {fault} {at}: {type(error).__name__}: {error}\n")
                os._exit(1)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), moments.count, flush=True)


if __name__ == "__main__":
    main()
